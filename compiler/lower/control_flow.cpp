// scf and parallel regions: scalars in SSA form, carried tiles in their buffers.
#include "compiler/lower/codegen.h"

using namespace mlir;

namespace tilery::lower {
namespace {
bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }
} // namespace

bool KernelEmitter::forOp(scf::ForOp op) {
  auto &b = e.b;
  auto &scalars = evaluator.scalars;
  llvm::Value *from = evaluator.scalar(op.getLowerBound()), *to = evaluator.scalar(op.getUpperBound()),
              *step = evaluator.scalar(op.getStep());
  llvm::BasicBlock *before = b.GetInsertBlock(), *body = newBlock("for"), *exit = newBlock();
  auto runs = [&](llvm::Value *i) { return op.getUnsignedCmp() ? b.CreateICmpULT(i, to) : b.CreateICmpSLT(i, to); };
  SmallVector<llvm::Value *> initial;
  for (Value init : op.getInitArgs())
    initial.push_back(isTile(init) ? nullptr : evaluator.scalar(init));
  b.CreateCondBr(runs(from), body, exit);

  b.SetInsertPoint(body);
  llvm::PHINode *counter = b.CreatePHI(from->getType(), 2);
  counter->addIncoming(from, before);
  scalars[op.getInductionVar()] = counter;
  SmallVector<llvm::PHINode *> phis;
  for (auto [argument, init] : llvm::zip(op.getRegionIterArgs(), initial)) {
    phis.push_back(init ? b.CreatePHI(init->getType(), 2) : nullptr);
    if (!init)
      continue;
    phis.back()->addIncoming(init, before);
    scalars[argument] = phis.back();
  }
  if (!block(*op.getBody()))
    return false;
  SmallVector<llvm::Value *> yielded;
  for (Value value : op.getBody()->getTerminator()->getOperands())
    yielded.push_back(isTile(value) ? nullptr : evaluator.scalar(value));
  llvm::Value *next = b.CreateAdd(counter, step);
  llvm::BasicBlock *latch = b.GetInsertBlock();
  // The last step may leave the counter's range: then it went past `to`.
  llvm::Value *more =
      b.CreateAnd(runs(next), op.getUnsignedCmp() ? b.CreateICmpUGT(next, counter) : b.CreateICmpSGT(next, counter));
  b.CreateCondBr(more, body, exit);
  counter->addIncoming(next, latch);
  b.SetInsertPoint(exit);
  for (auto [phi, init, value, result] : llvm::zip(phis, initial, yielded, op.getResults())) {
    if (!phi)
      continue;
    phi->addIncoming(value, latch);
    llvm::PHINode *merged = b.CreatePHI(value->getType(), 2);
    merged->addIncoming(init, before);
    merged->addIncoming(value, latch);
    scalars[result] = merged;
  }
  return true;
}

bool KernelEmitter::ifOp(scf::IfOp op) {
  auto &b = e.b;
  llvm::BasicBlock *after = newBlock(), *yes = newBlock(), *no = op.elseBlock() ? newBlock() : after;
  b.CreateCondBr(evaluator.scalar(op.getCondition()), yes, no);
  SmallVector<llvm::PHINode *> phis;
  {
    llvm::IRBuilderBase::InsertPointGuard guard(b);
    b.SetInsertPoint(after);
    for (Value result : op.getResults())
      phis.push_back(isTile(result) ? nullptr : b.CreatePHI(e.valueType(result.getType()), 2));
  }
  auto side = [&](Block *region, llvm::BasicBlock *start) {
    b.SetInsertPoint(start);
    if (!block(*region))
      return false;
    for (auto [phi, value] : llvm::zip(phis, region->getTerminator()->getOperands()))
      if (phi)
        phi->addIncoming(evaluator.scalar(value), b.GetInsertBlock());
    b.CreateBr(after);
    return true;
  };
  if (!side(op.thenBlock(), yes) || (op.elseBlock() && !side(op.elseBlock(), no)))
    return false;
  b.SetInsertPoint(after);
  for (auto [phi, result] : llvm::zip(phis, op.getResults()))
    if (phi)
      evaluator.scalars[result] = phi;
  return true;
}

bool KernelEmitter::whileOp(scf::WhileOp op) {
  auto &b = e.b;
  auto &scalars = evaluator.scalars;
  llvm::BasicBlock *entry = b.GetInsertBlock(), *head = newBlock("while"), *body = newBlock(), *exit = newBlock();
  SmallVector<llvm::Value *> initial;
  for (Value init : op.getInits())
    initial.push_back(isTile(init) ? nullptr : evaluator.scalar(init));
  b.CreateBr(head);
  b.SetInsertPoint(head);
  SmallVector<llvm::PHINode *> phis;
  for (auto [argument, init] : llvm::zip(op.getBeforeArguments(), initial)) {
    phis.push_back(init ? b.CreatePHI(init->getType(), 2) : nullptr);
    if (!init)
      continue;
    phis.back()->addIncoming(init, entry);
    scalars[argument] = phis.back();
  }
  if (!block(*op.getBeforeBody()))
    return false;
  scf::ConditionOp condition = op.getConditionOp();
  for (auto [value, argument, result] : llvm::zip(condition.getArgs(), op.getAfterArguments(), op.getResults()))
    if (!isTile(value))
      scalars[argument] = scalars[result] = evaluator.scalar(value);
  b.CreateCondBr(evaluator.scalar(condition.getCondition()), body, exit);
  b.SetInsertPoint(body);
  if (!block(*op.getAfterBody()))
    return false;
  for (auto [phi, value] : llvm::zip(phis, op.getYieldOp().getOperands()))
    if (phi)
      phi->addIncoming(evaluator.scalar(value), b.GetInsertBlock());
  b.CreateBr(head);
  b.SetInsertPoint(exit);
  return true;
}

bool KernelEmitter::parallelOp(tile::ParallelOp op) {
  Block &body = op.getBody().front();
  auto &b = e.b;
  std::function<bool(unsigned)> run = [&](unsigned d) {
    if (d == op.getExtents().size())
      return block(body);
    llvm::Value *extent = evaluator.scalar(op.getExtents()[d]);
    auto *zero = llvm::Constant::getNullValue(extent->getType());
    llvm::BasicBlock *before = b.GetInsertBlock(), *start = newBlock("parallel"), *exit = newBlock();
    b.CreateCondBr(b.CreateICmpSLT(zero, extent), start, exit);
    b.SetInsertPoint(start);
    llvm::PHINode *counter = b.CreatePHI(extent->getType(), 2);
    counter->addIncoming(zero, before);
    evaluator.scalars[body.getArgument(d)] = counter;
    if (!run(d + 1))
      return false;
    llvm::Value *next = b.CreateAdd(counter, llvm::ConstantInt::get(extent->getType(), 1));
    counter->addIncoming(next, b.GetInsertBlock());
    b.CreateCondBr(b.CreateICmpSLT(next, extent), start, exit);
    b.SetInsertPoint(exit);
    return true;
  };
  return run(0);
}

} // namespace tilery::lower
