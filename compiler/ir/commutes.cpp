#include "compiler/ir/commutes.h"

using namespace mlir;

namespace tilery::tile {
namespace {

enum class Comparison { none, equal, strict };

/// Of `lhs` with `rhs`, in this order.
Comparison compares(Value value, Value lhs, Value rhs) {
  if (auto floats = value.getDefiningOp<arith::CmpFOp>(); floats && floats.getLhs() == lhs && floats.getRhs() == rhs) {
    using arith::CmpFPredicate;
    CmpFPredicate predicate = floats.getPredicate();
    return predicate == CmpFPredicate::OEQ                                      ? Comparison::equal
           : predicate == CmpFPredicate::OGT || predicate == CmpFPredicate::OLT ? Comparison::strict
                                                                                : Comparison::none;
  }
  if (auto integers = value.getDefiningOp<arith::CmpIOp>(); integers && integers.getLhs() == lhs && integers.getRhs() == rhs) {
    using arith::CmpIPredicate;
    switch (integers.getPredicate()) {
    case CmpIPredicate::eq:
      return Comparison::equal;
    case CmpIPredicate::slt:
    case CmpIPredicate::sgt:
    case CmpIPredicate::ult:
    case CmpIPredicate::ugt:
      return Comparison::strict;
    default:
      return Comparison::none;
    }
  }
  return Comparison::none;
}

/// Both operands of an `or` or `and`, in either order.
template <typename Op> bool isOf(Value value, llvm::function_ref<bool(Value)> one, llvm::function_ref<bool(Value)> other) {
  auto op = value.getDefiningOp<Op>();
  return op && ((one(op.getLhs()) && other(op.getRhs())) || (one(op.getRhs()) && other(op.getLhs())));
}

} // namespace

bool picksOne(ReduceOp reduce) {
  Block &block = reduce.getCombine().front();
  if (reduce.getNumOperands() != 2)
    return false;
  Value condition;
  for (auto [i, yielded] : llvm::enumerate(block.getTerminator()->getOperands())) {
    auto select = yielded.getDefiningOp<arith::SelectOp>();
    if (!select || select.getTrueValue() != block.getArgument(i) || select.getFalseValue() != block.getArgument(2 + i) ||
        (condition && condition != select.getCondition()))
      return false;
    condition = select.getCondition();
  }
  auto is = [&](unsigned operand, Comparison wanted) {
    return [&block, operand, wanted](Value value) {
      return compares(value, block.getArgument(operand), block.getArgument(2 + operand)) == wanted;
    };
  };
  auto isTie = [&](Value value) { return isOf<arith::AndIOp>(value, is(0, Comparison::equal), is(1, Comparison::strict)); };
  return condition && isOf<arith::OrIOp>(condition, is(0, Comparison::strict), isTie);
}

} // namespace tilery::tile
