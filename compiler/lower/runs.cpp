#include "compiler/lower/runs.h"
#include "compiler/analysis/lane_runs.h"

using namespace mlir;

namespace tilery::lower {

// Those that follow the first lane, those that the last one follows, and of those in between the ones that lie highest.
SmallVector<LaneRun, 3> runsOf(Emitter &e, unsigned width, llvm::Value *offsets, llvm::Value *&rest) {
  auto &b = e.b;
  llvm::Value *starts = b.CreateSub(offsets, e.iota(b.getInt64Ty(), width));
  SmallVector<LaneRun, 3> runs;
  rest = nullptr;
  auto add = [&](llvm::Value *start) {
    llvm::Value *follow = b.CreateICmpEQ(starts, e.splat(start, width));
    runs.push_back({rest ? b.CreateAnd(follow, rest) : follow, start});
    rest = rest ? b.CreateAnd(rest, b.CreateNot(follow)) : b.CreateNot(follow);
  };
  llvm::Value *first = b.CreateExtractElement(starts, uint64_t(0));
  add(first);
  add(b.CreateExtractElement(starts, uint64_t(width - 1)));
  add(b.CreateIntMaxReduce(b.CreateSelect(rest, starts, e.splat(first, width)), /*IsSigned=*/true));
  return runs;
}

llvm::Value *areInRuns(Evaluator &ev, Value steps, const Index &index) {
  Emitter &e = ev.e;
  Linear l = ev.linear(steps, index);
  if (!l.lanes)
    return e.b.getTrue();
  llvm::Value *rest;
  runsOf(e, ev.width(), l.lanes, rest);
  return e.b.CreateNot(e.b.CreateOrReduce(rest));
}

/// Pointers to the masks and offsets of the vector at `index`.
static std::pair<llvm::Value *, llvm::Value *> rowOf(Evaluator &ev, const RunTable &table, const Index &index) {
  Emitter &e = ev.e;
  auto &b = e.b;
  llvm::Value *first = b.CreateMul(b.CreateUDiv(index.base, e.i64(ev.width())), e.i64(3));
  return {b.CreateGEP(b.getIntNTy(ev.width()), table.masks, first), b.CreateGEP(b.getInt64Ty(), table.offsets, first)};
}

SmallVector<LaneRun, 3> runsIn(Evaluator &ev, const RunTable &table, const Index &index) {
  Emitter &e = ev.e;
  auto &b = e.b;
  auto [masks, offsets] = rowOf(ev, table, index);
  llvm::Type *bits = b.getIntNTy(ev.width());
  SmallVector<LaneRun, 3> runs;
  for (unsigned i = 0; i < 3; ++i)
    runs.push_back(
        {b.CreateBitCast(b.CreateLoad(bits, b.CreateConstGEP1_64(bits, masks, i)), e.vectorOf(b.getInt1Ty(), ev.width())),
         b.CreateLoad(b.getInt64Ty(), b.CreateConstGEP1_64(b.getInt64Ty(), offsets, i))});
  return runs;
}

llvm::Value *fillTable(Evaluator &ev, tile::AccessOp access, unsigned dim, const Index &index, const RunTable &table) {
  Emitter &e = ev.e;
  auto &b = e.b;
  Linear l = ev.linear(access.getSteps()[dim], index);
  llvm::Value *lanes = l.lanes ? l.lanes : llvm::Constant::getNullValue(e.vectorOf(b.getInt64Ty(), ev.width())), *rest;
  if (l.step)
    lanes = b.CreateAdd(lanes, b.CreateMul(e.iota(b.getInt64Ty(), ev.width()), e.splat(e.i64(l.step), ev.width())));
  OperandRange bound = access.getBound(dim);
  llvm::Value *exists = bound.size() == 1 ? e.splat(ev.value(bound[0], index), ev.width()) : nullptr;
  auto [masks, offsets] = rowOf(ev, table, index);
  for (auto [i, run] : llvm::enumerate(runsOf(e, ev.width(), lanes, rest))) {
    llvm::Value *mask = exists ? b.CreateAnd(run.mask, exists) : run.mask;
    llvm::Type *bits = b.getIntNTy(ev.width());
    b.CreateStore(b.CreateBitCast(mask, bits), b.CreateConstGEP1_64(bits, masks, i));
    b.CreateStore(b.CreateAdd(run.offset, l.base), b.CreateConstGEP1_64(b.getInt64Ty(), offsets, i));
  }
  return b.CreateNot(b.CreateOrReduce(rest));
}

bool mayRun(const Emitter &e, Value steps, Type element, unsigned lanes) {
  unsigned narrowest = e.options.target.machine.maskedBits;
  return narrowest && elementBytes(element) * 8 >= narrowest && analysis::laneRun(steps) >= std::max(lanes / 2, 2u);
}

} // namespace tilery::lower
