#include "compiler/targets/cuda/ptx/drop_barriers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstrTypes.h"

namespace tilery::cuda {
namespace {
bool isBarrier(const llvm::Instruction &instruction) {
  auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  auto *assembly = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
  return assembly && assembly->getAsmString() == "bar.sync 0;";
}

/// Memory that others see. What only exchanges registers within a warp touches none.
bool touchesMemory(const llvm::Instruction &instruction) {
  auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (call && call->getMemoryEffects().onlyAccessesInaccessibleMem())
    return false;
  return instruction.mayReadOrWriteMemory() || instruction.mayHaveSideEffects();
}

/// One way through a function's blocks: whether a barrier comes before (or after) each place with no access of memory in between.
class Flow {
public:
  Flow(llvm::Function &function, bool forward) : forward(forward) {
    llvm::ReversePostOrderTraversal<llvm::Function *> order(&function);
    blocks.assign(order.begin(), order.end());
    if (!forward)
      std::reverse(blocks.begin(), blocks.end());
    for (llvm::BasicBlock *block : blocks)
      leaves[block] = true; // until it is known better
    for (bool changed = true; changed;) {
      changed = false;
      for (llvm::BasicBlock *block : blocks) {
        bool clean = enters(*block);
        walk(*block, [&](llvm::Instruction &instruction) { clean = after(instruction, clean); });
        changed |= std::exchange(leaves[block], clean) != clean;
      }
    }
  }

  llvm::SmallVector<llvm::Instruction *> redundant() {
    llvm::SmallVector<llvm::Instruction *> found;
    for (llvm::BasicBlock *block : blocks) {
      bool clean = enters(*block);
      walk(*block, [&](llvm::Instruction &instruction) {
        if (clean && isBarrier(instruction))
          found.push_back(&instruction);
        clean = after(instruction, clean);
      });
    }
    return found;
  }

private:
  static bool after(const llvm::Instruction &instruction, bool clean) {
    return isBarrier(instruction) || (clean && !touchesMemory(instruction));
  }

  void walk(llvm::BasicBlock &block, llvm::function_ref<void(llvm::Instruction &)> visit) {
    if (forward)
      for (llvm::Instruction &instruction : block)
        visit(instruction);
    else
      for (llvm::Instruction &instruction : llvm::reverse(block))
        visit(instruction);
  }

  bool enters(llvm::BasicBlock &block) {
    bool any = false, all = true;
    auto add = [&](llvm::BasicBlock *neighbour) {
      auto found = leaves.find(neighbour);
      if (found == leaves.end())
        return; // nobody comes from there
      any = true;
      all &= found->second;
    };
    if (forward)
      llvm::for_each(llvm::predecessors(&block), add);
    else
      llvm::for_each(llvm::successors(&block), add);
    return any && all;
  }

  bool forward;
  std::vector<llvm::BasicBlock *> blocks;
  llvm::DenseMap<llvm::BasicBlock *, bool> leaves;
};
} // namespace

// Those of inner loops first: where one of two may go, it is the one that comes more often.
llvm::PreservedAnalyses DropBarriersPass::run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses) {
  const llvm::LoopInfo &loops = analyses.getResult<llvm::LoopAnalysis>(function);
  bool changed = false;
  while (true) {
    llvm::SmallVector<llvm::Instruction *> ways[] = {Flow(function, true).redundant(), Flow(function, false).redundant()};
    auto depthOf = [&](llvm::Instruction *barrier) { return loops.getLoopDepth(barrier->getParent()); };
    unsigned depth = 0;
    for (auto &found : ways)
      for (llvm::Instruction *barrier : found)
        depth = std::max(depth, depthOf(barrier));
    auto isInner = [&](llvm::Instruction *barrier) { return depthOf(barrier) == depth; };
    auto &chosen = llvm::any_of(ways[0], isInner) ? ways[0] : ways[1];
    if (chosen.empty())
      break;
    for (llvm::Instruction *barrier : llvm::make_filter_range(chosen, isInner))
      barrier->eraseFromParent();
    changed = true;
  }
  if (!changed)
    return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

} // namespace tilery::cuda
