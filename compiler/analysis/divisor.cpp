#include "compiler/analysis/divisor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilery::analysis {
namespace {
constexpr int64_t most = 256;
constexpr unsigned deepest = 16; // of an expression that is looked through

int64_t powerIn(uint64_t number) { return number ? std::min<uint64_t>(number & -number, most) : most; }

int64_t divisor(Value value, unsigned depth) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return powerIn(constant.getSExtValue());
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto kernel = dyn_cast<tile::KernelOp>(argument.getOwner()->getParentOp());
    auto attr = kernel ? kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "tile.divisibility") : IntegerAttr();
    return attr ? powerIn(attr.getInt()) : 1;
  }
  if (!depth)
    return 1;
  auto of = [&](Value operand) { return divisor(operand, depth - 1); };
  return llvm::TypeSwitch<Operation *, int64_t>(value.getDefiningOp())
      .Case<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(
          [&](Operation *op) { return std::min(of(op->getOperand(0)), of(op->getOperand(1))); })
      .Case([&](arith::MulIOp op) { return std::min(of(op.getLhs()) * of(op.getRhs()), most); })
      .Case<arith::ExtSIOp, arith::ExtUIOp, arith::IndexCastOp>([&](Operation *op) { return of(op->getOperand(0)); })
      .Case([&](arith::SelectOp op) { return std::min(of(op.getTrueValue()), of(op.getFalseValue())); })
      .Case([&](tile::AddPtrOp op) {
        int64_t bytes = tile::elementBytes(cast<tile::PtrType>(op.getType()).getPointee());
        return std::min(of(op.getPtr()), std::min(of(op.getOffset()) * bytes, most));
      })
      .Case([&](tile::PtrCastOp op) { return of(op->getOperand(0)); })
      .Default([](Operation *) { return int64_t(1); });
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
