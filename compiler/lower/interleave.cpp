// Which loops compute several vectors side by side, and how their code is mixed.
#include "compiler/lower/interleave.h"
#include "compiler/lower/math.h"

using namespace mlir;

namespace tilery::lower {

unsigned vectorsSideBySide(ArrayRef<Operation *> reached, const Machine &machine) {
  if (llvm::none_of(reached, isInlineMath))
    return 1;
  return machine.vectorRegisters > 16 ? 4 : 2; // more would be spilled
}

void emitInterleaved(llvm::IRBuilder<> &b, unsigned count, llvm::function_ref<void(unsigned)> part) {
  llvm::BasicBlock *block = b.GetInsertBlock();
  assert(b.GetInsertPoint() == block->end() && "code is appended");
  SmallVector<SmallVector<llvm::Instruction *>> parts(count);
  for (unsigned i = 0; i < count; ++i) {
    llvm::Instruction *before = block->empty() ? nullptr : &block->back();
    part(i);
    if (b.GetInsertBlock() != block) { // it has control flow of its own
      for (unsigned rest = i + 1; rest < count; ++rest)
        part(rest);
      return;
    }
    for (auto at = before ? std::next(before->getIterator()) : block->begin(); at != block->end(); ++at)
      parts[i].push_back(&*at);
  }
  size_t longest = 0;
  for (const auto &instructions : parts)
    longest = std::max(longest, instructions.size());
  for (size_t k = 0; k < longest; ++k)
    for (const auto &instructions : parts)
      if (k < instructions.size())
        instructions[k]->moveBefore(*block, block->end());
}

} // namespace tilery::lower
