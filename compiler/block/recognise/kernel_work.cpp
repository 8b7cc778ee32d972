#include "compiler/analysis/search.h"
#include "compiler/ir/commutes.h"
#include "compiler/ir/hints.h"
#include "compiler/block/recognise/kernel_work.h"
#include "compiler/block/recognise/find_product.h"
#include "compiler/block/ir/layouts.h"
#include "compiler/block/ir/uses.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilery::block {

/// Whole rows are cut in pieces or put together of such: all dimensions but the first that differs are powers of two, as the numbers of
/// neighbours in registers and lanes are, so that a layout of one shape is one of the other (`layout::reshaped`).
static bool cutsRows(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  while (!from.empty() && !to.empty() && from[0] == to[0])
    from = from.drop_front(), to = to.drop_front();
  auto isCut = [](ArrayRef<int64_t> shape) {
    return !shape.empty() && llvm::all_of(shape.drop_front(), [](int64_t extent) { return llvm::isPowerOf2_64(extent); });
  };
  return isCut(from) && isCut(to);
}

bool comesOfProduct(Value tile) {
  for (analysis::Search<Value> values(tile); Value value = values.next();) {
    Operation *op = value.getDefiningOp();
    if (!op || !isa<RankedTensorType>(value.getType()))
      continue;
    if (isa<tile::DotOp, tile::ContractOp>(op))
      return true;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      values.add(loop.getYieldedValues()[cast<OpResult>(value).getResultNumber()]);
    values.addAll(op->getOperands());
  }
  return false;
}

bool followsSums(Operation *op, bool mixes) {
  auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
  if (llvm::none_of(op->getResultTypes(), isTile) && llvm::none_of(op->getOperandTypes(), isTile))
    return true;
  if (OpTrait::hasElementwiseMappableTraits(op) || takesAnyLayout(op))
    return !isa<tile::ExtractOp, tile::PrintOp, tile::AssertOp>(op);
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
    ArrayRef<int64_t> from = tile::shapeOf(reshape.getValue().getType()), to = tile::shapeOf(reshape.getType());
    return !sameButOnes(from, to).empty() || (mixes && cutsRows(from, to) && comesOfProduct(reshape.getValue()));
  }
  if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    int64_t rank = cast<RankedTensorType>(reduce->getOperand(0).getType()).getRank();
    bool isOfRows = int64_t(reduce.getAxis()) + 1 == rank, isInRow = rank > 2 && reduce.getAxis() > 0;
    return mixes && reduce->getNumResults() == 1 && (isInRow || (rank <= 2 && (isOfRows || tile::commutes(reduce))));
  }
  if (isa<tile::ScanOp>(op))
    return mixes && op->getNumResults() == 1 && cast<RankedTensorType>(op->getResult(0).getType()).getRank() <= 2;
  return isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::PermuteOp>(op);
}

bool isOfNumbers(Operation *op, SmallVectorImpl<tile::LoadOp> &loads) {
  auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
  if (!isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op))
    return false;
  SmallVector<tile::LoadOp> inside;
  auto look = [&](Operation *each) {
    auto load = dyn_cast<tile::LoadOp>(each);
    if (load && !load.getIsVolatile())
      inside.push_back(load);
    else if (!isMemoryEffectFree(each) && !isa<scf::ForOp, scf::IfOp, scf::WhileOp>(each))
      return WalkResult::interrupt();
    bool touches = llvm::any_of(each->getResultTypes(), isTile) || llvm::any_of(each->getOperandTypes(), isTile);
    return touches ? WalkResult::interrupt() : WalkResult::advance();
  };
  if (op->walk(look).wasInterrupted())
    return false;
  loads.append(inside);
  return true;
}

bool comesOfTiles(Value number) {
  analysis::Search<Value> values(number);
  auto addEnds = [&](Operation *op, std::optional<unsigned> which) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (OpOperand &end : block.getTerminator()->getOpOperands())
          if (!which || *which == end.getOperandNumber())
            values.add(end.get());
  };
  while (Value value = values.next()) {
    if (isa<RankedTensorType>(value.getType()))
      return true;
    auto argument = dyn_cast<BlockArgument>(value);
    Operation *op = argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
    auto result = dyn_cast<OpResult>(value);
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      values.addAll(loop->getOperands().take_front(loop.getNumControlOperands()));
      if (result || argument.getArgNumber()) {
        unsigned carried = result ? result.getResultNumber() : argument.getArgNumber() - 1;
        values.add(loop.getInitArgs()[carried]);
        values.add(loop.getYieldedValues()[carried]);
      }
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      values.add(branch.getCondition());
      addEnds(op, result.getResultNumber());
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      values.addAll(op->getOperands());
      addEnds(op, std::nullopt);
    } else if (result) {
      values.addAll(op->getOperands());
      addEnds(op, std::nullopt);
    }
  }
  return false;
}

bool liesByTiles(Value place) {
  for (analysis::Search<Value> values(place); Value value = values.next();) {
    Operation *op = value.getDefiningOp();
    bool isNumber = !isa<RankedTensorType, tile::AccessType>(value.getType());
    if (isNumber ? comesOfTiles(value) : !op || op->getNumRegions() || isa<tile::DotOp>(op))
      return true;
    if (!isNumber)
      values.addAll(op->getOperands());
  }
  return false;
}

bool isBranchOnSums(Operation *op, SmallVectorImpl<tile::LoadOp> &loads) {
  SmallVector<tile::LoadOp> inside;
  auto isWork = [&](Operation *each) {
    auto load = dyn_cast<tile::LoadOp>(each);
    if (load && !load.getIsVolatile() && !isa<RankedTensorType>(load.getType())) {
      inside.push_back(load);
      return true;
    }
    return isMemoryEffectFree(each) && !each->getNumRegions() && followsSums(each, false);
  };
  bool isOne = isa<scf::IfOp>(op) && llvm::all_of(op->getRegions(), [&](Region &region) {
                 return region.empty() ||
                        llvm::all_of(region.front().without_terminator(), [&](Operation &each) { return isWork(&each); });
               });
  if (isOne)
    loads.append(inside);
  return isOne;
}

Value rootOf(Value place) {
  auto access = place.getDefiningOp<tile::AccessOp>();
  auto pointers = place.getDefiningOp<tile::PointerAccessOp>();
  Value base = access ? access.getBase() : pointers ? pointers.getPtrs() : Value();
  while (base && isa_and_nonnull<tile::AddPtrOp, tile::PtrCastOp, tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp>(
                     base.getDefiningOp()))
    base = base.getDefiningOp()->getOperand(0);
  return base && isa<RankedTensorType>(base.getType()) ? Value() : base;
}

/// The same number in each program, computed twice.
static bool areSame(Value x, Value y, unsigned depth = 0) {
  Operation *a = x.getDefiningOp(), *b = y.getDefiningOp();
  if (x == y)
    return true;
  if (!a || !b || depth > 8 || a->getNumRegions() || !isMemoryEffectFree(a) ||
      cast<OpResult>(x).getResultNumber() != cast<OpResult>(y).getResultNumber())
    return false;
  auto same = [&](Value left, Value right) { return success(areSame(left, right, depth + 1)); };
  return OperationEquivalence::isEquivalentTo(a, b, same, nullptr, OperationEquivalence::IgnoreLocations);
}

/// What takes elements of the op's tile, or of what is computed of each, turned or not.
static llvm::SetVector<Operation *> takersOf(Operation *op) {
  llvm::SetVector<Operation *> takers(op->user_begin(), op->user_end());
  for (size_t i = 0; i < takers.size(); ++i)
    if (OpTrait::hasElementwiseMappableTraits(takers[i]) || isa<tile::ReshapeOp, tile::PermuteOp>(takers[i]))
      takers.insert(takers[i]->user_begin(), takers[i]->user_end());
  return takers;
}

/// It is turned on the way to a store: one thread loads an element, another one stores there.
static bool isStoredTurned(tile::LoadOp load) {
  auto isStored = [](Operation *op) { return isa<tile::StoreOp, tile::AtomicRmwOp>(op); };
  return llvm::any_of(takersOf(load),
                      [&](Operation *op) { return isa<tile::PermuteOp>(op) && llvm::any_of(takersOf(op), isStored); });
}

/// True if a store there may change what the load still reads: threads load what they need piece by piece, between stores of others.
static bool mayClash(tile::LoadOp load, Value place) {
  auto from = load.getPlace().getDefiningOp<tile::AccessOp>(), to = place.getDefiningOp<tile::AccessOp>();
  Value fromRoot = rootOf(load.getPlace()), toRoot = rootOf(place);
  auto isArgument = [](Value root) {
    auto argument = dyn_cast_or_null<BlockArgument>(root);
    return argument && isa<tile::KernelOp>(argument.getOwner()->getParentOp());
  };
  if (!from || !to) // one address a lane
    return !isArgument(fromRoot) || !isArgument(toRoot) || fromRoot == toRoot;
  return fromRoot == toRoot && (!areSame(from, to) || isStoredTurned(load));
}

bool isNeededWhole(Value product) {
  for (analysis::Search<Value> values(product); Value value = values.next();) {
    values.addAll(flowOf(value));
    for (Operation *user : value.getUsers()) {
      auto reduce = dyn_cast<tile::ReduceOp>(user);
      auto reshape = dyn_cast<tile::ReshapeOp>(user);
      auto dot = dyn_cast<tile::DotOp>(user);
      auto start = dyn_cast<MmaStartOp>(user);
      bool isCut = reshape && sameButOnes(tile::shapeOf(value.getType()), tile::shapeOf(reshape.getType())).empty();
      if (isCut || (reduce && reduce.getAxis() > 0) || (dot && dot.getA() == value) || (start && start.getA() == value))
        return true;
      if (OpTrait::hasElementwiseMappableTraits(user) || isa<MmaWaitOp, tile::ReshapeOp>(user) ||
          (dot && dot.getAcc() == value) || (start && start.getC() == value))
        values.addAll(user->getResults());
    }
  }
  return false;
}

bool isFactor(tile::LoadOp load) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : load->getUses())
    uses.push_back(&use);
  for (size_t i = 0; i < uses.size(); ++i) {
    Operation *user = uses[i]->getOwner();
    if (isa<tile::PermuteOp, tile::ReshapeOp, tile::ExpandDimsOp, arith::BitcastOp>(user))
      for (OpOperand &use : user->getUses())
        uses.push_back(&use);
    else if (!isa<tile::DotOp>(user) || uses[i]->getOperandNumber() > 1)
      return false;
  }
  return true;
}

SmallVector<Value> storedPlaces(tile::KernelOp kernel) {
  SmallVector<Value> places;
  kernel.walk([&](Operation *op) {
    if (auto store = dyn_cast<tile::StoreOp>(op))
      places.push_back(store.getPlace());
    else if (auto update = dyn_cast<tile::AtomicRmwOp>(op))
      places.push_back(update.getPlace());
    else if (auto swap = dyn_cast<tile::AtomicCasOp>(op))
      places.push_back(swap.getPlace());
  });
  return places;
}

const char *anyClash(ArrayRef<tile::LoadOp> loads, ArrayRef<Value> places) {
  for (tile::LoadOp load : loads)
    for (Value place : places)
      if (mayClash(load, place))
        return "it loads other elements of what it stores";
  return nullptr;
}

// Pointers that the kernel has loaded: a program that reads through one what it has stored through another waits in between for its threads,
// as its language asks for.
bool isApart(tile::LoadOp load, ArrayRef<Value> places) {
  bool waits = tile::hint(load->getParentOfType<tile::KernelOp>(), "waits").has_value();
  auto rootOfPlace = [&](Value place) {
    Value root = rootOf(place);
    bool isTold = isa_and_nonnull<BlockArgument>(root) || (!waits && root && root.getDefiningOp<tile::IntToPtrOp>());
    return isTold ? root : Value();
  };
  Value from = rootOfPlace(load.getPlace());
  return from && llvm::all_of(places, [&](Value place) {
           Value to = rootOfPlace(place);
           return to && to != from;
         });
}

bool mayReread(Operation *op, ArrayRef<Value> places) {
  return op->walk([&](tile::LoadOp load) { return isApart(load, places) ? WalkResult::advance() : WalkResult::interrupt(); })
      .wasInterrupted();
}

} // namespace tilery::block
