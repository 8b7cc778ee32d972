#include "compiler/block/recognise/around_product.h"
#include "compiler/analysis/search.h"
#include "compiler/block/recognise/kernel_work.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilery::block {
namespace {

bool isTile(Type type) { return isa<RankedTensorType>(type); }

/// What fetched factors are computed from.
llvm::DenseSet<Operation *> fetchedOps(const BoxProduct &product) {
  llvm::DenseSet<Operation *> ops;
  SmallVector<Value> values;
  for (const std::optional<FetchedFactor> *fetched : {&product.fetchedA, &product.fetchedB})
    if (*fetched)
      values.push_back((*fetched)->tile);
  while (!values.empty())
    if (Operation *op = values.pop_back_val().getDefiningOp(); op && ops.insert(op).second)
      values.append(op->operand_begin(), op->operand_end());
  return ops;
}

/// It updates numbers in memory, as programs do that take turns, or wait for each other.
bool updatesNumbers(tile::KernelOp kernel) {
  auto isUpdate = [](Operation *op) {
    bool updates = isa<tile::AtomicRmwOp, tile::AtomicCasOp>(op) && !isTile(op->getResult(0).getType());
    return updates ? WalkResult::interrupt() : WalkResult::advance();
  };
  return kernel.walk(isUpdate).wasInterrupted();
}

/// Each row becomes a number, which few lanes hold. (Those of columns, beside all sums, spill.)
bool combinesRows(Operation *op) {
  auto reduce = dyn_cast<tile::ReduceOp>(op);
  return reduce && followsSums(op, true) &&
         int64_t(reduce.getAxis()) + 1 == cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
}

/// The walk over the kernel's ops, in their order.
class Around {
public:
  explicit Around(ProductKernel &found)
      : found(found), product(found.product.op), fetched(fetchedOps(found.product)), takesTurns(updatesNumbers(found.kernel)) {}

  const char *look() {
    found.showsStores = isNested();
    if (const char *reason = look(found.kernel.getBody().front()))
      return reason;
    if (found.stores.empty() && found.sums.empty())
      return "it stores nothing";
    if (const char *reason = anyClash(loads, places))
      return reason;
    for (tile::LoadOp load : loads)
      if (!isApart(load, places))
        found.rereads.push_back(load);
    return decides();
  }

private:
  bool isNested() const { return found.isNested(); }

  const char *look(Block &block) {
    for (Operation &op : block)
      if (const char *reason = look(op))
        return reason;
    return nullptr;
  }

  const char *look(Operation &op) {
    if (&op == product) {
      before = false;
    } else if (auto store = dyn_cast<tile::StoreOp>(op)) {
      if (store.getIsVolatile())
        return "its store is volatile";
      if (before && !isNested())
        return "it stores before it multiplies";
      found.stores.push_back(store);
      places.push_back(store.getPlace());
    } else if (auto sum = dyn_cast<tile::AtomicRmwOp>(op)) {
      return atomically(op, sum.getPlace(), isTile(sum.getValue().getType()));
    } else if (auto swap = dyn_cast<tile::AtomicCasOp>(op)) {
      if (isTile(swap.getExpected().getType()))
        return "it compares and swaps tiles in memory";
      return atomically(op, swap.getPlace(), false);
    } else if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op)) {
      return control(op);
    } else if (auto load = dyn_cast<tile::LoadOp>(op)) {
      if (!isTile(load.getType()) && load.getIsVolatile())
        return "it polls memory by loads";
      if (!isNested() && !(found.stores.empty() && found.sums.empty()))
        return "it loads after it has stored";
      if (!isFactor(load))
        loads.push_back(load);
    } else if (!isa<tile::ReturnOp>(op) && !isMemoryEffectFree(&op)) {
      return "it has effects besides its loads and its stores";
    } else if (!fetched.contains(&op) && !followsSums(&op, false) && !(takesTurns && combinesRows(&op))) {
      return "its work on the result is not elementwise";
    }
    return nullptr;
  }

  const char *atomically(Operation &op, Value place, bool isOfTile) {
    if (before && !isNested())
      return "it updates memory before it multiplies";
    if (isOfTile && !op.getResult(0).use_empty())
      return "it takes what an atomic update of a tile gives";
    if (isNested() && !isOfTile)
      if (const char *reason = mayWaitForFactors(op))
        return reason;
    places.push_back(place);
    if (isOfTile)
      found.sums.push_back(cast<tile::AtomicRmwOp>(op));
    found.synchronizes |= !isOfTile || cast<tile::AtomicRmwOp>(op).getOrder() != tile::MemoryOrder::relaxed;
    found.showsStores |= found.synchronizes;
    found.spins |= op.getParentOfType<scf::WhileOp>() != nullptr && !isOfTile;
    return nullptr;
  }

  /// Factors are loaded by another role, which waits for nobody. Programs that wait behind a product, for others of their kernel, wait for
  /// what these store, and factors are apart from that; what other kernels write (for peers: of the whole system) may be factors.
  const char *mayWaitForFactors(Operation &op) {
    auto loop = op.getParentOfType<scf::WhileOp>();
    if (!loop || loop->isAncestor(product))
      return nullptr;
    auto sum = dyn_cast<tile::AtomicRmwOp>(op);
    tile::MemoryOrder order = sum ? sum.getOrder() : cast<tile::AtomicCasOp>(op).getOrder();
    tile::SyncScope scope = sum ? sum.getScope() : cast<tile::AtomicCasOp>(op).getScope();
    if (order != tile::MemoryOrder::acquire && order != tile::MemoryOrder::acq_rel)
      return nullptr;
    return before ? "it waits before it multiplies" : scope == tile::SyncScope::sys ? "it waits for other kernels" : nullptr;
  }

  /// Loops carry numbers only; tiles come out of branches behind the product.
  const char *control(Operation &op) {
    bool holds = op.isAncestor(product);
    if ((holds || !isa<scf::IfOp>(op)) && llvm::any_of(op.getResultTypes(), isTile))
      return holds ? "it carries tiles around its product" : "it carries tiles in a loop beside its product";
    if (auto loop = dyn_cast<scf::WhileOp>(op); loop && loop.getBefore().isAncestor(product->getParentRegion()))
      return "its product decides whether a loop goes on";
    for (Region &region : op.getRegions())
      if (!region.empty())
        if (const char *reason = look(region.front()))
          return reason;
    return nullptr;
  }

  /// What says which products there are, and where their factors lie, another role computes again, ahead of what is stored meanwhile. In front
  /// of all stores its tiles are loaded; not so the number of steps where that is 0.
  const char *decides() {
    if (isNested() && mayReread(product, places))
      return "it loads what it may have stored";
    found.loadsBehindStores = isNested();
    analysis::Search<Operation *> ops;
    auto add = [&](Value value) {
      auto argument = dyn_cast<BlockArgument>(value);
      ops.add(argument ? argument.getOwner()->getParentOp() : value.getDefiningOp());
    };
    for (Operation *op = product; op != found.kernel; op = op->getParentOp())
      ops.add(op);
    while (Operation *op = ops.next()) {
      if (op == found.kernel)
        continue;
      if (isa<tile::AtomicRmwOp, tile::AtomicCasOp>(op))
        return "what it multiplies hangs on an atomic update";
      if (auto load = dyn_cast<tile::LoadOp>(op); load && (isNested() || !isTile(load.getType())) && !isApart(load, places))
        return "what it multiplies hangs on what it may have stored";
      llvm::for_each(op->getOperands(), add);
      if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op)) // what it carries and gives
        for (Region &region : op->getRegions())
          if (!region.empty())
            llvm::for_each(region.front().getTerminator()->getOperands(), add);
      if (op == product)
        product->walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), add); });
    }
    return nullptr;
  }

  ProductKernel &found;
  Operation *product;
  llvm::DenseSet<Operation *> fetched;
  bool takesTurns; // with other programs: else those that combine rows are kernels with loops
  SmallVector<tile::LoadOp> loads;
  SmallVector<Value> places; // that are written
  bool before = true;        // the product
};
} // namespace

const char *otherWork(ProductKernel &found) { return Around(found).look(); }

} // namespace tilery::block
