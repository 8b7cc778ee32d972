// Integer and float arithmetic: arith ops (made total) and the ops of TileArith.td. Conversions are in cast.cpp.
#include "compiler/oracle/float_ops.h"

using namespace mlir;

namespace tilery::oracle {

//===- integers ------------------------------------------------------------------------------------------------------------===//

template <typename F> static Tile integers(Interpreter &in, Operation *op, F f) {
  const Tile &a = in.tile(op->getOperand(0)), &b = in.tile(op->getOperand(1));
  Tile result = lanewiseResult(elementOf(op->getResult(0).getType()), {&a, &b});
  int64_t strideA = a.size() > 1, strideB = b.size() > 1;
  for (int64_t i = 0, n = result.size(); i < n; ++i)
    result.lanes[i] = f(a.element, a.lanes[i * strideA], b.lanes[i * strideB]);
  forgetRounded(result, {&a, &b});
  return result;
}

template <typename Op, typename F> static void addInteger(Handlers &table, F f) {
  table.addLanewise<Op>([f](Interpreter &in, Op op) { in.set(op->getResult(0), integers(in, op, f)); });
}

// compute(a, b, &result) says whether 64 bits overflow. With nsw, results that do not fit the type are kept: index arithmetic does
// not wrap, the next op that is no index arithmetic does.
template <typename Op, typename F> static void addIndexLike(Handlers &table, F compute) {
  table.addLanewise<Op>([compute](Interpreter &in, Op op) {
    bool exact = bitEnumContainsAll(op.getOverflowFlags(), arith::IntegerOverflowFlags::nsw);
    in.set(op.getResult(), integers(in, op, [&](Element e, uint64_t a, uint64_t b) {
             int64_t result;
             bool overflow = compute(int64_t(a), int64_t(b), &result);
             if (!exact || e.width == 1)
               return wrap(e, uint64_t(result));
             if (overflow && in.run.options.debug)
               in.fail(op, "index arithmetic exceeds 64 bits");
             return uint64_t(result);
           }));
  });
}

static uint64_t divide(Element e, uint64_t a, uint64_t b, tile::IntDivMode mode, bool remainder) {
  if (b == 0)
    return 0;
  if (mode == tile::IntDivMode::unsigned_) {
    uint64_t x = asUnsigned(e, a), y = asUnsigned(e, b);
    return wrap(e, remainder ? x % y : x / y);
  }
  // Operands beyond the type's range come from index arithmetic, and so does the result.
  bool isIndex = wrap(e, a) != a || wrap(e, b) != b;
  auto result = [&](uint64_t value) { return isIndex ? value : wrap(e, value); };
  int64_t x = asSigned(e, a), y = asSigned(e, b);
  if (y == -1) // INT_MIN / -1 wraps, without the host's trap
    return result(remainder ? 0 : uint64_t(0) - uint64_t(x));
  int64_t quotient = x / y, rest = x % y;
  if (mode == tile::IntDivMode::floor && rest != 0 && (rest < 0) != (y < 0)) {
    --quotient;
    rest += y;
  }
  return result(uint64_t(remainder ? rest : quotient));
}

static uint64_t shift(Element e, uint64_t a, uint64_t amount, tile::ShiftMode mode) {
  a = wrap(e, a);
  amount = asUnsigned(e, amount);
  bool out = amount >= e.width;
  switch (mode) {
  case tile::ShiftMode::left:
    return out ? 0 : wrap(e, a << amount);
  case tile::ShiftMode::right_unsigned:
    return out ? 0 : wrap(e, asUnsigned(e, a) >> amount);
  case tile::ShiftMode::right_signed:
    return wrap(e, uint64_t(asSigned(e, a) >> (out ? 63 : amount)));
  }
  llvm_unreachable("shift mode");
}

static uint64_t mulHigh(Element e, uint64_t a, uint64_t b, bool isUnsigned) {
  if (isUnsigned)
    return wrap(e, uint64_t((unsigned __int128)asUnsigned(e, a) * asUnsigned(e, b) >> e.width));
  return wrap(e, uint64_t((__int128)asSigned(e, wrap(e, a)) * asSigned(e, wrap(e, b)) >> e.width));
}

static bool compareIntegers(arith::CmpIPredicate predicate, Element e, uint64_t a, uint64_t b) {
  // Index arithmetic keeps values beyond the type's range; signed comparisons see them as they are.
  int64_t x = asSigned(e, a), y = asSigned(e, b);
  uint64_t u = asUnsigned(e, a), v = asUnsigned(e, b);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return x == y;
  case arith::CmpIPredicate::ne:
    return x != y;
  case arith::CmpIPredicate::slt:
    return x < y;
  case arith::CmpIPredicate::sle:
    return x <= y;
  case arith::CmpIPredicate::sgt:
    return x > y;
  case arith::CmpIPredicate::sge:
    return x >= y;
  case arith::CmpIPredicate::ult:
    return u < v;
  case arith::CmpIPredicate::ule:
    return u <= v;
  case arith::CmpIPredicate::ugt:
    return u > v;
  case arith::CmpIPredicate::uge:
    return u >= v;
  }
  llvm_unreachable("predicate");
}

static void addIntegerHandlers(Handlers &table) {
  addIndexLike<arith::AddIOp>(table, [](int64_t a, int64_t b, int64_t *r) { return __builtin_add_overflow(a, b, r); });
  addIndexLike<arith::SubIOp>(table, [](int64_t a, int64_t b, int64_t *r) { return __builtin_sub_overflow(a, b, r); });
  addIndexLike<arith::MulIOp>(table, [](int64_t a, int64_t b, int64_t *r) { return __builtin_mul_overflow(a, b, r); });

  addInteger<arith::AndIOp>(table, [](Element, uint64_t a, uint64_t b) { return a & b; });
  addInteger<arith::OrIOp>(table, [](Element, uint64_t a, uint64_t b) { return a | b; });
  addInteger<arith::XOrIOp>(table, [](Element, uint64_t a, uint64_t b) { return a ^ b; });
  addInteger<arith::MaxSIOp>(table, [](Element e, uint64_t a, uint64_t b) { return asSigned(e, a) > asSigned(e, b) ? a : b; });
  addInteger<arith::MinSIOp>(table, [](Element e, uint64_t a, uint64_t b) { return asSigned(e, a) < asSigned(e, b) ? a : b; });
  addInteger<arith::MaxUIOp>(table,
                             [](Element e, uint64_t a, uint64_t b) { return asUnsigned(e, a) > asUnsigned(e, b) ? a : b; });
  addInteger<arith::MinUIOp>(table,
                             [](Element e, uint64_t a, uint64_t b) { return asUnsigned(e, a) < asUnsigned(e, b) ? a : b; });

  using tile::IntDivMode;
  auto division = [&]<typename Op>(std::type_identity<Op>, IntDivMode mode, bool remainder) {
    addInteger<Op>(table, [=](Element e, uint64_t a, uint64_t b) { return divide(e, a, b, mode, remainder); });
  };
  division(std::type_identity<arith::DivSIOp>(), IntDivMode::trunc, false);
  division(std::type_identity<arith::DivUIOp>(), IntDivMode::unsigned_, false);
  division(std::type_identity<arith::FloorDivSIOp>(), IntDivMode::floor, false);
  division(std::type_identity<arith::RemSIOp>(), IntDivMode::trunc, true);
  division(std::type_identity<arith::RemUIOp>(), IntDivMode::unsigned_, true);
  table.addLanewise<tile::DivOp>([](Interpreter &in, tile::DivOp op) {
    in.set(op.getResult(),
           integers(in, op, [&](Element e, uint64_t a, uint64_t b) { return divide(e, a, b, op.getMode(), false); }));
  });
  table.addLanewise<tile::RemOp>([](Interpreter &in, tile::RemOp op) {
    in.set(op.getResult(),
           integers(in, op, [&](Element e, uint64_t a, uint64_t b) { return divide(e, a, b, op.getMode(), true); }));
  });
  addInteger<arith::CeilDivSIOp>(table, [](Element e, uint64_t a, uint64_t b) {
    return wrap(e, uint64_t(0) - divide(e, wrap(e, uint64_t(0) - a), b, IntDivMode::floor, false));
  });
  addInteger<arith::CeilDivUIOp>(table, [](Element e, uint64_t a, uint64_t b) {
    return wrap(e, divide(e, a, b, IntDivMode::unsigned_, false) + (divide(e, a, b, IntDivMode::unsigned_, true) != 0));
  });

  using tile::ShiftMode;
  addInteger<arith::ShLIOp>(table, [](Element e, uint64_t a, uint64_t b) { return shift(e, a, b, ShiftMode::left); });
  addInteger<arith::ShRSIOp>(table, [](Element e, uint64_t a, uint64_t b) { return shift(e, a, b, ShiftMode::right_signed); });
  addInteger<arith::ShRUIOp>(table, [](Element e, uint64_t a, uint64_t b) { return shift(e, a, b, ShiftMode::right_unsigned); });
  table.addLanewise<tile::ShiftOp>([](Interpreter &in, tile::ShiftOp op) {
    in.set(op.getResult(), integers(in, op, [&](Element e, uint64_t a, uint64_t b) { return shift(e, a, b, op.getMode()); }));
  });
  table.addLanewise<tile::MulHighOp>([](Interpreter &in, tile::MulHighOp op) {
    in.set(op.getResult(),
           integers(in, op, [&](Element e, uint64_t a, uint64_t b) { return mulHigh(e, a, b, op.getIsUnsigned()); }));
  });
  auto extended = [&]<typename Op>(std::type_identity<Op>, bool isUnsigned) {
    table.addLanewise<Op>([=](Interpreter &in, Op op) {
      in.set(op.getLow(), integers(in, op, [](Element e, uint64_t a, uint64_t b) { return wrap(e, a * b); }));
      in.set(op.getHigh(), integers(in, op, [=](Element e, uint64_t a, uint64_t b) { return mulHigh(e, a, b, isUnsigned); }));
    });
  };
  extended(std::type_identity<arith::MulSIExtendedOp>(), false);
  extended(std::type_identity<arith::MulUIExtendedOp>(), true);
  table.addLanewise<arith::AddUIExtendedOp>([](Interpreter &in, arith::AddUIExtendedOp op) {
    in.set(op.getSum(), integers(in, op, [](Element e, uint64_t a, uint64_t b) { return wrap(e, a + b); }));
    Tile carry = integers(
        in, op, [](Element e, uint64_t a, uint64_t b) { return uint64_t(asUnsigned(e, wrap(e, a + b)) < asUnsigned(e, a)); });
    carry.element = elementOf(op.getOverflow().getType());
    in.set(op.getOverflow(), std::move(carry));
  });
  table.addLanewise<arith::CmpIOp>([](Interpreter &in, arith::CmpIOp op) {
    auto predicate = op.getPredicate();
    in.set(op.getResult(),
           integers(in, op, [&](Element e, uint64_t a, uint64_t b) { return uint64_t(compareIntegers(predicate, e, a, b)); }));
  });
}

//===- floats --------------------------------------------------------------------------------------------------------------===//

// One rounding: exact operands give an exact result.
template <typename Op, typename F, typename R> static void addFloat(Handlers &table, F f, R range) {
  table.addLanewise<Op>([f, range](Interpreter &in, Op op) {
    const Tile &a = in.tile(op.getLhs()), &b = in.tile(op.getRhs());
    Tile result = floatBinary(a, b, f);
    shadowLanes(in, result, {&a, &b}, false, 1, [&](int64_t i) { return range(a.range(laneOf(a, i)), b.range(laneOf(b, i))); });
    in.set(op.getResult(), std::move(result));
  });
}

// Where products may be fused with the sums that take them, one that is rounded is also what it was before.
static void multiplyFloats(Interpreter &in, arith::MulFOp op) {
  const Tile &a = in.tile(op.getLhs()), &b = in.tile(op.getRhs());
  Tile result = floatBinary(a, b, [](auto x, auto y) { return x * y; });
  auto lane = [](const Tile &tile, int64_t i) { return laneOf(tile, i); };
  shadowLanes(in, result, {&a, &b}, false, 1, [&](int64_t i) { return mulRange(a.range(lane(a, i)), b.range(lane(b, i))); });
  bool fuses = in.run.options.shadow && in.run.options.contract;
  for (int64_t i = 0; fuses && i < result.size(); ++i) {
    double product = decode(result.element, result.lanes[i]);
    double rest = std::fma(decode(a.element, a.lanes[lane(a, i)]), decode(b.element, b.lanes[lane(b, i)]), -product);
    if (result.range(i).isExact() && rest != 0 && std::isfinite(product))
      result.setRange(i, widen({Format::F64, 64}, {std::min(product, product + rest), std::max(product, product + rest)}, 1));
  }
  in.set(op.getResult(), std::move(result));
}

enum class NanMode { Loses, Wins };
// A quotient by a reciprocal (docs/reference/ir.md) is an interval: 2 units in the last place, one more for the rounding of the oracle's own.
static void divideFloats(Interpreter &in, arith::DivFOp op) {
  const Tile &a = in.tile(op.getLhs()), &b = in.tile(op.getRhs());
  Tile result = floatBinary(a, b, [](auto x, auto y) { return x / y; });
  bool nearly = a.element.format == Format::F32 && bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::arcp);
  shadowLanes(in, result, {&a, &b}, nearly, nearly ? 3 : 1,
              [&](int64_t i) { return divRange(a.range(laneOf(a, i)), b.range(laneOf(b, i))); });
  in.set(op.getResult(), std::move(result));
}

// On bits, so that a chosen lane keeps its payload. -0 < +0.
static uint64_t choose(Element e, uint64_t a, uint64_t b, bool isMax, NanMode mode) {
  double x = decode(e, a), y = decode(e, b);
  if (std::isnan(x) || std::isnan(y))
    return (mode == NanMode::Wins) == std::isnan(x) ? a : b;
  if (x == y)
    return std::signbit(x) == isMax ? b : a;
  return (x > y) == isMax ? a : b;
}
template <typename Op> static void addMinMax(Handlers &table, bool isMax, NanMode mode) {
  table.addLanewise<Op>([=](Interpreter &in, Op op) {
    const Tile &a = in.tile(op.getLhs()), &b = in.tile(op.getRhs());
    Tile result = lanewiseResult(a.element, {&a, &b});
    for (int64_t i = 0; i < result.size(); ++i)
      result.lanes[i] = choose(a.element, a.lanes[laneOf(a, i)], b.lanes[laneOf(b, i)], isMax, mode);
    if (in.run.options.shadow)
      for (int64_t i = 0; i < result.size(); ++i) {
        Interval x = a.range(laneOf(a, i)), y = b.range(laneOf(b, i));
        if (x.lo == 0 && y.lo == 0 && x.hi == 0 && y.hi == 0) { // which of two zeros is not specified
          Interval zeros{std::signbit(x.lo) || std::signbit(y.lo) ? -0.0 : 0.0,
                         std::signbit(x.hi) && std::signbit(y.hi) ? -0.0 : 0.0};
          if (!zeros.isExact())
            result.setRange(i, zeros);
          continue;
        }
        if (x.isExact() && y.isExact())
          continue;
        bool anyNan = x.lo != x.lo || y.lo != y.lo;
        auto orNegative = [](double lo) { return lo == 0 ? -0.0 : lo; };
        Interval both = isMax ? Interval{orNegative(std::max(x.lo, y.lo)), std::max(x.hi, y.hi)}
                              : Interval{orNegative(std::min(x.lo, y.lo)), std::min(x.hi, y.hi)};
        if (!anyNan)
          result.setRange(i, x.isUnknown() || y.isUnknown() ? unknown() : both);
        else
          result.setRange(i, (x.lo != x.lo) == (mode == NanMode::Wins) ? x : y);
      }
    in.set(op.getResult(), std::move(result));
  });
}

static bool compareFloats(arith::CmpFPredicate predicate, double x, double y) {
  using P = arith::CmpFPredicate;
  bool unordered = std::isnan(x) || std::isnan(y);
  switch (predicate) {
  case P::AlwaysFalse:
    return false;
  case P::AlwaysTrue:
    return true;
  case P::ORD:
    return !unordered;
  case P::UNO:
    return unordered;
  case P::OEQ:
    return !unordered && x == y;
  case P::OGT:
    return !unordered && x > y;
  case P::OGE:
    return !unordered && x >= y;
  case P::OLT:
    return !unordered && x < y;
  case P::OLE:
    return !unordered && x <= y;
  case P::ONE:
    return !unordered && x != y;
  case P::UEQ:
    return unordered || x == y;
  case P::UGT:
    return unordered || x > y;
  case P::UGE:
    return unordered || x >= y;
  case P::ULT:
    return unordered || x < y;
  case P::ULE:
    return unordered || x <= y;
  case P::UNE:
    return unordered || x != y;
  }
  llvm_unreachable("predicate");
}

static void compareTiles(Interpreter &in, arith::CmpFOp op) {
  const Tile &a = in.tile(op.getLhs()), &b = in.tile(op.getRhs());
  Tile result = lanewiseResult(elementOf(op.getType()), {&a, &b});
  for (int64_t i = 0; i < result.size(); ++i)
    result.lanes[i] =
        compareFloats(op.getPredicate(), decode(a.element, a.lanes[laneOf(a, i)]), decode(b.element, b.lanes[laneOf(b, i)]));
  if (hasRanges({&a, &b}))
    for (int64_t i = 0; i < result.size(); ++i) {
      Interval x = a.range(laneOf(a, i)), y = b.range(laneOf(b, i));
      bool apart = x.hi < y.lo || y.hi < x.lo; // every choice compares alike
      if (!(x.isExact() && y.isExact()) && (!apart || x.isUnknown() || y.isUnknown()))
        result.setRange(i, unknown());
    }
  in.set(op.getResult(), std::move(result));
}

static void select(Interpreter &in, arith::SelectOp op) {
  const Tile &condition = in.tile(op.getCondition()), &a = in.tile(op.getTrueValue()), &b = in.tile(op.getFalseValue());
  Tile result(a.element, lanewiseResult(a.element, {&condition, &a, &b}).shape);
  for (int64_t i = 0; i < result.size(); ++i) {
    int64_t c = laneOf(condition, i);
    const Tile &chosen = condition.lanes[c] ? a : b;
    copyLane(result, i, chosen, laneOf(chosen, i));
    if (Unwritten from = condition.undefinedAt(c))
      result.setUndefined(i, from);
    if (!condition.range(c).isExact())
      result.setRange(i, a.element.isFloat() ? hull(a.range(laneOf(a, i)), b.range(laneOf(b, i))) : unknown());
  }
  in.set(op.getResult(), std::move(result));
}

static void addFloatHandlers(Handlers &table) {
  addFloat<arith::AddFOp>(table, [](auto x, auto y) { return x + y; }, addRange);
  addFloat<arith::SubFOp>(table, [](auto x, auto y) { return x - y; }, subRange);
  table.addLanewise<arith::MulFOp>(multiplyFloats);
  table.addLanewise<arith::DivFOp>(divideFloats);
  addFloat<arith::RemFOp>(table, [](auto x, auto y) { return std::fmod(x, y); }, [](Interval, Interval) { return unknown(); });
  addMinMax<arith::MaxNumFOp>(table, true, NanMode::Loses);
  addMinMax<arith::MinNumFOp>(table, false, NanMode::Loses);
  addMinMax<arith::MaximumFOp>(table, true, NanMode::Wins);
  addMinMax<arith::MinimumFOp>(table, false, NanMode::Wins);
  table.addLanewise<arith::NegFOp>([](Interpreter &in, arith::NegFOp op) {
    Tile result = in.tile(op.getOperand());
    for (int64_t i = 0; i < result.size(); ++i)
      result.lanes[i] ^= 1ull << (result.element.width - 1);
    for (Interval &range : result.ranges)
      range = {-range.hi, -range.lo};
    in.set(op.getResult(), std::move(result));
  });
  table.addLanewise<arith::CmpFOp>(compareTiles);
}

void addArithHandlers(Handlers &table) {
  addIntegerHandlers(table);
  addFloatHandlers(table);
  table.addLanewise<arith::SelectOp>(select);
  table.addLanewise<arith::ConstantOp>([](Interpreter &in, arith::ConstantOp op) {
    Element e = elementOf(op.getType());
    Tile result(e, tile::shapeOf(op.getType()));
    auto lane = [&](const llvm::APInt &bits) {
      return e.format == Format::Int ? wrap(e, bits.getZExtValue()) : bits.getZExtValue();
    };
    if (auto integer = dyn_cast<IntegerAttr>(op.getValue()))
      result.lanes[0] = lane(integer.getValue());
    else if (auto real = dyn_cast<FloatAttr>(op.getValue()))
      result.lanes[0] = lane(real.getValue().bitcastToAPInt());
    else if (auto integers = dyn_cast<DenseIntElementsAttr>(op.getValue()))
      llvm::transform(integers.getValues<llvm::APInt>(), result.lanes.begin(), lane);
    else
      llvm::transform(cast<DenseFPElementsAttr>(op.getValue()).getValues<llvm::APFloat>(), result.lanes.begin(),
                      [&](const llvm::APFloat &value) { return lane(value.bitcastToAPInt()); });
    in.set(op.getResult(), std::move(result));
  });
}

} // namespace tilery::oracle
