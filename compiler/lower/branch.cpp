#include "compiler/lower/branch.h"

namespace tilery::lower {

static llvm::BasicBlock *newBlock(llvm::IRBuilderBase &b, const char *name) {
  return llvm::BasicBlock::Create(b.getContext(), name, b.GetInsertBlock()->getParent());
}

static Values merged(llvm::IRBuilderBase &b, llvm::ArrayRef<llvm::Value *> some, llvm::BasicBlock *from,
                     llvm::ArrayRef<llvm::Value *> others, llvm::BasicBlock *otherwiseFrom) {
  Values results;
  for (auto [value, other] : llvm::zip_equal(some, others)) {
    llvm::PHINode *phi = b.CreatePHI(value->getType(), 2);
    phi->addIncoming(value, from);
    phi->addIncoming(other, otherwiseFrom);
    results.push_back(phi);
  }
  return results;
}

void emitIf(llvm::IRBuilderBase &b, llvm::Value *condition, llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise) {
  llvm::BasicBlock *yes = newBlock(b, "then"), *no = newBlock(b, "else"), *join = newBlock(b, "join");
  b.CreateCondBr(condition, yes, no);
  b.SetInsertPoint(yes);
  then();
  b.CreateBr(join);
  b.SetInsertPoint(no);
  otherwise();
  b.CreateBr(join);
  b.SetInsertPoint(join);
}

Values emitEither(llvm::IRBuilderBase &b, llvm::Value *condition, llvm::function_ref<Values()> yes,
                  llvm::function_ref<Values()> no) {
  Values values[2];
  llvm::BasicBlock *ends[2];
  auto side = [&](unsigned which, llvm::function_ref<Values()> emit) {
    values[which] = emit();
    ends[which] = b.GetInsertBlock();
  };
  emitIf(b, condition, [&] { side(0, yes); }, [&] { side(1, no); });
  return merged(b, values[0], ends[0], values[1], ends[1]);
}

/// `branch` ends the current block, into one of the two.
static Values emitAside(llvm::IRBuilderBase &b, llvm::ArrayRef<llvm::Value *> usual, llvm::function_ref<Values()> rare,
                        llvm::function_ref<void(llvm::BasicBlock *slow, llvm::BasicBlock *join)> branch) {
  llvm::BasicBlock *before = b.GetInsertBlock(), *slow = newBlock(b, "rare"), *join = newBlock(b, "join");
  branch(slow, join);
  b.SetInsertPoint(slow);
  Values others = rare();
  llvm::BasicBlock *end = b.GetInsertBlock();
  b.CreateBr(join);
  b.SetInsertPoint(join);
  return merged(b, usual, before, others, end);
}

Values emitUnless(llvm::IRBuilderBase &b, llvm::Value *isUsual, llvm::ArrayRef<llvm::Value *> usual,
                  llvm::function_ref<Values()> rare) {
  return emitAside(b, usual, rare, [&](llvm::BasicBlock *slow, llvm::BasicBlock *join) { b.CreateCondBr(isUsual, join, slow); });
}

Values emitWhere(llvm::IRBuilderBase &b, llvm::Value *isRare, llvm::ArrayRef<llvm::Value *> usual,
                 llvm::function_ref<Values()> rare) {
  return emitAside(b, usual, rare, [&](llvm::BasicBlock *slow, llvm::BasicBlock *join) { b.CreateCondBr(isRare, slow, join); });
}

} // namespace tilery::lower
