// Which loops compute several vectors side by side, and how their code is mixed.
#include "compiler/lower/interleave.h"
#include "compiler/lower/math.h"
#include <functional>

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
  // A part takes what an earlier one has computed for all of them: whatever it is, that comes first.
  llvm::DenseMap<llvm::Instruction *, unsigned> waiting;
  for (auto [number, instructions] : llvm::enumerate(parts))
    for (llvm::Instruction *instruction : instructions)
      waiting[instruction] = number;
  SmallVector<size_t> done(count, 0);
  std::function<void(unsigned)> placeNext = [&](unsigned number) {
    llvm::Instruction *instruction = parts[number][done[number]++];
    for (llvm::Value *operand : instruction->operands())
      if (auto *needed = llvm::dyn_cast<llvm::Instruction>(operand))
        for (auto found = waiting.find(needed); found != waiting.end(); found = waiting.find(needed))
          placeNext(found->second);
    instruction->moveBefore(*block, block->end());
    waiting.erase(instruction);
  };
  while (!waiting.empty())
    for (unsigned number = 0; number < count; ++number)
      if (done[number] < parts[number].size())
        placeNext(number);
}

} // namespace tilery::lower
