#include "compiler/analysis/integer_op.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilery::analysis {
using Kind = IntegerOp::Kind;

std::optional<int64_t> constantOf(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) ? std::optional(number.getSExtValue()) : std::nullopt;
}

template <typename Op> static IntegerOp arithmetic(Kind kind, Op op, Wrapping wrapping) {
  IntegerOp result{kind, op, op.getLhs(), op.getRhs()};
  result.exact = bitEnumContainsAny(op.getOverflowFlags(), arith::IntegerOverflowFlags::nsw);
  bool counts = result.exact || wrapping == Wrapping::any ||
                (wrapping == Wrapping::address && getElementTypeOrSelf(op.getType()).isInteger(64));
  return counts ? result : IntegerOp{Kind::opaque, op};
}

IntegerOp integerOpOf(Value value, Wrapping wrapping) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (auto number = constantOf(value))
    return {Kind::constant, op, {}, {}, *number};
  return llvm::TypeSwitch<Operation *, IntegerOp>(op)
      .Case([&](tile::AddPtrOp add) { return IntegerOp{Kind::add, op, add.getPtr(), add.getOffset()}; })
      .Case([&](arith::AddIOp add) { return arithmetic(Kind::add, add, wrapping); })
      .Case([&](arith::SubIOp sub) { return arithmetic(Kind::subtract, sub, wrapping); })
      .Case([&](arith::MulIOp mul) { return arithmetic(Kind::multiply, mul, wrapping); })
      .Case([&](arith::ExtSIOp extend) { // a condition counts as 0 or 1
        bool isCondition = getElementTypeOrSelf(extend.getIn().getType()).isInteger(1);
        return isCondition ? IntegerOp{Kind::opaque, op} : IntegerOp{Kind::extend, op, extend.getIn()};
      })
      .Case([&](tile::SplatOp splat) { return IntegerOp{Kind::splat, op, splat.getValue()}; })
      .Case([&](tile::RangeOp range) { return IntegerOp{Kind::range, op, {}, {}, int64_t(range.getStart())}; })
      .Case<tile::ExpandDimsOp, tile::BroadcastOp, tile::PermuteOp, tile::ReshapeOp>(
          [&](auto shape) { return IntegerOp{Kind::reindex, op, shape->getOperand(0)}; })
      .Default([&](Operation *) { return IntegerOp{Kind::opaque, op}; });
}

} // namespace tilery::analysis
