// Constants and elementwise ops.
#include "generator.h"
#include <bit>
#include <cmath>

using namespace mlir;

namespace tilery::fuzz {

static Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }
static Type withElement(Type type, Type element) { return tile::tileOf(tile::shapeOf(type), element); }

Type Generator::floatType() {
  Builder &t = b;
  return random.of(
      std::vector<Type>{t.getF32Type(), t.getF32Type(), t.getF32Type(), t.getF16Type(), t.getBF16Type(), t.getF64Type()});
}
Type Generator::intType() { return b.getIntegerType(random.of(std::vector<unsigned>{32, 32, 32, 64, 16, 8, 1})); }

Value Generator::pick(llvm::function_ref<bool(Value)> wanted) {
  std::vector<Value> choices;
  for (Value value : pool)
    if (wanted(value))
      choices.push_back(value);
  // Later values are likelier, so that programs grow deep.
  return choices.empty() ? Value() : choices[std::max(random.below(choices.size()), random.below(choices.size()))];
}

Value Generator::pickLike(Type type) {
  if (Value value = pick([&](Value v) { return v.getType() == type; }); value && random.chance(0.85))
    return value;
  if (isa<RankedTensorType>(type) && loads < 8 && random.chance(0.5))
    return load(tile::shapeOf(type), getElementTypeOrSelf(type));
  // Another element of the right shape?
  if (Value value = pick([&](Value v) { return tile::shapeOf(v.getType()) == tile::shapeOf(type) && v.getType() != type; });
      value && random.chance(0.5))
    return convert(value, getElementTypeOrSelf(type));
  return constant(type);
}

Value Generator::integer(int64_t value, unsigned width) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(b.getIntegerType(width), value));
}

Value Generator::constant(Type type) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr;
  if (auto real = dyn_cast<FloatType>(element)) {
    double value = random.of(std::vector<double>{0.0, 1.0, -1.0, 0.5, 3.25, -2.0, 100.0, 1e-3});
    attr = b.getFloatAttr(real, value);
  } else {
    unsigned width = element.getIntOrFloatBitWidth();
    int64_t value = random.of(std::vector<int64_t>{0, 1, -1, 2, 3, 7, 100, -128, 31, 64});
    if (random.chance(0.1))
      value = int64_t(random.bits());
    attr = b.getIntegerAttr(element, llvm::APInt(width, uint64_t(value), true, true));
  }
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (random.chance(0.3))
      return tile::SplatOp::create(b, loc, tensor, arith::ConstantOp::create(b, loc, attr));
    attr = DenseElementsAttr::get(tensor, cast<Attribute>(attr));
  }
  return arith::ConstantOp::create(b, loc, attr);
}

Value Generator::convert(Value x, Type element) {
  Type from = elementOf(x), to = withElement(x.getType(), element);
  if (from == element)
    return x;
  bool isUnsigned = random.chance(0.3);
  if (isa<FloatType>(from) && isa<FloatType>(element)) {
    unsigned a = from.getIntOrFloatBitWidth(), c = element.getIntOrFloatBitWidth();
    if (a < c)
      return arith::ExtFOp::create(b, loc, to, x);
    if (a > c) {
      auto narrow = arith::TruncFOp::create(b, loc, to, x);
      if (random.chance(0.3))
        narrow.setRoundingmode(arith::RoundingMode::toward_zero);
      return narrow;
    }
    return arith::TruncFOp::create(b, loc, to,
                                   arith::ExtFOp::create(b, loc, withElement(x.getType(), b.getF32Type()), x)); // f16, bf16
  }
  if (isa<FloatType>(from))
    return tile::FpToIntOp::create(b, loc, to, x, isUnsigned);
  if (isa<FloatType>(element))
    return isUnsigned || from.isInteger(1) ? Value(arith::UIToFPOp::create(b, loc, to, x))
                                           : Value(arith::SIToFPOp::create(b, loc, to, x));
  if (from.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(b, loc, to, x);
  return isUnsigned || from.isInteger(1) ? Value(arith::ExtUIOp::create(b, loc, to, x))
                                         : Value(arith::ExtSIOp::create(b, loc, to, x));
}

Value Generator::unary(Value x) {
  Type element = elementOf(x);
  if (isa<FloatType>(element))
    switch (random.below(16)) {
    case 0:
      return arith::NegFOp::create(b, loc, x);
    case 1:
      return math::AbsFOp::create(b, loc, x);
    case 2:
      return math::FloorOp::create(b, loc, x);
    case 3:
      return math::CeilOp::create(b, loc, x);
    case 4:
      return math::SqrtOp::create(b, loc, x);
    case 5:
      return math::ExpOp::create(b, loc, x);
    case 6:
      return math::Exp2Op::create(b, loc, x);
    case 7:
      return math::LogOp::create(b, loc, x);
    case 8:
      return math::SinOp::create(b, loc, x);
    case 9:
      return math::CosOp::create(b, loc, x);
    case 10:
      return math::TanhOp::create(b, loc, x);
    case 11:
      return math::ErfOp::create(b, loc, x);
    case 12:
      return math::RsqrtOp::create(b, loc, x);
    case 13:
      return math::Log2Op::create(b, loc, x);
    case 14:
      return math::TruncOp::create(b, loc, x);
    default:
      return arith::MulFOp::create(b, loc, x, x);
    }
  if (element.isInteger(1))
    return arith::XOrIOp::create(b, loc, x, constant(x.getType()));
  if (random.chance(0.3))
    return math::AbsIOp::create(b, loc, x);
  return arith::SubIOp::create(b, loc, constant(x.getType()), x);
}

Value Generator::binary(Value x, Value y) {
  Type element = elementOf(x);
  if (isa<FloatType>(element))
    switch (random.below(11)) {
    case 0:
    case 1:
      return arith::AddFOp::create(b, loc, x, y);
    case 2:
      return arith::SubFOp::create(b, loc, x, y);
    case 3:
    case 4:
      return arith::MulFOp::create(b, loc, x, y);
    case 5: {
      auto quotient = arith::DivFOp::create(b, loc, x, y);
      if (element.isF32() && random.chance(0.5))
        quotient.setFastmath(arith::FastMathFlags::arcp);
      return quotient;
    }
    case 6:
      return arith::MaxNumFOp::create(b, loc, x, y);
    case 7:
      return arith::MinNumFOp::create(b, loc, x, y);
    case 8:
      return arith::MaximumFOp::create(b, loc, x, y);
    case 9:
      return arith::MinimumFOp::create(b, loc, x, y);
    default:
      return math::FmaOp::create(b, loc, x, y, x);
    }
  bool isBool = element.isInteger(1);
  auto mode = static_cast<tile::IntDivMode>(random.below(3));
  switch (random.below(isBool ? 3 : 14)) {
  case 0:
    return arith::AndIOp::create(b, loc, x, y);
  case 1:
    return arith::OrIOp::create(b, loc, x, y);
  case 2:
    return arith::XOrIOp::create(b, loc, x, y);
  case 3:
  case 4:
    return arith::AddIOp::create(b, loc, x, y);
  case 5:
    return arith::SubIOp::create(b, loc, x, y);
  case 6:
    return arith::MulIOp::create(b, loc, x, y);
  case 7:
    return tile::DivOp::create(b, loc, x.getType(), x, y, mode);
  case 8:
    return tile::RemOp::create(b, loc, x.getType(), x, y, mode);
  case 9:
    return tile::ShiftOp::create(b, loc, x.getType(), x, y, static_cast<tile::ShiftMode>(random.below(3)));
  case 10:
    return random.chance(0.5) ? Value(arith::MaxSIOp::create(b, loc, x, y)) : Value(arith::MaxUIOp::create(b, loc, x, y));
  case 11:
    return random.chance(0.5) ? Value(arith::MinSIOp::create(b, loc, x, y)) : Value(arith::MinUIOp::create(b, loc, x, y));
  default:
    return tile::MulHighOp::create(b, loc, x.getType(), x, y, random.chance(0.5));
  }
}

Value Generator::compare(Value x, Value y) {
  if (isa<FloatType>(elementOf(x)))
    return arith::CmpFOp::create(b, loc, static_cast<arith::CmpFPredicate>(1 + random.below(14)), x, y);
  return arith::CmpIOp::create(b, loc, static_cast<arith::CmpIPredicate>(random.below(10)), x, y);
}

void Generator::elementwise() {
  Value x = pick([](Value v) { return !isa<tile::PtrType>(elementOf(v)); });
  if (!x)
    return add(constant(anyType()));
  switch (random.below(10)) {
  case 0:
  case 1:
    return add(unary(x));
  case 2:
    return add(convert(x, anyType()));
  case 3:
    return add(compare(x, pickLike(x.getType())));
  case 4: {
    Value y = pickLike(x.getType());
    Value condition =
        pick([&](Value v) { return elementOf(v).isInteger(1) && tile::shapeOf(v.getType()) == tile::shapeOf(x.getType()); });
    return add(arith::SelectOp::create(b, loc, condition ? condition : compare(x, y), x, y));
  }
  default:
    return add(binary(x, pickLike(x.getType())));
  }
}

} // namespace tilery::fuzz
