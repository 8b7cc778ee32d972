// dead-lanes: the rows and columns of a dot's result that no store can reach are named at the dot, so that targets need not compute them.
#include "compiler/ir/Tile.h"
#include "compiler/passes/passes.h"
#include "mlir/IR/Dominance.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {

/// Follows one dimension of a tile through all that uses it, down to stores.
class Uses {
public:
  /// False: lanes may be used wherever they are along `dim`. True: only below the largest of `bounds`.
  bool follow(Value value, int64_t dim) {
    if (!seen.insert({value, dim}).second)
      return true;
    return llvm::all_of(value.getUses(), [&](OpOperand &use) { return follow(use, dim); });
  }
  llvm::SetVector<Value> bounds; ///< i64
  /// True if no bound may have changed between the time the value is made and the time it is stored.
  bool boundsStay() const {
    return llvm::all_of(carriedBy, [&](scf::ForOp loop) {
      return llvm::all_of(bounds, [&](Value bound) { return !loop->isAncestor(bound.getParentRegion()->getParentOp()); });
    });
  }

private:
  bool follow(OpOperand &use, int64_t dim) {
    Operation *op = use.getOwner();
    int64_t rank = shapeOf(use.get().getType()).size();
    return llvm::TypeSwitch<Operation *, bool>(op)
        .Case([&](StoreOp store) {
          auto access = store.getPlace().getDefiningOp<AccessOp>();
          if (use.get() != store.getValue() || !access || access.getBound(dim).size() != 2)
            return false;
          bounds.insert(access.getBound(dim)[1]);
          return true;
        })
        .Case([&](DotOp dot) {
          if (use.get() == dot.getAcc() && use.get() != dot.getA() && use.get() != dot.getB())
            return follow(dot.getResult(), dim);
          // One dimension of each factor is summed over; all lanes along it are used.
          bool isA = use.getOperandNumber() == 0;
          return use.getOperandNumber() < 2 && dim != (isA ? rank - 1 : rank - 2) && follow(dot.getResult(), dim);
        })
        .Case([&](ContractOp contract) { return use.get() == contract.getAcc() && follow(contract.getResult(), dim); })
        .Case([&](ReduceOp reduce) {
          int64_t axis = reduce.getAxis();
          return dim != axis && llvm::all_of(reduce.getResults(), [&](Value v) { return follow(v, dim - (dim > axis)); });
        })
        .Case([&](ExpandDimsOp expand) { return follow(expand.getResult(), dim + (int64_t(expand.getAxis()) <= dim)); })
        .Case([&](BroadcastOp broadcast) {
          return shapeOf(broadcast.getType())[dim] == shapeOf(use.get().getType())[dim] && follow(broadcast.getResult(), dim);
        })
        .Case([&](PermuteOp permute) {
          return follow(permute.getResult(), llvm::find(permute.getOrder(), dim) - permute.getOrder().begin());
        })
        .Case([&](scf::YieldOp) { return yielded(op, use.getOperandNumber(), dim); })
        .Case([&](scf::ForOp loop) {
          if (use.getOperandNumber() < loop.getNumControlOperands())
            return false;
          unsigned index = use.getOperandNumber() - loop.getNumControlOperands();
          return follow(loop.getRegionIterArg(index), dim) && follow(loop.getResult(index), dim);
        })
        .Default([&](Operation *) {
          return op->hasTrait<OpTrait::Elementwise>() && isMemoryEffectFree(op) &&
                 llvm::all_of(op->getResults(), [&](Value v) { return follow(v, dim); });
        });
  }

  bool yielded(Operation *yield, unsigned index, int64_t dim) {
    Operation *parent = yield->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      carriedBy.insert(loop);
      return follow(loop.getRegionIterArg(index), dim) && follow(loop.getResult(index), dim);
    }
    return isa<scf::IfOp>(parent) && follow(parent->getResult(index), dim);
  }

  llvm::DenseSet<std::pair<Value, int64_t>> seen;
  llvm::SetVector<scf::ForOp> carriedBy; // loops whose later iterations see the value
};

/// Scalars that are computed after an op, computed before it.
class Earlier {
public:
  Earlier(Operation *op, DominanceInfo &dominance) : op(op), dominance(dominance) {}

  bool possible(Value value) {
    if (dominance.properlyDominates(value, op))
      return true;
    Operation *def = value.getDefiningOp();
    return def && isPure(def) && !def->getNumRegions() && ++visited < 100 &&
           llvm::all_of(def->getOperands(), [&](Value each) { return !isa<RankedTensorType>(each.getType()) && possible(each); });
  }
  Value make(OpBuilder &b, Value value) {
    if (dominance.properlyDominates(value, op))
      return value;
    Operation *def = value.getDefiningOp();
    if (!copies.count(value)) {
      IRMapping map;
      for (Value operand : def->getOperands())
        map.map(operand, make(b, operand));
      Operation *copy = b.clone(*def, map);
      for (auto [old, made] : llvm::zip(def->getResults(), copy->getResults()))
        copies[old] = made;
    }
    return copies[value];
  }

private:
  Operation *op;
  DominanceInfo &dominance;
  llvm::DenseMap<Value, Value> copies;
  unsigned visited = 0;
};

struct DeadLanes : PassWrapper<DeadLanes, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DeadLanes)
  StringRef getArgument() const final { return "dead-lanes"; }
  StringRef getDescription() const final { return "dots learn which rows and columns of their results are used"; }

  void runOnOperation() final {
    DominanceInfo dominance(getOperation());
    SmallVector<Operation *> dots;
    getOperation().walk([&](Operation *op) {
      if (isa<DotOp, ContractOp>(op))
        dots.push_back(op);
    });
    for (Operation *op : dots)
      bound(op, dominance);
  }

  void bound(Operation *op, DominanceInfo &dominance) {
    OpBuilder b(op);
    ArrayRef<int64_t> shape = shapeOf(op->getResult(0).getType());
    SmallVector<Value, 2> live;
    bool any = false;
    for (int64_t dim : {shape.size() - 2, shape.size() - 1}) {
      Value extent = extentOf(op, dim, dominance, b);
      any |= bool(extent);
      live.push_back(extent ? extent : arith::ConstantIntOp::create(b, op->getLoc(), shape[dim], 64).getResult());
    }
    if (!any)
      return;
    if (auto dot = dyn_cast<DotOp>(op))
      dot.getLiveMutable().assign(live);
    else
      cast<ContractOp>(op).getLiveMutable().assign(live);
  }

  /// The largest bound of the stores that the dimension reaches, before `op`; null if all lanes may be used.
  Value extentOf(Operation *op, int64_t dim, DominanceInfo &dominance, OpBuilder &b) {
    constexpr size_t maxBounds = 4; // a maximum of more is not worth its code
    Uses uses;
    if (!uses.follow(op->getResult(0), dim) || uses.bounds.empty() || uses.bounds.size() > maxBounds || !uses.boundsStay())
      return {};
    Earlier earlier(op, dominance);
    APInt fixed;
    for (Value each : uses.bounds)
      if (!earlier.possible(each) ||
          (matchPattern(each, m_ConstantInt(&fixed)) && fixed.getSExtValue() >= shapeOf(op->getResult(0).getType())[dim]))
        return {};
    Value extent;
    for (Value each : uses.bounds) {
      Value bound = earlier.make(b, each);
      extent = extent ? arith::MaxSIOp::create(b, op->getLoc(), extent, bound).getResult() : bound;
    }
    return extent;
  }
};

} // namespace

std::unique_ptr<Pass> tilery::createDeadLanes() { return std::make_unique<DeadLanes>(); }
