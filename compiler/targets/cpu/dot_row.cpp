// A product of one row. Each element of B is used once: it is multiplied where it is read, with no panel in between.
#include "compiler/lower/loop.h"
#include "compiler/targets/cpu/dot_emitter.h"
#include "compiler/targets/cpu/dot_tiles.h"
#include "llvm/Support/SaveAndRestore.h"

namespace tilery::cpu {

/// Whether no more than one row is used and nobody else wants B's panel (i1); null: never. What lies along K has to be transposed, and what
/// an instruction takes several of has to be put side by side.
llvm::Value *DotEmitter::readsInPlace() {
  llvm::Value *one = plan.m == 1 ? b.getTrue() : oneRow, *own = plan.b.shared ? alone[false] : b.getTrue();
  bool fits = plan.blocking.multiply == Multiply::single && !plan.b.kMajor;
  return fits && one && own ? b.CreateAnd(one, own) : nullptr;
}

void DotEmitter::multiplyRow(llvm::Value *a, llvm::Value *batch, llvm::Value *from, llvm::Value *to, llvm::Value *tile,
                             llvm::Value *accumulate) {
  constexpr unsigned mostVectors = 8; // sums in registers: as many chains as are worth it
  unsigned lanes = plan.blocking.lanes;
  Cut columns = cpu::cut(plan.n, lanes, mostVectors * lanes);
  emitLoop(b, from, to, 1, [&](llvm::Value *step) {
    enterStep(step);
    llvm::Value *done = b.CreateSub(step, from);
    llvm::Value *row = element(a, b.CreateMul(done, i64(plan.k * cut(true).width)));
    llvm::Value *adds = b.CreateOr(accumulate, b.CreateICmpSGT(done, i64(0)));
    forSlivers(columns, nullptr, [&](llvm::Value *, llvm::Value *first, unsigned width) {
      Sliver sliver{nullptr, first, width, width};
      whereInside(plan.b, sliver, [&] { multiplyRowStep(sliver, row, batch, tile, adds); });
    });
  });
}

void DotEmitter::multiplyRowStep(const Sliver &sliver, llvm::Value *a, llvm::Value *batch, llvm::Value *tile,
                                 llvm::Value *accumulate) {
  struct Chunk {
    unsigned width;
    llvm::Value *position, *place;
    llvm::Value *sum;
  };
  Evaluator::Region region(ev);
  llvm::SaveAndRestore fetchAhead(ev.memory.fetchAhead, ahead(plan.b));
  llvm::Align align(bytes);
  llvm::SmallVector<Chunk> chunks;
  forChunks(sliver.width, plan.blocking.lanes, [&](unsigned offset, unsigned width) {
    llvm::Value *position = b.CreateAdd(sliver.first, i64(offset)), *place = element(tile, position);
    llvm::Value *before = b.CreateAlignedLoad(e.vectorOf(compute, width), place, align);
    llvm::Value *sum = b.CreateSelect(accumulate, before, llvm::Constant::getNullValue(before->getType()));
    chunks.push_back({width, position, place, sum});
  });
  llvm::Function *function = b.GetInsertBlock()->getParent();
  auto block = [&] { return llvm::BasicBlock::Create(b.getContext(), "row", function); };
  Loop loop(b, block(), block());
  llvm::Instruction *preheaderEnd = loop.enter();
  llvm::Value *k = loop.carry(i64(0));
  for (Chunk &chunk : chunks)
    chunk.sum = loop.carry(chunk.sum);
  ev.levels.enter(preheaderEnd);
  for (unsigned u = 0; u < plan.blocking.unroll; ++u, k = b.CreateAdd(k, i64(1))) {
    llvm::Value *x = b.CreateAlignedLoad(compute, element(a, b.CreateMul(k, i64(cut(true).width))), align);
    for (Chunk &chunk : chunks) {
      llvm::Value *row = e.splat(x, chunk.width);
      llvm::Value *y = toCompute(fetch(plan.b, batch, chunk.position, k, chunk.width, false), plan.b, chunk.width);
      chunk.sum = compute->isFloatingPointTy() ? b.CreateIntrinsic(llvm::Intrinsic::fma, {y->getType()}, {row, y, chunk.sum})
                                               : b.CreateAdd(b.CreateMul(row, y), chunk.sum);
    }
  }
  llvm::SmallVector<llvm::Value *> next{k};
  for (const Chunk &chunk : chunks)
    next.push_back(chunk.sum);
  loop.repeat(next, b.CreateICmpSLT(k, i64(plan.k)));
  loop.leave();
  ev.levels.leave();
  for (const Chunk &chunk : chunks)
    b.CreateAlignedStore(chunk.sum, chunk.place, align);
}

} // namespace tilery::cpu
