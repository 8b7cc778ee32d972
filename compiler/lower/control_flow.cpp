// scf and parallel regions: scalars in SSA form, carried tiles in their buffers.
#include "compiler/explain/findings.h"
#include "compiler/ir/hints.h"
#include "compiler/lower/element_loops.h"
#include "compiler/lower/loop.h"
#include "compiler/lower/unroll.h"

using namespace mlir;

namespace tilery::lower {
namespace {
bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }
} // namespace

SmallVector<llvm::Value *> KernelEmitter::forLoop(scf::ForOp op, ArrayRef<llvm::Value *> init,
                                                  llvm::function_ref<SmallVector<llvm::Value *>(ArrayRef<llvm::Value *>)> body) {
  auto &b = e.b;
  auto &scalars = evaluator.scalars;
  llvm::Value *from = evaluator.scalar(op.getLowerBound()), *to = evaluator.scalar(op.getUpperBound()),
              *step = evaluator.scalar(op.getStep());
  llvm::BasicBlock *head = newBlock("for"), *exit = newBlock();
  Loop loop(b, head, exit);
  auto runs = [&](llvm::Value *i) { return op.getUnsignedCmp() ? b.CreateICmpULT(i, to) : b.CreateICmpSLT(i, to); };
  SmallVector<llvm::Value *> initial;
  for (Value init : op.getInitArgs())
    initial.push_back(isTile(init) ? nullptr : evaluator.scalar(init));
  loop.enter(runs(from));
  llvm::PHINode *counter = loop.carry(from);
  scalars[op.getInductionVar()] = counter;
  for (auto [argument, init] : llvm::zip(op.getRegionIterArgs(), initial))
    if (init)
      scalars[argument] = loop.carry(init);
  SmallVector<llvm::Value *> carried;
  for (llvm::Value *value : init)
    carried.push_back(loop.carry(value));
  SmallVector<llvm::Value *> others = body(carried), next{nullptr};
  for (Value value : op.getBody()->getTerminator()->getOperands())
    if (!isTile(value))
      next.push_back(evaluator.scalar(value));
  next[0] = b.CreateAdd(counter, step);
  // The last step may leave the counter's range: then it went past `to`.
  llvm::Value *again = runs(next[0]);
  llvm::Value *grows = op.getUnsignedCmp() ? b.CreateICmpUGT(next[0], counter) : b.CreateICmpSGT(next[0], counter);
  next.append(others);
  llvm::Instruction *back = loop.repeat(next, b.CreateAnd(again, grows));
  if (std::optional<int64_t> rounds = tile::givenHint(op, "unroll"))
    unrollBy(back, *rounds);
  loop.leave();
  unsigned place = 1;
  for (auto [init, result] : llvm::zip(initial, op.getResults()))
    if (init)
      scalars[result] = loop.after(place++);
  SmallVector<llvm::Value *> last;
  for (size_t i = 0; i < carried.size(); ++i)
    last.push_back(loop.after(place++));
  return last;
}

bool KernelEmitter::forOp(scf::ForOp op) {
  if (plan.elementLoops.contains(op))
    return ElementLoop(*this, op).emit();
  if (!runsInThreads(op))
    explain::serialLoop(op);
  bool ok = true;
  forLoop(op, {}, [&](ArrayRef<llvm::Value *>) {
    ok = block(*op.getBody());
    return SmallVector<llvm::Value *>();
  });
  return ok;
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
  llvm::BasicBlock *head = newBlock("while"), *body = newBlock(), *exit = newBlock();
  Loop loop(b, head, exit);
  SmallVector<llvm::Value *> initial;
  for (Value init : op.getInits())
    initial.push_back(isTile(init) ? nullptr : evaluator.scalar(init));
  loop.enter();
  for (auto [argument, init] : llvm::zip(op.getBeforeArguments(), initial))
    if (init)
      scalars[argument] = loop.carry(init);
  if (!block(*op.getBeforeBody()))
    return false;
  scf::ConditionOp condition = op.getConditionOp();
  for (auto [value, argument, result] : llvm::zip(condition.getArgs(), op.getAfterArguments(), op.getResults()))
    if (!isTile(value))
      scalars[argument] = scalars[result] = evaluator.scalar(value);
  b.CreateCondBr(evaluator.scalar(condition.getCondition()), body, loop.exit);
  b.SetInsertPoint(body);
  if (!block(*op.getAfterBody()))
    return false;
  SmallVector<llvm::Value *> next;
  for (Value value : op.getYieldOp().getOperands())
    if (!isTile(value))
      next.push_back(evaluator.scalar(value));
  mayLeave();
  loop.repeat(next);
  loop.leave();
  return true;
}

bool KernelEmitter::parallelOp(tile::ParallelOp op) {
  explain::pointsOneByOne(op);
  Block &body = op.getBody().front();
  auto &b = e.b;
  std::function<bool(unsigned)> run = [&](unsigned d) {
    if (d == op.getExtents().size())
      return block(body);
    llvm::Value *extent = evaluator.scalar(op.getExtents()[d]);
    auto *zero = llvm::Constant::getNullValue(extent->getType());
    llvm::BasicBlock *head = newBlock("parallel"), *exit = newBlock();
    Loop loop(b, head, exit);
    loop.enter(b.CreateICmpSLT(zero, extent));
    llvm::PHINode *counter = loop.carry(zero);
    evaluator.scalars[body.getArgument(d)] = counter;
    if (!run(d + 1))
      return false;
    llvm::Value *next = b.CreateAdd(counter, llvm::ConstantInt::get(extent->getType(), 1));
    loop.repeat(next, b.CreateICmpSLT(next, extent));
    loop.leave();
    return true;
  };
  return run(0);
}

} // namespace tilery::lower
