// Reductions of tiles in registers: a thread's own elements, then the lanes that share them.
#include "compiler/targets/cuda/block_emitter.h"

using namespace mlir;

namespace tilery::cuda {

/// Distances (bits of the lane's number) between lanes that hold other elements of the axis; nothing where some are no such bits, or
/// where other warps hold some.
static std::optional<SmallVector<unsigned>> distancesAlong(const layout::Layout &layout, unsigned axis) {
  layout::Layout canonical = layout.canonical();
  SmallVector<unsigned> distances;
  unsigned place = 1;
  for (const layout::Layout::Digit &digit : canonical.digits(layout::Lane)) {
    if (digit.step[axis] || digit.flips[axis]) {
      if (!llvm::isPowerOf2_64(digit.extent) || !llvm::isPowerOf2_32(place))
        return std::nullopt;
      for (unsigned bit = place; bit < place * digit.extent; bit *= 2)
        distances.push_back(bit);
    }
    place *= digit.extent;
  }
  for (const layout::Layout::Digit &digit : canonical.digits(layout::Warp))
    if (digit.step[axis] || digit.flips[axis])
      return std::nullopt;
  return distances;
}

bool isReducedInWarps(tile::ReduceOp reduce) {
  block::LayoutAttr layout = block::layoutOf(reduce.getOperand(0).getType());
  return layout && distancesAlong(layout.getLayout(), reduce.getAxis());
}

llvm::Value *BlockEmitter::fromLane(llvm::Value *value, unsigned distance) {
  llvm::Type *type = value->getType();
  unsigned bits = e.module.getDataLayout().getTypeSizeInBits(type);
  llvm::Value *lane = b.CreateXor(here().lane, i32(distance));
  auto move = [&](llvm::Value *word) { return machine.shuffleFrom(e, word, lane, i32(-1)); };
  llvm::Value *whole = b.CreateBitCast(value, b.getIntNTy(bits));
  if (bits <= 32)
    return b.CreateBitCast(b.CreateTrunc(move(b.CreateZExt(whole, b.getInt32Ty())), b.getIntNTy(bits)), type);
  llvm::Value *low = move(b.CreateTrunc(whole, b.getInt32Ty())),
              *high = move(b.CreateTrunc(b.CreateLShr(whole, 32), b.getInt32Ty()));
  whole = b.CreateOr(b.CreateZExt(low, b.getInt64Ty()), b.CreateShl(b.CreateZExt(high, b.getInt64Ty()), 32));
  return b.CreateBitCast(whole, type);
}

void BlockEmitter::emitReduce(tile::ReduceOp reduce) {
  block::LayoutAttr layout = block::layoutOf(reduce.getOperand(0).getType());
  unsigned axis = reduce.getAxis();
  auto distances = layout ? distancesAlong(layout.getLayout(), axis) : std::nullopt;
  if (!distances)
    return fail(reduce, "combines elements of several warps, for which there is no code yet");
  prepare(reduce);
  SmallVector<Parts> operands;
  for (Value operand : reduce.getOperands())
    operands.push_back(partsOf(operand));
  auto combine = [&](SmallVectorImpl<llvm::Value *> &values, ArrayRef<llvm::Value *> others) {
    SmallVector<lower::Lanes> both;
    failed |= !lower::emitCombine(e, reduce.getCombine(), values, others, both, [&](Value outside) { return scalar(outside); });
    if (!failed)
      values.assign(both.begin(), both.end());
  };
  // Registers of the result hold what the operand's registers at the same other coordinates do.
  layout::Layout rest = layout::slice(layout.getLayout(), axis);
  std::map<layout::Layout::Vector, unsigned> numbers;
  for (unsigned number = 0; number < rest.extent(layout::Register); ++number)
    numbers[rest.at({{layout::Register, number}})] = number;
  std::vector<SmallVector<SmallVector<llvm::Value *>>> elements(numbers.size()); // of each row
  for (unsigned number = 0; number < operands[0].size(); ++number) {
    layout::Layout::Vector at = layout.getLayout().at({{layout::Register, number}});
    at.erase(at.begin() + axis);
    SmallVector<llvm::Value *> own;
    for (const Parts &parts : operands)
      own.push_back(parts[number]);
    elements[numbers.at(at)].push_back(std::move(own));
  }
  // By pairs of neighbours: long chains would wait for each result.
  std::vector<SmallVector<llvm::Value *>> rows;
  for (auto &row : elements) {
    for (size_t apart = 1; apart < row.size(); apart *= 2)
      for (size_t i = 0; i + apart < row.size(); i += 2 * apart)
        combine(row[i], row[i + apart]);
    rows.push_back(row[0]);
  }
  for (SmallVector<llvm::Value *> &row : rows)
    for (unsigned distance : *distances) {
      SmallVector<llvm::Value *> others;
      for (llvm::Value *value : row)
        others.push_back(fromLane(value, distance));
      combine(row, others);
    }
  for (auto [i, result] : llvm::enumerate(reduce.getResults())) {
    Parts parts;
    for (SmallVector<llvm::Value *> &row : rows)
      parts.push_back(row[i]);
    remember(result, std::move(parts));
  }
}

} // namespace tilery::cuda
