#include "compiler/lower/unroll.h"
#include "compiler/ir/hints.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tilery::lower {
namespace {
constexpr const char *rounds = "llvm.loop.unroll.count", *disable = "llvm.loop.unroll.disable";

void annotate(llvm::Instruction *again, llvm::ArrayRef<llvm::Metadata *> property) {
  llvm::LLVMContext &context = again->getContext();
  auto *loop = llvm::MDNode::getDistinct(context, {nullptr, llvm::MDNode::get(context, property)});
  loop->replaceOperandWith(0, loop);
  again->setMetadata(llvm::LLVMContext::MD_loop, loop);
}

/// The loops for which unrollBy asks. (LLVM leaves its words at branches that no longer go back, too.)
size_t countLoops(llvm::Module &module, llvm::function_ref<void(llvm::Loop &)> each) {
  auto asks = [](llvm::MDNode *loop) { return loop && llvm::findOptionMDForLoopID(loop, rounds); };
  size_t count = 0;
  for (llvm::Function &function : module) {
    if (llvm::none_of(function, [&](llvm::BasicBlock &block) {
          return asks(block.getTerminator()->getMetadata(llvm::LLVMContext::MD_loop));
        }))
      continue;
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    for (llvm::Loop *loop : loops.getLoopsInPreorder())
      if (asks(loop->getLoopID())) {
        each(*loop);
        ++count;
      }
  }
  return count;
}

/// What a round leaves to the next one, in a register or in memory, is not contracted with what that one does.
void keepRoundings(llvm::Loop &loop) {
  auto fence = [](llvm::Instruction *user, unsigned operand, llvm::Instruction *before) {
    auto *product = llvm::dyn_cast<llvm::Instruction>(user->getOperand(operand));
    if (product && product->getOpcode() == llvm::Instruction::FMul)
      user->setOperand(operand, llvm::IRBuilder<>(before).CreateArithmeticFence(product, product->getType()));
  };
  for (llvm::PHINode &carried : loop.getHeader()->phis())
    for (unsigned i = 0; i < carried.getNumIncomingValues(); ++i)
      if (loop.contains(carried.getIncomingBlock(i)))
        fence(&carried, i, carried.getIncomingBlock(i)->getTerminator());
  for (llvm::BasicBlock *block : loop.blocks())
    for (llvm::Instruction &instruction : *block) {
      auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (llvm::isa<llvm::StoreInst>(instruction) || (call && call->getIntrinsicID() == llvm::Intrinsic::masked_store))
        fence(&instruction, 0, &instruction);
    }
}
} // namespace

void unrollBy(llvm::Instruction *again, int64_t by) {
  llvm::LLVMContext &context = again->getContext();
  int64_t most = std::min<int64_t>(by, std::numeric_limits<int32_t>::max());
  auto *number = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), most);
  annotate(again, {llvm::MDString::get(context, rounds), llvm::ConstantAsMetadata::get(number)});
}

void neverUnroll(llvm::Instruction *again) { annotate(again, {llvm::MDString::get(again->getContext(), disable)}); }

void neverHoist(llvm::Instruction *again) { annotate(again, {llvm::MDString::get(again->getContext(), "llvm.licm.disable")}); }

LoopsToUnroll::LoopsToUnroll(llvm::Module &module) : module(module), count(countLoops(module, keepRoundings)) {}

void LoopsToUnroll::done() const {
  if (count && countLoops(module, [](llvm::Loop &) {}) < count)
    tile::heedHint("unroll");
}

} // namespace tilery::lower
