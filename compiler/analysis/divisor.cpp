#include "compiler/analysis/divisor.h"
#include "compiler/analysis/remembered.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilery::analysis {
namespace {
constexpr int64_t most = 256;
constexpr unsigned deepest = 16; // of an expression that is looked through

int64_t powerIn(uint64_t number) { return number ? std::min<uint64_t>(number & -number, most) : most; }

int64_t divisor(Value value, unsigned depth);

/// Of a loop's number: what divides its start and each step. Of what it carries: its start and what each turn adds.
int64_t divisorInLoop(scf::ForOp loop, BlockArgument argument, unsigned depth) {
  if (argument == loop.getInductionVar())
    return std::min(divisor(loop.getLowerBound(), depth), divisor(loop.getStep(), depth));
  Operation *next = loop.getTiedLoopYieldedValue(argument)->get().getDefiningOp();
  bool sums = isa_and_nonnull<arith::AddIOp, arith::SubIOp, tile::AddPtrOp>(next) && next->getOperand(0) == argument;
  if (!sums)
    return 1;
  int64_t added = divisor(next->getOperand(1), depth);
  if (auto pointer = dyn_cast<tile::PtrType>(argument.getType()))
    added = std::min(added * tile::elementBytes(pointer.getPointee()), most);
  return std::min(divisor(loop.getTiedLoopInit(argument)->get(), depth), added);
}

int64_t computed(Value value, unsigned depth) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return powerIn(constant.getSExtValue());
  auto argument = dyn_cast<BlockArgument>(value);
  if (auto kernel = argument ? dyn_cast<tile::KernelOp>(argument.getOwner()->getParentOp()) : tile::KernelOp()) {
    auto attr = kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "tile.divisibility");
    return attr ? powerIn(attr.getInt()) : 1;
  }
  auto promised = argument ? IntegerAttr() : value.getDefiningOp()->getAttrOfType<IntegerAttr>("tile.divisibility");
  if (promised)
    return powerIn(promised.getInt());
  if (!depth)
    return 1;
  if (argument) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop ? divisorInLoop(loop, argument, depth - 1) : 1;
  }
  auto of = [&](Value operand) { return divisor(operand, depth - 1); };
  return llvm::TypeSwitch<Operation *, int64_t>(value.getDefiningOp())
      .Case<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(
          [&](Operation *op) { return std::min(of(op->getOperand(0)), of(op->getOperand(1))); })
      .Case([&](arith::MulIOp op) { return std::min(of(op.getLhs()) * of(op.getRhs()), most); })
      .Case<arith::ExtSIOp, arith::ExtUIOp, arith::IndexCastOp, arith::TruncIOp>(
          [&](Operation *op) { return of(op->getOperand(0)); })
      .Case([&](arith::SelectOp op) { return std::min(of(op.getTrueValue()), of(op.getFalseValue())); })
      .Case([&](tile::AddPtrOp op) {
        int64_t bytes = tile::elementBytes(cast<tile::PtrType>(op.getType()).getPointee());
        return std::min(of(op.getPtr()), std::min(of(op.getOffset()) * bytes, most));
      })
      .Case([&](tile::PtrCastOp op) { return of(op->getOperand(0)); })
      .Default([](Operation *) { return int64_t(1); });
}

int64_t divisor(Value value, unsigned depth) {
  static thread_local Remembered<int64_t, unsigned> remembered;
  return remembered.of(value, depth, [&] { return computed(value, depth); });
}
} // namespace

int64_t divisorOf(Value scalar) { return divisor(scalar, deepest); }

int64_t divisorOf(const IndexPolynomial &polynomial) {
  int64_t common = most;
  for (auto &[monomial, coefficient] : polynomial.terms()) {
    int64_t product = powerIn(coefficient);
    for (Value atom : monomial)
      product = std::min(product * divisorOf(atom), most);
    common = std::min(common, product);
  }
  return common;
}

} // namespace tilery::analysis
