#include "compiler/analysis/index_polynomial.h"
#include "compiler/analysis/remembered.h"

using namespace mlir;

namespace tilery::analysis {

/// The op in `block` that holds `value`'s definition: nothing if the value is an argument of `block` or is not inside it.
static Operation *holderIn(Block *block, Value value) {
  Operation *op = value.getDefiningOp();
  if (!op && value.getParentBlock() != block)
    op = value.getParentBlock()->getParentOp();
  return op ? block->findAncestorOpInBlock(*op) : nullptr;
}

bool DefinedBefore::operator()(Value a, Value b) const {
  if (a == b)
    return false;
  // The innermost block around both.
  Block *block = a.getParentBlock();
  while (block != b.getParentBlock() && !holderIn(block, b))
    block = block->getParentOp()->getBlock();
  Operation *x = holderIn(block, a), *y = holderIn(block, b);
  if (x && y && x != y)
    return x->isBeforeInBlock(y);
  if (!x || !y) // arguments of the block come before its ops
    return !x && (y || cast<BlockArgument>(a).getArgNumber() < cast<BlockArgument>(b).getArgNumber());
  auto first = dyn_cast<OpResult>(a), second = dyn_cast<OpResult>(b);
  bool isResult = first && first.getOwner() == x, isOtherResult = second && second.getOwner() == x;
  if (isResult && isOtherResult)
    return first.getResultNumber() < second.getResultNumber();
  if (isResult || isOtherResult) // an op's results come before what its regions define
    return isResult;
  // In two blocks of one op.
  auto blockIn = [&](Value value) {
    Block *inner = value.getParentBlock();
    while (inner->getParentOp() != x)
      inner = inner->getParentOp()->getBlock();
    return inner;
  };
  Block *left = blockIn(a), *right = blockIn(b);
  if (left->getParent() != right->getParent())
    return left->getParent()->getRegionNumber() < right->getParent()->getRegionNumber();
  return std::distance(left->getParent()->begin(), left->getIterator()) <
         std::distance(right->getParent()->begin(), right->getIterator());
}

static IndexPolynomial compute(const IntegerOp &op, Value value, Wrapping wrapping) {
  auto of = [&](Value operand) { return polynomialOf(operand, wrapping); };
  switch (op.kind) {
  case IntegerOp::Kind::constant:
    return IndexPolynomial(op.number);
  case IntegerOp::Kind::add:
    return of(op.lhs) + of(op.rhs);
  case IntegerOp::Kind::subtract:
    return of(op.lhs) - of(op.rhs);
  case IntegerOp::Kind::multiply:
    return of(op.lhs) * of(op.rhs);
  case IntegerOp::Kind::extend:
  case IntegerOp::Kind::splat:
    return of(op.lhs);
  default:
    if (auto quotient = dyn_cast_or_null<tile::DivOp>(op.op); quotient && constantOf(quotient.getRhs()) == 1)
      return of(quotient.getLhs());
    return IndexPolynomial::of(value);
  }
}

IndexPolynomial polynomialOf(Value value, Wrapping wrapping) {
  static thread_local Remembered<IndexPolynomial, Wrapping> remembered;
  IntegerOp op = integerOpOf(value, wrapping);
  bool isSum = op.kind == IntegerOp::Kind::add || op.kind == IntegerOp::Kind::subtract || op.kind == IntegerOp::Kind::multiply;
  if (!isSum)
    return compute(op, value, wrapping);
  return remembered.of(value, wrapping, [&] { return compute(op, value, wrapping); });
}

} // namespace tilery::analysis
