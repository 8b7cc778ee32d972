#include "compiler/passes/separable.h"
#include "compiler/analysis/interval.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

using analysis::IntegerOp, analysis::integerOpOf, analysis::Wrapping;
using Kind = IntegerOp::Kind;

bool Separable::isUniform() const {
  for (unsigned d = 0; d < shape.size(); ++d)
    if (dependsOn(d))
      return false;
  return true;
}

Value SeparableAnalysis::materialise(Value value) { return value ? value : constant(0); }
Value SeparableAnalysis::constant(int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }

static constexpr auto noWrap = arith::IntegerOverflowFlags::nsw;

Value SeparableAnalysis::add(Value lhs, Value rhs) {
  if (!lhs)
    return rhs;
  if (!rhs)
    return lhs;
  auto x = constantOf(lhs), y = constantOf(rhs);
  if (x && y)
    return *x + *y ? constant(*x + *y) : Value();
  return arith::AddIOp::create(b, loc, lhs, rhs, noWrap);
}
Value SeparableAnalysis::sub(Value lhs, Value rhs) {
  if (!rhs)
    return lhs;
  if (lhs == rhs)
    return {};
  auto x = constantOf(lhs), y = constantOf(rhs);
  if (x && y)
    return *x - *y ? constant(*x - *y) : Value();
  if (IntegerOp inner = integerOpOf(rhs); !lhs && inner.kind == Kind::subtract) // -(x - y) is y - x
    return arith::SubIOp::create(b, loc, inner.rhs, inner.lhs, noWrap);
  return arith::SubIOp::create(b, loc, materialise(lhs), rhs, noWrap);
}
Value SeparableAnalysis::mul(Value lhs, Value rhs) {
  auto x = constantOf(lhs), y = constantOf(rhs);
  if ((x && *x == 0) || (y && *y == 0))
    return {};
  if (x && y)
    return constant(*x * *y);
  if (x && *x == 1)
    return rhs;
  if (y && *y == 1)
    return lhs;
  return arith::MulIOp::create(b, loc, lhs, rhs, noWrap);
}
Value SeparableAnalysis::min(Value lhs, Value rhs) {
  lhs = materialise(lhs), rhs = materialise(rhs);
  auto x = constantOf(lhs), y = constantOf(rhs);
  if (x && y)
    return constant(std::min(*x, *y));
  return lhs == rhs ? lhs : arith::MinSIOp::create(b, loc, lhs, rhs).getResult();
}
Value SeparableAnalysis::max(Value lhs, Value rhs) {
  lhs = materialise(lhs), rhs = materialise(rhs);
  auto x = constantOf(lhs), y = constantOf(rhs);
  if (x && y)
    return constant(std::max(*x, *y));
  return lhs == rhs ? lhs : arith::MaxSIOp::create(b, loc, lhs, rhs).getResult();
}
Value SeparableAnalysis::ceilDiv(Value lhs, int64_t rhs) {
  if (rhs == 1)
    return materialise(lhs);
  if (auto c = constantOf(lhs))
    return constant(-llvm::divideFloorSigned(-*c, rhs));
  // ceil(x / c) = -floor(-x / c)
  Value floor = DivOp::create(b, loc, materialise(sub({}, lhs)), constant(rhs), IntDivMode::floor);
  return materialise(sub({}, floor));
}

Value SeparableAnalysis::scalar(Value value) {
  IntegerOp op = integerOpOf(value, Wrapping::address);
  switch (op.kind) {
  case Kind::constant:
    return op.number ? constant(op.number) : Value();
  case Kind::add:
    return add(scalar(op.lhs), scalar(op.rhs));
  case Kind::subtract:
    return sub(scalar(op.lhs), scalar(op.rhs));
  case Kind::multiply:
    return mul(scalar(op.lhs), scalar(op.rhs));
  case Kind::extend:
    return scalar(op.lhs);
  default:
    break;
  }
  unsigned width = value.getType().getIntOrFloatBitWidth();
  if (width == 64)
    return value;
  if (width == 1)
    return arith::ExtUIOp::create(b, loc, b.getI64Type(), value);
  return arith::ExtSIOp::create(b, loc, b.getI64Type(), value);
}

Separable SeparableAnalysis::zero(ArrayRef<int64_t> shape) {
  Separable form;
  form.shape.assign(shape.begin(), shape.end());
  form.steps.resize(shape.size());
  form.vectors.resize(shape.size());
  return form;
}
Separable SeparableAnalysis::uniform(Value value) {
  Separable form = zero({});
  if (isa<PtrType>(value.getType()))
    form.base = value;
  else
    form.offset = scalar(value);
  return form;
}

std::optional<Separable> SeparableAnalysis::combine(const Separable &lhs, const Separable &rhs, bool negate) {
  if (rhs.base && (lhs.base || negate))
    return std::nullopt;
  Separable sum = zero(lhs.shape);
  sum.base = lhs.base ? lhs.base : rhs.base;
  auto merge = [&](Value x, Value y) { return negate ? sub(x, y) : add(x, y); };
  sum.offset = merge(lhs.offset, rhs.offset);
  for (unsigned d = 0; d < lhs.shape.size(); ++d) {
    sum.steps[d] = merge(lhs.steps[d], rhs.steps[d]);
    Value x = lhs.vectors[d], y = rhs.vectors[d];
    if (x && y)
      sum.vectors[d] = negate ? arith::SubIOp::create(b, loc, x, y, noWrap).getResult()
                              : arith::AddIOp::create(b, loc, x, y, noWrap).getResult();
    else if (y && negate)
      sum.vectors[d] = arith::MulIOp::create(b, loc, y, SplatOp::create(b, loc, y.getType(), constant(-1)), noWrap);
    else
      sum.vectors[d] = x ? x : y;
  }
  return sum;
}
std::optional<Separable> SeparableAnalysis::subtract(const Separable &lhs, const Separable &rhs) {
  return combine(lhs, rhs, true);
}

std::optional<Separable> SeparableAnalysis::scale(const Separable &form, Value factor) {
  if (form.base)
    return std::nullopt;
  Separable scaled = zero(form.shape);
  scaled.offset = mul(form.offset, factor);
  auto c = constantOf(factor);
  for (unsigned d = 0; d < form.shape.size(); ++d) {
    scaled.steps[d] = mul(form.steps[d], factor);
    if (Value v = form.vectors[d]; v && !(c && *c == 0))
      scaled.vectors[d] =
          c && *c == 1 ? v : arith::MulIOp::create(b, loc, v, SplatOp::create(b, loc, v.getType(), factor), noWrap).getResult();
  }
  return scaled;
}

Value SeparableAnalysis::flatten(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() == 1)
    return value;
  return ReshapeOp::create(b, loc, RankedTensorType::get({type.getNumElements()}, type.getElementType()), value);
}

Value SeparableAnalysis::lanes(const Separable &form, unsigned dim) {
  int64_t size = form.shape[dim];
  auto type = RankedTensorType::get({size}, b.getI64Type());
  Value sum = form.vectors[dim];
  auto plus = [&](Value term) { sum = sum ? arith::AddIOp::create(b, loc, sum, term, noWrap).getResult() : term; };
  if (Value step = form.steps[dim]) {
    Value index = RangeOp::create(b, loc, RankedTensorType::get({size}, b.getI32Type()), 0, size);
    index = arith::ExtSIOp::create(b, loc, type, index);
    if (auto c = constantOf(step); !c || *c != 1)
      index = arith::MulIOp::create(b, loc, index, SplatOp::create(b, loc, type, step), noWrap);
    plus(index);
  }
  if (form.offset || !sum)
    plus(SplatOp::create(b, loc, type, materialise(form.offset)));
  return sum;
}

// A value that varies along one dimension only may be anything: it becomes the index vector of that dimension.
std::optional<Separable> SeparableAnalysis::opaque(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return uniform(value);
  if (!type.getElementType().isInteger())
    return std::nullopt;
  int dim = -1;
  for (int d = 0; d < type.getRank(); ++d)
    if (type.getDimSize(d) != 1) {
      if (dim >= 0)
        return std::nullopt;
      dim = d;
    }
  Separable form = zero(type.getShape());
  unsigned width = type.getElementTypeBitWidth();
  Value flat = flatten(value);
  auto wide = RankedTensorType::get({type.getNumElements()}, b.getI64Type());
  if (width < 64)
    flat = width == 1 ? arith::ExtUIOp::create(b, loc, wide, flat).getResult()
                      : arith::ExtSIOp::create(b, loc, wide, flat).getResult();
  if (dim >= 0)
    form.vectors[dim] = flat;
  else
    form.offset = ExtractOp::create(b, loc, b.getI64Type(), flat, ValueRange{constant(0)});
  return form;
}

std::optional<Separable> SeparableAnalysis::increment(scf::ForOp loop, unsigned index) {
  Value carried = loop.getRegionIterArg(index), value = loop.getYieldedValues()[index];
  Separable sum = zero(shapeOf(carried.getType()));
  auto take = [&](Value amount, bool negate) {
    // A value made inside the loop is not available where the closed form may be needed; LICM has moved the invariant ones out.
    if (!loop.isDefinedOutsideOfLoop(amount))
      return false;
    auto form = analyse(amount);
    auto next = form && !form->base ? combine(sum, *form, negate) : std::nullopt;
    if (next)
      sum = *next;
    return bool(next);
  };
  while (value != carried) {
    IntegerOp op = integerOpOf(value, Wrapping::address);
    if (op.kind == Kind::add && !loop.isDefinedOutsideOfLoop(op.rhs))
      std::swap(op.lhs, op.rhs);
    if ((op.kind != Kind::add && op.kind != Kind::subtract) || !take(op.rhs, op.kind == Kind::subtract))
      return std::nullopt;
    value = op.lhs;
  }
  return sum;
}

std::optional<Separable> SeparableAnalysis::dividedBy(const Separable &form, int64_t divisor) {
  auto quotient = [&](Value value) -> std::optional<Value> {
    if (!value)
      return Value();
    if (auto c = constantOf(value))
      return *c % divisor ? std::nullopt : std::optional(*c ? constant(*c / divisor) : Value());
    IntegerOp op = integerOpOf(value, Wrapping::address);
    if (op.kind == Kind::extend)
      op = integerOpOf(op.lhs, Wrapping::none); // a product in fewer bits counts if it does not wrap
    if (op.kind != Kind::multiply)
      return std::nullopt;
    for (auto [factor, other] : {std::pair(op.lhs, op.rhs), std::pair(op.rhs, op.lhs)})
      if (auto c = constantOf(factor); c && *c % divisor == 0)
        return mul(scalar(other), constant(*c / divisor));
    return std::nullopt;
  };
  Separable result = zero(form.shape);
  auto offset = quotient(form.offset);
  if (!offset || form.base)
    return std::nullopt;
  result.offset = *offset;
  for (unsigned d = 0; d < form.shape.size(); ++d) {
    auto step = quotient(form.steps[d]);
    if (!step || form.vectors[d])
      return std::nullopt;
    result.steps[d] = *step;
  }
  return result;
}

std::optional<Separable> SeparableAnalysis::carried(BlockArgument argument) {
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || argument.getArgNumber() == 0)
    return opaque(argument);
  unsigned index = argument.getArgNumber() - 1;
  auto step = increment(loop, index);
  auto init = step ? analyse(loop.getInitArgs()[index]) : std::nullopt;
  if (!init)
    return opaque(argument);
  Value count = sub(scalar(loop.getInductionVar()), scalar(loop.getLowerBound()));
  if (auto c = constantOf(loop.getStep()); !c || *c != 1) {
    if (auto each = c ? dividedBy(*step, *c) : std::nullopt) // what one step of the counter by 1 would add
      step = each;
    else
      count = DivOp::create(b, loc, materialise(count), materialise(scalar(loop.getStep())), IntDivMode::trunc);
  }
  auto moved = scale(*step, count);
  return moved ? combine(*init, *moved, false) : std::nullopt;
}

std::optional<Separable> SeparableAnalysis::loopResult(OpResult result) {
  auto loop = cast<scf::ForOp>(result.getOwner());
  unsigned index = result.getResultNumber();
  auto step = increment(loop, index);
  auto init = step ? analyse(loop.getInitArgs()[index]) : std::nullopt;
  if (!init)
    return opaque(result);
  Value span = sub(scalar(loop.getUpperBound()), scalar(loop.getLowerBound()));
  Value trips = materialise(span);
  if (auto c = constantOf(loop.getStep()); !c || *c != 1) {
    Value stride = materialise(scalar(loop.getStep()));
    trips = DivOp::create(b, loc, materialise(add(trips, sub(stride, constant(1)))), stride, IntDivMode::trunc);
  }
  auto moved = scale(*step, max(trips, constant(0)));
  return moved ? combine(*init, *moved, false) : std::nullopt;
}

std::optional<Separable> SeparableAnalysis::analyse(Value value) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  constexpr unsigned maxDepth = 200; // recursion: a longer chain is generated code, not an address
  std::optional<Separable> form;
  if (++depth > maxDepth)
    form = opaque(value);
  else
    form = build(value);
  --depth;
  known[value] = form;
  return form;
}

std::optional<Separable> SeparableAnalysis::reindexed(Operation *op, ArrayRef<int64_t> shape) {
  if (isa<ReshapeOp>(op))
    return opaque(op->getResult(0));
  auto form = analyse(op->getOperand(0));
  if (!form)
    return std::nullopt;
  if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    form->shape.insert(form->shape.begin() + expand.getAxis(), 1);
    form->steps.insert(form->steps.begin() + expand.getAxis(), Value());
    form->vectors.insert(form->vectors.begin() + expand.getAxis(), Value());
    return form;
  }
  if (auto permute = dyn_cast<PermuteOp>(op)) {
    Separable moved = zero(shape);
    moved.base = form->base;
    moved.offset = form->offset;
    for (auto [d, from] : llvm::enumerate(permute.getOrder())) {
      moved.steps[d] = form->steps[from];
      moved.vectors[d] = form->vectors[from];
    }
    return moved;
  }
  for (unsigned d = 0; d < shape.size(); ++d) // a broadcast
    if (form->shape[d] != shape[d]) {
      if (Value v = form->vectors[d])
        form->offset = add(form->offset, ExtractOp::create(b, loc, b.getI64Type(), v, ValueRange{constant(0)}));
      form->steps[d] = form->vectors[d] = Value();
      form->shape[d] = shape[d];
    }
  return form;
}

// Columns `arange(0, n) % d` with n <= d: the remainder is what is divided, and the quotient 0.
static bool isBelowDivisor(Operation *op) {
  if (!isa<DivOp, RemOp>(op))
    return false;
  auto number = analysis::intervalOf(op->getOperand(0)), divisor = analysis::intervalOf(op->getOperand(1));
  return number && divisor && number->least >= 0 && number->greatest < divisor->least;
}

std::optional<Separable> SeparableAnalysis::build(Value value) {
  ArrayRef<int64_t> shape = shapeOf(value.getType());
  if (auto argument = dyn_cast<BlockArgument>(value))
    return carried(argument);
  if (isa<scf::ForOp>(value.getDefiningOp()))
    return loopResult(cast<OpResult>(value));
  Separable form = zero(shape);
  if (Operation *division = value.getDefiningOp(); isBelowDivisor(division))
    return isa<RemOp>(division) ? analyse(division->getOperand(0)) : form;
  IntegerOp op = integerOpOf(value, Wrapping::address);
  switch (op.kind) {
  case Kind::constant:
    form.offset = op.number ? constant(op.number) : Value();
    return form;
  case Kind::add:
  case Kind::subtract: {
    auto x = analyse(op.lhs), y = x ? analyse(op.rhs) : std::nullopt;
    auto sum = y ? combine(*x, *y, op.kind == Kind::subtract) : std::nullopt;
    return sum ? sum : opaque(value);
  }
  case Kind::multiply: {
    auto x = analyse(op.lhs), y = x ? analyse(op.rhs) : std::nullopt;
    if (!y || (!x->isUniform() && !y->isUniform()))
      return opaque(value);
    return y->isUniform() ? scale(*x, y->offset) : scale(*y, x->offset);
  }
  case Kind::extend:
    return analyse(op.lhs);
  case Kind::splat: {
    auto scalar = analyse(op.lhs);
    if (!scalar)
      return std::nullopt;
    form.base = scalar->base;
    form.offset = scalar->offset;
    return form;
  }
  case Kind::range:
    form.offset = op.number ? constant(op.number) : Value();
    form.steps[0] = constant(1);
    return form;
  case Kind::reindex:
    return reindexed(op.op, shape);
  case Kind::opaque:
    return opaque(value);
  }
  llvm_unreachable("every kind returns");
}
