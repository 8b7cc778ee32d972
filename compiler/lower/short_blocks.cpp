#include "compiler/lower/short_blocks.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/Pass.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace tilery::lower {
namespace {
// Instructions: selection of a block of 47,000 took 2.5 s, of 24,000 0.7 s.
constexpr unsigned longest = 1000;

struct ShortBlocks : llvm::FunctionPass {
  static char ID;
  ShortBlocks() : FunctionPass(ID) {}
  llvm::StringRef getPassName() const override { return "Short blocks"; }
  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override { usage.setPreservesAll(); }

  bool runOnFunction(llvm::Function &function) override {
    auto *dominators = getAnalysisIfAvailable<llvm::DominatorTreeWrapperPass>();
    auto *loops = getAnalysisIfAvailable<llvm::LoopInfoWrapperPass>();
    bool changed = false;
    for (llvm::BasicBlock &block : llvm::make_early_inc_range(function)) {
      llvm::SmallVector<llvm::Instruction *> cuts;
      unsigned length = 0;
      for (llvm::Instruction &instruction : block)
        if (++length == longest && !llvm::isa<llvm::PHINode>(instruction)) {
          cuts.push_back(&instruction);
          length = 0;
        }
      for (llvm::Instruction *cut : llvm::reverse(cuts)) // from the end: each moves what is behind it
        llvm::SplitBlock(&block, cut, dominators ? &dominators->getDomTree() : nullptr, loops ? &loops->getLoopInfo() : nullptr);
      changed |= !cuts.empty();
    }
    return changed;
  }
};
char ShortBlocks::ID;
} // namespace

llvm::FunctionPass *createShortBlocks() { return new ShortBlocks; }

} // namespace tilery::lower
