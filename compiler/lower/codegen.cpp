#include "compiler/lower/codegen.h"
#include "compiler/lower/pull.h"
#include "llvm/IR/MDBuilder.h"

using namespace mlir;

namespace tilery::lower {

KernelEmitter::KernelEmitter(Emitter &e, tile::KernelOp kernel, const Plan &plan, ThreadModel *threads)
    : e(e), plan(plan), evaluator(e, plan, threads), nests(evaluator), kernel(kernel) {}

llvm::BasicBlock *KernelEmitter::newBlock(const char *name) { return llvm::BasicBlock::Create(e.context(), name, function); }

// Every pointer argument and the scratch arena are alias classes of their own; arguments are apart from each other if the launch says so.
void KernelEmitter::makeScopes() {
  llvm::MDBuilder md(e.context());
  llvm::MDNode *domain = md.createAnonymousAliasScopeDomain(kernel.getName());
  SmallVector<const void *> members{nullptr};
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (isa<tile::PtrType>(argument.getType()))
      members.push_back(argument.getAsOpaquePointer());
  SmallVector<llvm::Metadata *> scopes;
  for (size_t i = 0; i < members.size(); ++i)
    scopes.push_back(md.createAnonymousAliasScope(domain));
  for (size_t i = 0; i < members.size(); ++i) {
    SmallVector<llvm::Metadata *> others;
    for (size_t j = 0; j < members.size(); ++j)
      if (i != j && (e.options.disjoint || i == 0 || j == 0))
        others.push_back(scopes[j]);
    evaluator.addresses.aliasScopes[members[i]] = {llvm::MDNode::get(e.context(), {scopes[i]}),
                                                   llvm::MDNode::get(e.context(), others)};
  }
}

bool KernelEmitter::block(Block &block) {
  for (auto *list : {&plan.steps, &plan.copies})
    if (auto found = list->find(&block); found != list->end() && !steps(found->second))
      return false;
  return true;
}

bool KernelEmitter::steps(const std::vector<Step> &list) {
  for (const Step &step : list) {
    if (step.op) {
      if (!inits(step.op) || !op(step.op))
        return false;
    } else {
      llvm::Value *done = step.nest.sinks.size() == 1 ? written.lookup(step.nest.sinks[0].op) : nullptr;
      bool ok = true;
      when(done ? e.b.CreateNot(done) : nullptr, [&] { ok = nest(step.nest); });
      if (!ok)
        return false;
    }
  }
  return !evaluator.failed;
}

bool KernelEmitter::inits(Operation *op) {
  auto found = plan.inits.find(op);
  return found == plan.inits.end() || plan.elementLoops.contains(op) || steps(found->second);
}

void KernelEmitter::forEach(ArrayRef<int64_t> shape, llvm::function_ref<void(ArrayRef<Index>)> body) {
  Evaluator::Body scope(evaluator);
  Point point(shape.size(), evaluator.indices.constant(0));
  std::function<void(unsigned)> run = [&](unsigned d) {
    if (d == shape.size())
      return body(point);
    if (shape[d] == 1)
      return run(d + 1);
    nests.loop(e.i64(0), e.i64(shape[d]), 1, false, {}, [&](llvm::Value *i, ArrayRef<Lanes>) {
      point[d] = Index{i, 0, nullptr, evaluator.levels.current()};
      run(d + 1);
      return SmallVector<Lanes>();
    });
    point[d] = evaluator.indices.constant(0);
  };
  run(0);
}

void KernelEmitter::when(llvm::Value *condition, llvm::function_ref<void()> then) {
  if (!condition)
    return then();
  llvm::BasicBlock *yes = newBlock(), *after = newBlock();
  e.b.CreateCondBr(condition, yes, after);
  e.b.SetInsertPoint(yes);
  then();
  e.b.CreateBr(after);
  e.b.SetInsertPoint(after);
}

bool KernelEmitter::op(Operation *op) {
  e.at(op->getLoc());
  auto &scalars = evaluator.scalars;
  Evaluator::Body scope(evaluator);
  bool ok = true;
  llvm::TypeSwitch<Operation *>(op)
      .Case<arith::ConstantOp, ub::PoisonOp, tile::AllocOp>([](auto) {})
      .Case([&](tile::ProgramIdOp op) { scalars[op] = pid[op.getAxis()]; })
      .Case([&](tile::NumProgramsOp op) { scalars[op] = grid[op.getAxis()]; })
      .Case([&](tile::LoadOp op) { loadOp(op); })
      .Case([&](tile::StoreOp op) { storeOp(op); })
      .Case([&](tile::BufferLoadOp op) { bufferLoadOp(op); })
      .Case([&](tile::BufferStoreOp op) { bufferStoreOp(op); })
      .Case([&](tile::ElementLoadOp op) { elementLoadOp(op); })
      .Case([&](tile::ElementStoreOp op) { elementStoreOp(op); })
      .Case([&](tile::ElementUpdateOp op) { elementUpdateOp(op); })
      .Case([&](tile::AtomicRmwOp op) { atomicRmwOp(op); })
      .Case([&](tile::AtomicCasOp op) { atomicCasOp(op); })
      .Case([&](tile::ReshapeOp op) { // a tile of one lane becomes a scalar
        scalars[op] =
            evaluator.value(op.getValue(), Point(tile::shapeOf(op.getValue().getType()).size(), evaluator.indices.constant(0)));
      })
      .Case([&](tile::SplitOp op) {
        scalars[op.getLhs()] = evaluator.value(op.getValue(), {evaluator.indices.constant(0)});
        scalars[op.getRhs()] = evaluator.value(op.getValue(), {evaluator.indices.constant(1)});
      })
      .Case([&](tile::ExtractOp op) { extractOp(op); })
      .Case([&](tile::ScanOp op) { scanOp(op); })
      .Case([&](tile::SortOp op) { sortOp(op); })
      .Case([&](tile::HistogramOp op) { histogramOp(op); })
      .Case([&](tile::PrintOp op) { printOp(op); })
      .Case([&](tile::AssertOp op) { assertOp(op); })
      .Case<tile::DotOp, tile::ContractOp>([&](Operation *op) { dotOp(op); })
      .Case([&](scf::ForOp op) { ok = forOp(op); })
      .Case([&](scf::IfOp op) { ok = ifOp(op); })
      .Case([&](scf::WhileOp op) { ok = whileOp(op); })
      .Case([&](tile::ParallelOp op) { ok = parallelOp(op); })
      .Default([&](Operation *op) {
        if (targetOp(op))
          return;
        if (!isElementwise(op))
          return refuse(op);
        SmallVector<Lanes> operands;
        for (Value operand : op->getOperands())
          operands.push_back(evaluator.scalar(operand));
        Lanes result = isa<tile::AddPtrOp>(op)
                           ? e.b.CreateGEP(e.memoryType(cast<tile::PtrType>(op->getResult(0).getType()).getPointee()),
                                           operands[0], evaluator.wide(op->getOperand(1)))
                           : emitElementwise(e, op, operands);
        ok = result != nullptr;
        scalars[op->getResult(0)] = result;
      });
  return ok && !evaluator.failed;
}

void KernelEmitter::refuse(Operation *op) {
  op->emitError() << e.options.target.name << " cannot run " << op->getName().getStringRef() << " yet";
  evaluator.failed = true;
}

} // namespace tilery::lower
