// pad-rows: loops whose products have fewer rows than the tensor cores take at once get 64. The rows that are added are loaded as nothing and
// stored nowhere.
//
// A query of a few heads reads all the keys of its group: such products wait for memory, not for the tensor cores.
#include "compiler/block/passes.h"
#include "compiler/ir/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilery::block {
namespace {
constexpr int64_t leastRows = 64;

bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

/// Tiles that each user may have in a size of its own.
bool isFree(Operation *op) {
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  return isa_and_nonnull<tile::SplatOp, tile::RangeOp>(op);
}

class RowPadding {
public:
  explicit RowPadding(tile::KernelOp kernel) : kernel(kernel), builder(kernel.getContext()) {}

  void run() {
    if (!findProducts() || !findRows())
      return;
    for (Operation *op : touched)
      pad(op);
    for (Operation *op : touched)
      if (isa<tile::AccessOp>(op) && op->use_empty())
        op->erase();
    for (auto [value, dim] : dims)
      value.setType(padded(value.getType(), dim));
  }

private:
  /// All of the kernel have equally few rows, and a loop has some of them.
  bool findProducts() {
    bool loop = false, same = true;
    kernel.walk([&](Operation *op) {
      same &= !isa<tile::ContractOp>(op);
      auto dot = dyn_cast<tile::DotOp>(op);
      if (!dot)
        return;
      auto a = cast<RankedTensorType>(dot.getA().getType());
      int64_t m = a.getRank() == 2 ? a.getDimSize(0) : 0;
      same &= rows == 0 || m == rows;
      rows = m;
      loop |= isa<scf::ForOp>(dot->getParentOp());
      products.push_back(dot);
    });
    return same && loop && rows > 1 && rows < leastRows;
  }

  /// The dimension of each tile that runs along the products' rows; false where one would be another's, too, or an op mixes rows.
  bool findRows() {
    for (tile::DotOp dot : products)
      mark(dot.getResult(), 0);
    while (!fresh.empty() && possible) {
      Value value = fresh.pop_back_val();
      unsigned dim = dims.lookup(value);
      if (auto argument = dyn_cast<BlockArgument>(value))
        markLoop(argument, dim);
      else
        visit(value.getDefiningOp(), value, dim);
      for (OpOperand &use : value.getUses())
        visit(use.getOwner(), value, dim);
    }
    return possible;
  }

  void mark(Value value, unsigned dim) {
    if (isFree(value.getDefiningOp()))
      return;
    auto type = dyn_cast<RankedTensorType>(value.getType());
    auto [at, isNew] = dims.insert({value, dim});
    possible &= type && type.getDimSize(dim) == rows && at->second == dim;
    if (isNew)
      fresh.push_back(value);
  }

  void markLoop(BlockArgument argument, unsigned dim) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    possible &= bool(loop);
    if (loop)
      markCarried(loop, argument.getArgNumber() - loop.getNumInductionVars(), dim);
  }

  void markCarried(scf::ForOp loop, unsigned number, unsigned dim) {
    touched.insert(loop);
    touched.insert(loop.getBody()->getTerminator());
    mark(loop.getRegionIterArg(number), dim);
    mark(loop.getResult(number), dim);
    mark(loop.getInitArgs()[number], dim);
    mark(loop.getYieldedValues()[number], dim);
  }

  /// `value`, with its rows along `dim`, is an operand or a result of the op.
  void visit(Operation *op, Value value, unsigned dim) {
    touched.insert(op);
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (unsigned i = 0; i < loop.getNumResults(); ++i)
        if (loop.getInitArgs()[i] == value || loop.getResult(i) == value)
          markCarried(loop, i, dim);
    } else if (auto loop = isa<scf::YieldOp>(op) ? dyn_cast<scf::ForOp>(op->getParentOp()) : scf::ForOp()) {
      for (OpOperand &yielded : op->getOpOperands())
        if (yielded.get() == value)
          markCarried(loop, yielded.getOperandNumber(), dim);
    } else if (auto dot = dyn_cast<tile::DotOp>(op)) {
      possible &= dim == 0 && dot.getB() != value;
      for (Value each : {dot.getA(), dot.getAcc(), dot.getResult()})
        mark(each, 0);
    } else if (OpTrait::hasElementwiseMappableTraits(op)) {
      for (Value each : op->getOperands())
        if (isTile(each))
          mark(each, dim);
      for (Value each : op->getResults())
        mark(each, dim);
    } else if (auto load = dyn_cast<tile::LoadOp>(op)) {
      possible &= bool(load.getPlace().getDefiningOp<tile::AccessOp>());
      mark(load.getResult(), dim);
      if (load.getOther() && isTile(load.getOther()))
        mark(load.getOther(), dim);
      markPlace(load.getPlace(), dim);
    } else if (auto store = dyn_cast<tile::StoreOp>(op)) {
      mark(store.getValue(), dim);
      markPlace(store.getPlace(), dim);
    } else if (auto access = dyn_cast<tile::AccessOp>(op)) {
      visitTerm(access, value, dim);
    } else {
      visitShape(op, value, dim);
    }
  }

  /// What tells where rows are is loaded or stored there.
  void visitTerm(tile::AccessOp access, Value term, unsigned dim) {
    for (unsigned d = 0; d < access.getSteps().size(); ++d) {
      bool isOfD = access.getSteps()[d] == term || llvm::is_contained(access.getBound(d), term) ||
                   (access.getResidual() == term && d == dim);
      for (Operation *user : isOfD ? SmallVector<Operation *>(access->getUsers()) : SmallVector<Operation *>()) {
        auto load = dyn_cast<tile::LoadOp>(user);
        auto store = dyn_cast<tile::StoreOp>(user);
        possible &= load || (store && !isFree(store.getValue().getDefiningOp()));
        if (load)
          mark(load.getResult(), d);
        else if (store)
          mark(store.getValue(), d);
      }
    }
  }

  void markPlace(Value place, unsigned dim) {
    auto access = place.getDefiningOp<tile::AccessOp>();
    possible &= bool(access);
    if (!access)
      return;
    if (Value step = access.getSteps()[dim]; isTile(step))
      mark(step, 0);
    if (OperandRange bound = access.getBound(dim); bound.size() == 1)
      mark(bound[0], 0);
    if (access.getResidual() && isTile(access.getResidual()))
      mark(access.getResidual(), dim);
  }

  /// Ops that name the elements otherwise, and reductions.
  void visitShape(Operation *op, Value value, unsigned dim) {
    bool isOperand = llvm::is_contained(op->getOperands(), value);
    std::optional<unsigned> from, to; // of the operand, of the result
    (isOperand ? from : to) = dim;
    if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
      unsigned axis = expand.getAxis();
      isOperand ? to = dim + (dim >= axis) : from = dim - (dim > axis);
      possible &= isOperand || dim != axis;
    } else if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
      unsigned axis = reduce.getAxis();
      isOperand ? to = dim - (dim > axis) : from = dim + (dim >= axis);
      possible &= !isOperand || dim != axis;
    } else if (auto permute = dyn_cast<tile::PermuteOp>(op)) {
      ArrayRef<int64_t> order = permute.getOrder();
      isOperand ? to = llvm::find(order, int64_t(dim)) - order.begin() : from = unsigned(order[dim]);
    } else if (isa<tile::BroadcastOp>(op)) {
      from = to = dim;
      if (tile::shapeOf(op->getOperand(0).getType())[dim] != rows) // repeated along the rows
        from.reset();
    } else {
      possible = false;
    }
    if (!possible)
      return;
    for (Value each : op->getOperands())
      if (from && isTile(each))
        mark(each, *from);
    for (Value each : op->getResults())
      mark(each, *to);
  }

  static RankedTensorType padded(Type type, unsigned dim) {
    SmallVector<int64_t> shape(tile::shapeOf(type));
    shape[dim] = leastRows;
    return RankedTensorType::get(shape, cast<RankedTensorType>(type).getElementType());
  }

  /// Tiles that are each user's own, and places.
  void pad(Operation *op) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      load.getPlaceMutable().assign(padPlace(load.getPlace(), dims.lookup(load.getResult()), load));
    if (auto store = dyn_cast<tile::StoreOp>(op))
      if (std::optional<unsigned> dim = dimOfStored(store))
        store.getPlaceMutable().assign(padPlace(store.getPlace(), *dim, store));
    for (OpOperand &operand : op->getOpOperands())
      if (isTile(operand.get()) && isFree(operand.get().getDefiningOp()))
        if (std::optional<unsigned> dim = dimAsked(operand))
          operand.set(padFree(operand.get(), *dim, op));
  }

  std::optional<unsigned> dimOf(Value value) const {
    auto found = dims.find(value);
    return found == dims.end() ? std::nullopt : std::optional(found->second);
  }

  /// What is stored may be a number's copies.
  std::optional<unsigned> dimOfStored(tile::StoreOp store) const { return dimOf(store.getValue()); }

  /// The dimension of the rows that the op wants of a free operand.
  std::optional<unsigned> dimAsked(OpOperand &operand) const {
    Operation *op = operand.getOwner();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return dimOf(loop.getTiedLoopResult(&operand));
    if (isa<scf::YieldOp>(op))
      return dimOf(op->getParentOp()->getResult(operand.getOperandNumber()));
    if (auto dot = dyn_cast<tile::DotOp>(op))
      return operand.get() == dot.getB() && operand.getOperandNumber() == 1 ? std::nullopt : std::optional(0u);
    if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
      std::optional<unsigned> dim = dimOf(expand.getResult());
      return dim ? std::optional(*dim - (*dim > expand.getAxis())) : dim;
    }
    if (auto permute = dyn_cast<tile::PermuteOp>(op)) {
      std::optional<unsigned> dim = dimOf(permute.getResult());
      return dim ? std::optional(unsigned(permute.getOrder()[*dim])) : dim;
    }
    if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
      std::optional<unsigned> dim = dimOf(reduce.getResult(0));
      return dim ? std::optional(*dim + (*dim >= reduce.getAxis())) : dim;
    }
    for (Value result : op->getResults())
      if (std::optional<unsigned> dim = dimOf(result); dim && tile::shapeOf(operand.get().getType())[*dim] == rows)
        return dim;
    return std::nullopt;
  }

  Value padFree(Value value, unsigned dim, Operation *user) {
    builder.setInsertionPoint(user);
    Operation *op = value.getDefiningOp();
    RankedTensorType type = padded(value.getType(), dim);
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto splat = cast<SplatElementsAttr>(constant.getValue());
      return arith::ConstantOp::create(builder, op->getLoc(), DenseElementsAttr::get(type, splat.getSplatValue<Attribute>()));
    }
    Operation *again = builder.clone(*op);
    again->getResult(0).setType(type);
    if (auto range = dyn_cast<tile::RangeOp>(again))
      range.setEnd(range.getStart() + leastRows);
    return again->getResult(0);
  }

  Value number(Location location, int64_t value) {
    return arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(value));
  }

  /// The place of one load or store with 64 rows, of which those before exist.
  Value padPlace(Value place, unsigned dim, Operation *user) {
    auto access = place.getDefiningOp<tile::AccessOp>();
    Location location = access.getLoc();
    builder.setInsertionPoint(user);
    SmallVector<Value> steps(access.getSteps()), bounds;
    SmallVector<int32_t> kinds(access.getBoundKinds());
    if (isTile(steps[dim]) && isFree(steps[dim].getDefiningOp()))
      steps[dim] = padFree(steps[dim], 0, user);
    for (unsigned d = 0; d < kinds.size(); ++d) {
      OperandRange bound = access.getBound(d);
      if (d != dim) {
        llvm::append_range(bounds, bound);
      } else if (bound.size() == 1) {
        bounds.push_back(arith::AndIOp::create(builder, location, isBelowRows(location), lanes(bound[0], user)));
      } else {
        kinds[d] = 1;
        bounds.push_back(bound.empty() ? number(location, 0) : bound[0]);
        Value end = number(location, rows);
        bounds.push_back(bound.empty() ? end : Value(builder.createOrFold<arith::MinSIOp>(location, bound[1], end)));
      }
    }
    Value residual = access.getResidual();
    if (residual && isTile(residual) && isFree(residual.getDefiningOp()))
      residual = padFree(residual, dim, user);
    SmallVector<int64_t> shape(access.getType().getShape());
    shape[dim] = leastRows;
    auto type = tile::AccessType::get(builder.getContext(), shape, access.getType().getElementType());
    return tile::AccessOp::create(builder, location, type, access.getBase(), access.getOffset(), steps, bounds, residual, kinds);
  }

  Value lanes(Value bound, Operation *user) { return isFree(bound.getDefiningOp()) ? padFree(bound, 0, user) : bound; }

  Value isBelowRows(Location location) {
    auto type = RankedTensorType::get({leastRows}, builder.getI32Type());
    Value range = tile::RangeOp::create(builder, location, type, 0, leastRows);
    Value end = arith::ConstantOp::create(builder, location, DenseElementsAttr::get(type, int32_t(rows)));
    return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, range, end);
  }

  tile::KernelOp kernel;
  OpBuilder builder;
  SmallVector<tile::DotOp> products;
  int64_t rows = 0; // of each
  llvm::MapVector<Value, unsigned> dims;
  llvm::SetVector<Operation *> touched;
  SmallVector<Value> fresh;
  bool possible = true;
};

/// Gives loops whose products have from 2 to 63 rows 64, of which those before are loaded and stored. Leaves kernels alone in which an op
/// mixes rows, or whose products have different numbers of them.
struct PadRows : PassWrapper<PadRows, OperationPass<tile::KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PadRows)
  StringRef getArgument() const final { return "pad-rows"; }
  StringRef getDescription() const final { return "products of loops get as many rows as the tensor cores take"; }
  void runOnOperation() final { RowPadding(getOperation()).run(); }
};
} // namespace

std::unique_ptr<Pass> createPadRows() { return std::make_unique<PadRows>(); }

} // namespace tilery::block
