// Lanes that lie in a few pieces of memory, each of neighbours.
#include "compiler/analysis/lane_runs.h"
#include "compiler/lower/evaluator.h"

using namespace mlir;

namespace tilery::lower {

// Those that follow the first lane, those that the last one follows, and of those in between the ones that lie highest.
SmallVector<LaneRun, 3> Evaluator::runsOf(llvm::Value *offsets, llvm::Value *&rest) {
  auto &b = e.b;
  llvm::Value *starts = b.CreateSub(offsets, e.iota(b.getInt64Ty(), state.lanes));
  SmallVector<LaneRun, 3> runs;
  rest = nullptr;
  auto add = [&](llvm::Value *start) {
    llvm::Value *follow = b.CreateICmpEQ(starts, e.splat(start, state.lanes));
    runs.push_back({rest ? b.CreateAnd(follow, rest) : follow, start});
    rest = rest ? b.CreateAnd(rest, b.CreateNot(follow)) : b.CreateNot(follow);
  };
  llvm::Value *first = b.CreateExtractElement(starts, uint64_t(0));
  add(first);
  add(b.CreateExtractElement(starts, uint64_t(state.lanes - 1)));
  add(b.CreateIntMaxReduce(b.CreateSelect(rest, starts, e.splat(first, state.lanes)), /*IsSigned=*/true));
  return runs;
}

llvm::Value *Evaluator::inRuns(Value steps, const Index &index) {
  Linear l = linear(steps, index);
  if (!l.lanes)
    return e.b.getTrue();
  llvm::Value *rest;
  runsOf(l.lanes, rest);
  return e.b.CreateNot(e.b.CreateOrReduce(rest));
}

std::pair<llvm::Value *, llvm::Value *> Evaluator::rowOf(const RunTable &table, const Index &index) {
  auto &b = e.b;
  llvm::Value *first = b.CreateMul(b.CreateUDiv(index.base, e.i64(state.lanes)), e.i64(3));
  return {b.CreateGEP(b.getIntNTy(state.lanes), table.masks, first), b.CreateGEP(b.getInt64Ty(), table.offsets, first)};
}

llvm::Value *Evaluator::inRuns(tile::AccessOp access, unsigned dim, const Index &index, const RunTable &table) {
  auto &b = e.b;
  Linear l = linear(access.getSteps()[dim], index);
  llvm::Value *lanes = l.lanes ? l.lanes : llvm::Constant::getNullValue(e.vectorOf(b.getInt64Ty(), state.lanes)), *rest;
  if (l.step)
    lanes = b.CreateAdd(lanes, b.CreateMul(e.iota(b.getInt64Ty(), state.lanes), e.splat(e.i64(l.step), state.lanes)));
  OperandRange bound = access.getBound(dim);
  llvm::Value *exists = bound.size() == 1 ? e.splat(value(bound[0], index), state.lanes) : nullptr;
  auto [masks, offsets] = rowOf(table, index);
  for (auto [i, run] : llvm::enumerate(runsOf(lanes, rest))) {
    llvm::Value *mask = exists ? b.CreateAnd(run.mask, exists) : run.mask;
    llvm::Type *bits = b.getIntNTy(state.lanes);
    b.CreateStore(b.CreateBitCast(mask, bits), b.CreateConstGEP1_64(bits, masks, i));
    b.CreateStore(b.CreateAdd(run.offset, l.base), b.CreateConstGEP1_64(b.getInt64Ty(), offsets, i));
  }
  return b.CreateNot(b.CreateOrReduce(rest));
}

bool Evaluator::mayRun(Value steps, Type element, unsigned lanes) const {
  unsigned narrowest = e.options.target.machine.maskedBits;
  return narrowest && elementBytes(element) * 8 >= narrowest && analysis::laneRun(steps) >= std::max(lanes / 2, 2u);
}

} // namespace tilery::lower
