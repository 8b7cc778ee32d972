#include "compiler/block/passes/pad_dimension.h"
#include "compiler/block/recognise/find_product.h"
#include "compiler/ir/commutes.h"
#include "compiler/ir/zero.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilery::block {
namespace {

bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

/// Tiles that each user may have in a size of its own.
bool isFree(Operation *op) {
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  return isa_and_nonnull<tile::SplatOp, tile::RangeOp>(op);
}

Value placeOf(Operation *op) { return isa<tile::LoadOp, tile::StoreOp, tile::AtomicRmwOp>(op) ? op->getOperand(0) : Value(); }

bool isZero(TypedAttr number) {
  auto real = dyn_cast<FloatAttr>(number);
  return real ? real.getValue().isZero() : isa<IntegerAttr>(number) && cast<IntegerAttr>(number).getValue().isZero();
}

/// What is loaded from there, stored or added: the tile that tells which lanes there are.
Value valueAt(Operation *op) {
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return load.getResult();
  return isa<tile::StoreOp, tile::AtomicRmwOp>(op) ? op->getOperand(1) : Value();
}
} // namespace

bool DimensionPadding::find(Value value, unsigned dim) {
  lanes = lanes ? lanes : tile::shapeOf(value.getType())[dim];
  mark(value, dim);
  while (!fresh.empty() && possible) {
    auto [value, dim] = fresh.pop_back_val();
    auto argument = dyn_cast<BlockArgument>(value);
    if (auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp())
      markCarried(loop, argument.getArgNumber() - loop.getNumInductionVars(), dim);
    else if (argument)
      possible = false;
    else
      visit(value.getDefiningOp(), value, dim);
    for (OpOperand &use : value.getUses())
      visit(use.getOwner(), value, dim);
  }
  return possible;
}

void DimensionPadding::mark(Value value, unsigned dim) {
  if (isFree(value.getDefiningOp()))
    return;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  possible &= type && type.getDimSize(dim) == lanes;
  if (possible && dims.insert({value, dim}))
    fresh.push_back({value, dim});
}

void DimensionPadding::markCarried(scf::ForOp loop, unsigned number, unsigned dim) {
  touched.insert(loop);
  touched.insert(loop.getBody()->getTerminator());
  mark(loop.getRegionIterArg(number), dim);
  mark(loop.getResult(number), dim);
  mark(loop.getInitArgs()[number], dim);
  mark(loop.getYieldedValues()[number], dim);
}

void DimensionPadding::markGiven(scf::IfOp branch, unsigned number, unsigned dim) {
  mark(branch.getResult(number), dim);
  for (Region &region : branch->getRegions()) {
    touched.insert(region.front().getTerminator());
    mark(region.front().getTerminator()->getOperand(number), dim);
  }
}

/// `value`, with such lanes along `dim`, is an operand or a result of the op.
void DimensionPadding::visit(Operation *op, Value value, unsigned dim) {
  touched.insert(op);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      if (loop.getInitArgs()[i] == value || loop.getResult(i) == value)
        markCarried(loop, i, dim);
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    markGiven(branch, cast<OpResult>(value).getResultNumber(), dim);
  } else if (isa<scf::YieldOp>(op) && isa<scf::ForOp, scf::IfOp>(op->getParentOp())) {
    for (OpOperand &yielded : op->getOpOperands())
      if (yielded.get() == value) {
        if (auto loop = dyn_cast<scf::ForOp>(op->getParentOp()))
          markCarried(loop, yielded.getOperandNumber(), dim);
        else
          markGiven(cast<scf::IfOp>(op->getParentOp()), yielded.getOperandNumber(), dim);
      }
  } else if (auto dot = dyn_cast<tile::DotOp>(op)) {
    visitProduct(dot, value, dim);
  } else if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    visitReduction(reduce, value, dim);
  } else if (OpTrait::hasElementwiseMappableTraits(op)) {
    for (Value each : op->getOperands())
      if (isTile(each))
        mark(each, dim);
    for (Value each : op->getResults())
      mark(each, dim);
  } else if (Value at = valueAt(op)) {
    mark(at, dim);
    markPlace(placeOf(op), dim);
    if (auto load = dyn_cast<tile::LoadOp>(op); load && load.getOther() && isTile(load.getOther()))
      mark(load.getOther(), dim);
    if (auto update = dyn_cast<tile::AtomicRmwOp>(op))
      mark(update.getResult(), dim);
  } else if (auto access = dyn_cast<tile::AccessOp>(op)) {
    visitAccess(access, value, dim);
  } else if (isa<tile::PointerAccessOp>(op)) {
    for (Operation *user : op->getUsers())
      if (Value at = valueAt(user); at && (isa<tile::LoadOp>(user) || !isFree(at.getDefiningOp())))
        mark(at, dim);
      else
        possible = false;
  } else {
    visitShape(op, value, dim);
  }
}

void DimensionPadding::visitProduct(tile::DotOp dot, Value value, unsigned dim) {
  bool isSum = value == dot.getAcc() || value == dot.getResult();
  possible &= cast<RankedTensorType>(dot.getType()).getRank() == 2;
  if (dim == 0 && (isSum || value == dot.getA()))
    for (Value each : {dot.getA(), dot.getAcc(), dot.getResult()})
      mark(each, 0);
  if (dim == 1 && (isSum || value == dot.getB()))
    for (Value each : {dot.getB(), dot.getAcc(), dot.getResult()})
      mark(each, 1);
  if (!isSum && ((dim == 1 && value == dot.getA()) || (dim == 0 && value == dot.getB()))) {
    auto zero = [&](Value factor) { return builder.getZeroAttr(getElementTypeOrSelf(factor)); };
    mark(dot.getA(), 1);
    mark(dot.getB(), 0);
    combine(dot.getAMutable(), 1, zero(dot.getA()));
    combine(dot.getBMutable(), 0, zero(dot.getB()));
  }
}

void DimensionPadding::visitReduction(tile::ReduceOp reduce, Value value, unsigned dim) {
  unsigned axis = reduce.getAxis();
  bool isOperand = llvm::is_contained(reduce->getOperands(), value);
  if (isOperand && dim == axis) {
    auto neutral = tile::commutes(reduce) ? arith::getNeutralElement(&reduce.getCombine().front().front()) : std::nullopt;
    possible &= neutral && reduce->getNumOperands() == 1;
    if (possible)
      combine(reduce->getOpOperand(0), dim, *neutral);
    return;
  }
  for (Value each : reduce->getOperands())
    mark(each, isOperand ? dim : dim + (dim >= axis));
  for (Value each : reduce->getResults())
    mark(each, isOperand ? dim - (dim > axis) : dim);
}

void DimensionPadding::combine(OpOperand &operand, unsigned dim, TypedAttr neutral) {
  combined.insert({&operand, {&operand, dim, neutral}});
}

/// What tells where lanes are is loaded, stored or added there.
void DimensionPadding::visitAccess(tile::AccessOp access, Value term, unsigned dim) {
  for (unsigned d = 0; d < access.getSteps().size(); ++d) {
    bool isOfD = access.getSteps()[d] == term || llvm::is_contained(access.getBound(d), term) ||
                 (access.getResidual() == term && d == dim);
    for (Operation *user : isOfD ? SmallVector<Operation *>(access->getUsers()) : SmallVector<Operation *>()) {
      Value at = valueAt(user);
      possible &= at && (isa<tile::LoadOp>(user) || !isFree(at.getDefiningOp()));
      if (possible)
        mark(at, d);
    }
  }
}

void DimensionPadding::markPlace(Value place, unsigned dim) {
  if (auto pointers = place.getDefiningOp<tile::PointerAccessOp>()) {
    for (Value each : pointers->getOperands())
      if (isTile(each))
        mark(each, dim);
    return;
  }
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

/// Ops that name the elements otherwise.
void DimensionPadding::visitShape(Operation *op, Value value, unsigned dim) {
  bool isOperand = llvm::is_contained(op->getOperands(), value);
  std::optional<unsigned> from, to; // of the operand, of the result
  (isOperand ? from : to) = dim;
  if (isa<tile::ExtractOp>(op))
    return;
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
    unsigned axis = expand.getAxis();
    isOperand ? to = dim + (dim >= axis) : from = dim - (dim > axis);
  } else if (auto scan = dyn_cast<tile::ScanOp>(op)) {
    possible &= !scan.getReverse() || scan.getAxis() != dim; // lanes that are added come last
    from = to = dim;
  } else if (auto permute = dyn_cast<tile::PermuteOp>(op)) {
    ArrayRef<int64_t> order = permute.getOrder();
    isOperand ? to = llvm::find(order, int64_t(dim)) - order.begin() : from = unsigned(order[dim]);
  } else if (isa<tile::BroadcastOp>(op)) {
    from = to = dim;
    if (tile::shapeOf(op->getOperand(0).getType())[dim] != lanes) // repeated along the dimension
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

SmallVector<unsigned, 2> DimensionPadding::dimsOf(Value value) const {
  SmallVector<unsigned, 2> found;
  for (int64_t d = 0, rank = isTile(value) ? tile::shapeOf(value.getType()).size() : 0; d < rank; ++d)
    if (dims.contains({value, unsigned(d)}))
      found.push_back(d);
  return found;
}

/// Lanes that are added to it along the dimension hold 0.
bool DimensionPadding::isZeroBehind(Value value, unsigned dim) const {
  while (auto permute = value.getDefiningOp<tile::PermuteOp>()) {
    dim = permute.getOrder()[dim];
    value = permute.getValue();
  }
  auto load = value.getDefiningOp<tile::LoadOp>();
  return load && (!load.getOther() || tile::isPlusZero(load.getOther()));
}

RankedTensorType DimensionPadding::padded(Type type, unsigned dim) const {
  SmallVector<int64_t> shape(tile::shapeOf(type));
  shape[dim] = to;
  return RankedTensorType::get(shape, cast<RankedTensorType>(type).getElementType());
}

void DimensionPadding::pad(int64_t length) {
  to = length;
  for (Operation *op : touched) {
    padPlaces(op);
    padFreeOperands(op);
  }
  for (Operation *op : touched)
    if (isa<tile::AccessOp, tile::PointerAccessOp>(op) && op->use_empty())
      op->erase();
  for (auto [value, dim] : dims)
    value.setType(padded(value.getType(), dim));
  for (auto &[operand, each] : combined)
    makeNeutral(each);
}

void DimensionPadding::lengthen(int64_t length, Value lanesThere) {
  existing = lanesThere;
  pad(length);
}

/// Lanes that are added are neutral in front of what combines them.
void DimensionPadding::makeNeutral(const Combined &each) {
  Value value = each.operand->get();
  if (isFree(value.getDefiningOp()) || (isZero(each.neutral) && isZeroBehind(value, each.dim)))
    return;
  builder.setInsertionPoint(each.operand->getOwner());
  Location location = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  Value inside = isInside(location);
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (d != each.dim) {
      SmallVector<int64_t> shape(tile::shapeOf(inside.getType()));
      shape.insert(shape.begin() + d, 1);
      inside = tile::ExpandDimsOp::create(builder, location, RankedTensorType::get(shape, builder.getI1Type()), inside, d);
    }
  if (auto whole = RankedTensorType::get(type.getShape(), builder.getI1Type()); inside.getType() != whole)
    inside = tile::BroadcastOp::create(builder, location, whole, inside);
  Value neutral = arith::ConstantOp::create(builder, location, DenseElementsAttr::get(type, Attribute(each.neutral)));
  each.operand->set(arith::SelectOp::create(builder, location, inside, value, neutral));
}

void DimensionPadding::padPlaces(Operation *op) {
  Value at = valueAt(op);
  for (unsigned dim : at ? dimsOf(at) : SmallVector<unsigned, 2>()) {
    Operation *before = placeOf(op).getDefiningOp();
    op->setOperand(0, padPlace(placeOf(op), dim, op));
    if (before->use_empty() && !touched.contains(before)) // of another dimension
      before->erase();
  }
}

/// Tiles that are each user's own.
void DimensionPadding::padFreeOperands(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    if (isTile(operand.get()) && isFree(operand.get().getDefiningOp()))
      for (unsigned dim : dimsAsked(operand))
        operand.set(padFree(operand.get(), dim, op));
}

SmallVector<unsigned, 2> DimensionPadding::dimsAsked(OpOperand &operand) const {
  Operation *op = operand.getOwner();
  unsigned number = operand.getOperandNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return dimsOf(loop.getTiedLoopResult(&operand));
  if (isa<scf::YieldOp>(op))
    return dimsOf(op->getParentOp()->getResult(number));
  SmallVector<unsigned, 2> asked;
  if (auto dot = dyn_cast<tile::DotOp>(op)) {
    if (number > 1)
      return dimsOf(dot.getResult());
    if (dims.contains({dot.getResult(), number}))
      asked.push_back(number);
    if (dims.contains({number ? dot.getA() : dot.getB(), number ? 1u : 0u}))
      asked.push_back(1 - number);
    return asked;
  }
  for (Value result : op->getResults())
    for (unsigned dim : dimsOf(result)) {
      unsigned from = dim;
      if (auto expand = dyn_cast<tile::ExpandDimsOp>(op))
        from = dim - (dim > expand.getAxis());
      else if (auto permute = dyn_cast<tile::PermuteOp>(op))
        from = permute.getOrder()[dim];
      else if (auto reduce = dyn_cast<tile::ReduceOp>(op))
        from = dim + (dim >= reduce.getAxis());
      if (tile::shapeOf(operand.get().getType())[from] == lanes && !llvm::is_contained(asked, from))
        asked.push_back(from);
    }
  return asked;
}

Value DimensionPadding::padFree(Value value, unsigned dim, Operation *user) {
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
    range.setEnd(range.getStart() + to);
  return again->getResult(0);
}

/// The place of one load or store with more lanes, of which those before exist.
Value DimensionPadding::padPlace(Value place, unsigned dim, Operation *user) {
  builder.setInsertionPoint(user);
  Location location = place.getLoc();
  auto free = [&](Value tile, unsigned along) {
    return isTile(tile) && isFree(tile.getDefiningOp()) ? padFree(tile, along, user) : tile;
  };
  SmallVector<int64_t> shape(cast<tile::AccessType>(place.getType()).getShape());
  shape[dim] = to;
  auto type = tile::AccessType::get(builder.getContext(), shape, cast<tile::AccessType>(place.getType()).getElementType());
  if (auto pointers = place.getDefiningOp<tile::PointerAccessOp>()) {
    Value inside = isInside(location);
    for (size_t d = 0; d < shape.size(); ++d)
      if (d != dim) {
        SmallVector<int64_t> thin(tile::shapeOf(inside.getType()));
        thin.insert(thin.begin() + d, 1);
        inside = tile::ExpandDimsOp::create(builder, location, RankedTensorType::get(thin, builder.getI1Type()), inside, d);
      }
    inside = tile::BroadcastOp::create(builder, location, RankedTensorType::get(shape, builder.getI1Type()), inside);
    if (pointers.getMask())
      inside = arith::AndIOp::create(builder, location, inside, free(pointers.getMask(), dim));
    return tile::PointerAccessOp::create(builder, location, type, free(pointers.getPtrs(), dim), inside);
  }
  auto access = place.getDefiningOp<tile::AccessOp>();
  SmallVector<Value> steps(access.getSteps()), bounds;
  SmallVector<int32_t> kinds(access.getBoundKinds());
  steps[dim] = free(steps[dim], 0);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(value));
  };
  for (unsigned d = 0; d < kinds.size(); ++d) {
    OperandRange bound = access.getBound(d);
    if (d != dim) {
      llvm::append_range(bounds, bound);
    } else if (bound.size() == 1) {
      bounds.push_back(arith::AndIOp::create(builder, location, isInside(location), free(bound[0], 0)));
    } else {
      kinds[d] = 1;
      bounds.push_back(bound.empty() ? number(0) : bound[0]);
      Value end = existing ? existing : number(lanes);
      bounds.push_back(bound.empty() ? end : Value(builder.createOrFold<arith::MinSIOp>(location, bound[1], end)));
    }
  }
  Value residual = access.getResidual() ? free(access.getResidual(), dim) : Value();
  return tile::AccessOp::create(builder, location, type, access.getBase(), access.getOffset(), steps, bounds, residual, kinds);
}

/// By lane: it is one of the program's.
Value DimensionPadding::isInside(Location location) {
  auto type = RankedTensorType::get({to}, builder.getI32Type());
  Value range = tile::RangeOp::create(builder, location, type, 0, to), end;
  if (existing) {
    Value most = arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(to));
    Value number = arith::MinSIOp::create(builder, location, existing, most);
    end =
        tile::SplatOp::create(builder, location, type, arith::TruncIOp::create(builder, location, builder.getI32Type(), number));
  } else {
    end = arith::ConstantOp::create(builder, location, DenseElementsAttr::get(type, int32_t(lanes)));
  }
  return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, range, end);
}

} // namespace tilery::block
