#include "compiler/lower/loop_levels.h"

using namespace mlir;

namespace tilery::lower {

Key keyOf(Value tile, ArrayRef<Index> point) {
  Key key{tile.getAsOpaquePointer(), {}};
  for (const Index &index : point)
    key.second.push_back({index.base, index.step, index.lanes});
  return key;
}

void LoopLevels::enter(llvm::Instruction *preheaderEnd) {
  levels.back().preheaderEnd = preheaderEnd;
  levels.emplace_back();
}

void LoopLevels::leave() {
  levels.pop_back();
  levels.back().preheaderEnd = nullptr;
}

LoopLevels::Memo &LoopLevels::memoAt(ArrayRef<Index> point) {
  return llvm::any_of(point, [](const Index &index) { return index.owned; }) ? owned : levels[levelOf(point)].memo;
}

AtLevel::AtLevel(LoopLevels &levels, unsigned level) : b(levels.b), moved(levels.levels[level].preheaderEnd) {
  if (!moved)
    return;
  block = b.GetInsertBlock();
  if (b.GetInsertPoint() != block->end())
    instruction = &*b.GetInsertPoint();
  b.SetInsertPoint(levels.levels[level].preheaderEnd);
}

AtLevel::~AtLevel() {
  if (moved && instruction)
    b.SetInsertPoint(instruction);
  else if (moved)
    b.SetInsertPoint(block);
}

} // namespace tilery::lower
