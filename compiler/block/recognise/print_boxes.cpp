// Boxes as plans show them.
#include "compiler/block/recognise/find_boxes.h"

using namespace mlir;

namespace tilery::block {
namespace {
constexpr unsigned deepest = 4; // of expressions that are written out

void printValue(Value value, raw_ostream &stream, unsigned depth);

void printSum(const IndexPolynomial &polynomial, raw_ostream &stream, unsigned depth) {
  if (polynomial.isZero())
    stream << 0;
  bool first = true;
  for (auto &[monomial, coefficient] : polynomial.terms()) {
    stream << (coefficient < 0 ? (first ? "-" : " - ") : first ? "" : " + ");
    first = false;
    uint64_t size = coefficient < 0 ? -uint64_t(coefficient) : coefficient;
    bool factor = size != 1 || monomial.empty();
    if (factor)
      stream << size;
    for (Value atom : monomial) {
      stream << (std::exchange(factor, true) ? " * " : "");
      printValue(atom, stream, depth);
    }
  }
}

void printValue(Value value, raw_ostream &stream, unsigned depth) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto kernel = dyn_cast<tile::KernelOp>(argument.getOwner()->getParentOp());
    auto name = kernel ? kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tile.name") : StringAttr();
    if (name)
      stream << name.getValue();
    else if (kernel)
      stream << "argument " << argument.getArgNumber();
    else
      stream << "step";
    return;
  }
  Operation *op = value.getDefiningOp();
  auto operand = [&](unsigned number, bool isFactor) {
    IndexPolynomial sum = analysis::polynomialOf(op->getOperand(number));
    isFactor &= sum.terms().size() > 1;
    stream << (isFactor ? "(" : "");
    printSum(sum, stream, depth + 1);
    stream << (isFactor ? ")" : "");
  };
  auto both = [&](StringRef sign) {
    stream << "(";
    operand(0, sign != ", ");
    stream << sign;
    operand(1, sign != ", ");
    stream << ")";
  };
  if (auto id = dyn_cast<tile::ProgramIdOp>(op))
    stream << "program " << id.getAxis();
  else if (auto count = dyn_cast<tile::NumProgramsOp>(op))
    stream << "programs " << count.getAxis();
  else if (depth >= deepest)
    stream << "..";
  else if (isa<tile::DivOp>(op))
    both(" / ");
  else if (isa<tile::RemOp>(op))
    both(" % ");
  else if (isa<arith::MinSIOp>(op))
    stream << "min", both(", ");
  else if (isa<arith::MaxSIOp>(op))
    stream << "max", both(", ");
  else
    stream << op->getName();
}
} // namespace

void print(const IndexPolynomial &polynomial, raw_ostream &stream) { printSum(polynomial, stream, 0); }

void print(const BoxCondition &condition, raw_ostream &stream) {
  if (condition.divisor) {
    stream << condition.divisor << " divides ";
    return print(condition.value, stream);
  }
  IndexPolynomial least = condition.value.where([](auto &monomial) { return monomial.empty(); });
  bool moves = least.constant().value_or(0) < 0; // to the other side
  stream << (moves ? -*least.constant() : 0) << " <= ";
  print(moves ? condition.value - least : condition.value, stream);
}

void Box::print(raw_ostream &stream) const {
  auto list = [&](IndexPolynomial BoxDimension::*part) {
    stream << "[";
    for (const BoxDimension &dimension : llvm::reverse(dimensions)) {
      stream << (&dimension == &dimensions.back() ? "" : ", ");
      if (part == &BoxDimension::extent && dimension.extent.constant() == int64_t(1) << 31)
        stream << "..";
      else
        block::print(dimension.*part, stream);
    }
    stream << "]";
  };
  block::print(IndexPolynomial::of(base) + offset, stream);
  stream << ", rank " << dimensions.size() << ": ";
  list(&BoxDimension::start);
  stream << " of ";
  list(&BoxDimension::extent);
  stream << ", strides ";
  list(&BoxDimension::stride);
}

} // namespace tilery::block
