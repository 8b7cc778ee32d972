// Conversions between elements.
#include "compiler/oracle/float_ops.h"

using namespace mlir;

namespace tilery::oracle {

template <typename Op, typename F> static void addCast(Handlers &table, F convert) {
  table.addLanewise<Op>([convert](Interpreter &in, Op op) {
    const Tile &a = in.tile(op->getOperand(0));
    Tile result = lanewiseResult(elementOf(op->getResult(0).getType()), {&a});
    for (int64_t i = 0; i < result.size(); ++i)
      result.lanes[i] = convert(op, a.element, result.element, a.lanes[i]);
    forgetRounded(result, {&a});
    in.set(op->getResult(0), std::move(result));
  });
}

// 64-bit integers do not fit a double: formats below f64 go through a sticky bit, so that there is one rounding.
static double integerToDouble(Element to, uint64_t magnitude, bool negative) {
  double value = double(magnitude);
  if (to.format != Format::F64 && magnitude >> 53) {
    unsigned drop = 11 - std::countl_zero(magnitude);
    bool sticky = (magnitude & ((1ull << drop) - 1)) != 0;
    value = std::ldexp(double((magnitude >> drop) | sticky), int(drop));
  }
  return negative ? -value : value;
}

static uint64_t floatToInteger(Element from, Element to, uint64_t lane, bool isUnsigned) {
  double value = std::trunc(decode(from, lane));
  if (std::isnan(value))
    return 0;
  double least = isUnsigned ? 0 : -std::ldexp(1.0, to.width - 1);
  double beyond = std::ldexp(1.0, isUnsigned ? to.width : to.width - 1);
  if (value <= least)
    return wrap(to, isUnsigned ? 0 : 1ull << (to.width - 1));
  if (value >= beyond)
    return wrap(to, isUnsigned ? ~0ull : (1ull << (to.width - 1)) - 1);
  return wrap(to, isUnsigned ? uint64_t(value) : uint64_t(int64_t(value)));
}

template <typename Op> static void addFloatToFloat(Handlers &table) {
  table.addLanewise<Op>([](Interpreter &in, Op op) {
    const Tile &a = in.tile(op->getOperand(0));
    Tile result = lanewiseResult(elementOf(op->getResult(0).getType()), {&a});
    auto rounded = encode;
    if constexpr (std::is_same_v<Op, arith::TruncFOp>)
      rounded = op.getRoundingmode() == arith::RoundingMode::toward_zero ? encodeTowardZero : encode;
    for (int64_t i = 0; i < result.size(); ++i)
      result.lanes[i] = rounded(result.element, decode(a.element, a.lanes[i]));
    shadowLanes(in, result, {&a}, false, 1, [&](int64_t i) { return a.range(i); });
    in.set(op->getResult(0), std::move(result));
  });
}

void addCastHandlers(Handlers &table) {
  addCast<arith::ExtSIOp>(table,
                          [](auto, Element from, Element to, uint64_t lane) { return wrap(to, uint64_t(asSigned(from, lane))); });
  addCast<arith::ExtUIOp>(table, [](auto, Element from, Element to, uint64_t lane) { return wrap(to, asUnsigned(from, lane)); });
  addCast<arith::TruncIOp>(table, [](auto, Element, Element to, uint64_t lane) { return wrap(to, lane); });
  addCast<arith::IndexCastOp>(
      table, [](auto, Element from, Element to, uint64_t lane) { return wrap(to, uint64_t(asSigned(from, lane))); });
  addCast<arith::IndexCastUIOp>(table,
                                [](auto, Element from, Element to, uint64_t lane) { return wrap(to, asUnsigned(from, lane)); });
  addCast<arith::BitcastOp>(table, [](auto, Element from, Element to, uint64_t lane) {
    return to.format == Format::Int ? wrap(to, lane) : from.format == Format::Int ? asUnsigned(from, lane) : lane;
  });
  addCast<arith::SIToFPOp>(table, [](auto, Element from, Element to, uint64_t lane) {
    int64_t value = asSigned(from, wrap(from, lane));
    return encode(to, integerToDouble(to, value < 0 ? 0 - uint64_t(value) : uint64_t(value), value < 0));
  });
  addCast<arith::UIToFPOp>(table, [](auto, Element from, Element to, uint64_t lane) {
    return encode(to, integerToDouble(to, asUnsigned(from, lane), false));
  });
  addCast<arith::FPToSIOp>(table,
                           [](auto, Element from, Element to, uint64_t lane) { return floatToInteger(from, to, lane, false); });
  addCast<arith::FPToUIOp>(table,
                           [](auto, Element from, Element to, uint64_t lane) { return floatToInteger(from, to, lane, true); });
  addCast<tile::FpToIntOp>(table, [](tile::FpToIntOp op, Element from, Element to, uint64_t lane) {
    return floatToInteger(from, to, lane, op.getIsUnsigned());
  });
  addFloatToFloat<arith::ExtFOp>(table);
  addFloatToFloat<arith::TruncFOp>(table);
}

} // namespace tilery::oracle
