#include "compiler/analysis/thread_set.h"
#include "compiler/analysis/divergence.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/ir/warp.h"

using namespace mlir;

namespace tilery::analysis {

using Number = std::optional<int64_t>;

static APInt quotientOf(const APInt &a, const APInt &b, tile::IntDivMode mode) {
  if (b.isZero())
    return b;
  if (mode == tile::IntDivMode::unsigned_)
    return a.udiv(b);
  return mode == tile::IntDivMode::floor ? llvm::APIntOps::RoundingSDiv(a, b, APInt::Rounding::DOWN) : a.sdiv(b);
}

Number folded(Operation *op, ArrayRef<Number> numbers) {
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isSignlessInteger())
    return std::nullopt;
  SmallVector<Attribute> operands;
  for (auto [operand, number] : llvm::zip(op->getOperands(), numbers))
    operands.push_back(number && operand.getType().isSignlessInteger() ? IntegerAttr::get(operand.getType(), *number)
                                                                       : Attribute());
  if (isa<tile::DivOp, tile::RemOp>(op)) {
    if (llvm::is_contained(operands, Attribute()))
      return std::nullopt;
    APInt a = cast<IntegerAttr>(operands[0]).getValue(), b = cast<IntegerAttr>(operands[1]).getValue();
    auto div = dyn_cast<tile::DivOp>(op);
    APInt quotient = quotientOf(a, b, div ? div.getMode() : cast<tile::RemOp>(op).getMode());
    return (div ? quotient : a - quotient * b).getSExtValue();
  }
  if (auto shift = dyn_cast<tile::ShiftOp>(op)) {
    if (llvm::is_contained(operands, Attribute()))
      return std::nullopt;
    APInt a = cast<IntegerAttr>(operands[0]).getValue(),
          by = cast<IntegerAttr>(operands[1]).getValue(); // unsigned; APInt takes any
    bool isLeft = shift.getMode() == tile::ShiftMode::left, isSigned = shift.getMode() == tile::ShiftMode::right_signed;
    return (isLeft ? a.shl(by) : isSigned ? a.ashr(by) : a.lshr(by)).getSExtValue();
  }
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)) || results.size() != 1)
    return std::nullopt;
  if (auto same = dyn_cast<Value>(results[0])) {
    for (auto [operand, number] : llvm::zip(op->getOperands(), numbers))
      if (operand == same)
        return number;
    return std::nullopt;
  }
  auto number = dyn_cast<IntegerAttr>(cast<Attribute>(results[0]));
  return number ? Number(number.getValue().getSExtValue()) : std::nullopt;
}

Number numberOf(Value value, Numbers &known) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  if (auto constant = constantOf(value))
    return constant;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() || !isPure(op))
    return std::nullopt;
  SmallVector<Number> operands;
  for (Value operand : op->getOperands())
    operands.push_back(numberOf(operand, known));
  return known[value] = folded(op, operands);
}

std::optional<llvm::BitVector> threadsAt(Operation *op) {
  auto threads = op->getParentOfType<tile::ThreadsOp>();
  Divergence divergence(threads, true);
  divergence.run();
  llvm::BitVector set(threads.getCount(), true);
  for (Operation *parent = op->getParentOp(); parent != threads; parent = parent->getParentOp()) {
    if (!divergence.splits(parent))
      continue;
    auto branch = dyn_cast<scf::IfOp>(parent);
    if (!branch)
      return std::nullopt;
    bool taken = branch.getThenRegion().isAncestor(op->getParentRegion());
    for (unsigned thread : SmallVector<unsigned>(set.set_bits())) {
      Numbers known{{threads.getBody().getArgument(0), thread}};
      Number condition = numberOf(branch.getCondition(), known);
      if (!condition)
        return std::nullopt;
      if (bool(*condition & 1) != taken)
        set.reset(thread);
    }
  }
  return set;
}

bool canMeet(const llvm::BitVector &threads) {
  constexpr unsigned warp = tile::warpLanes;
  if (threads.none() || threads.find_first() / warp == threads.find_last() / warp)
    return true;
  for (unsigned first = 0; first < threads.size(); first += warp) {
    unsigned end = std::min(first + warp, threads.size()), all = 0;
    for (unsigned thread = first; thread < end; ++thread)
      all += threads.test(thread);
    if (all && all != end - first)
      return false;
  }
  return true;
}

} // namespace tilery::analysis
