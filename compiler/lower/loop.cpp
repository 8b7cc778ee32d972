#include "compiler/lower/loop.h"

namespace tilery::lower {

llvm::Instruction *Loop::enter(llvm::Value *runs) {
  before = b.GetInsertBlock();
  llvm::Instruction *branch = runs ? b.CreateCondBr(runs, head, exit) : b.CreateBr(head);
  b.SetInsertPoint(head);
  return branch;
}

llvm::PHINode *Loop::carry(llvm::Value *init) {
  llvm::PHINode *phi = b.CreatePHI(init->getType(), 2);
  phi->addIncoming(init, before);
  carried.push_back(phi);
  return phi;
}

void Loop::close(llvm::ArrayRef<llvm::Value *> next) {
  for (auto [phi, value] : llvm::zip_equal(carried, next))
    phi->addIncoming(value, b.GetInsertBlock());
}

llvm::Instruction *Loop::repeat(llvm::ArrayRef<llvm::Value *> next, llvm::Value *again) {
  close(next);
  return again ? b.CreateCondBr(again, head, exit) : b.CreateBr(head);
}

void Loop::repeatUnless(llvm::Value *done, llvm::ArrayRef<llvm::Value *> next) {
  close(next);
  b.CreateCondBr(done, exit, head);
}

llvm::PHINode *Loop::after(unsigned i) {
  llvm::PHINode *phi = b.CreatePHI(carried[i]->getType(), 2);
  phi->addIncoming(carried[i]->getIncomingValue(0), before);
  phi->addIncoming(carried[i]->getIncomingValue(1), carried[i]->getIncomingBlock(1));
  return phi;
}

} // namespace tilery::lower
