// Sorts by all threads of a block: runs in which each element counts those before it, then runs that merge, where an element's place is its
// own in its run and that of a binary search in the other one. Both are stable.
#include "compiler/targets/cuda/lowering.h"
#include "compiler/targets/cuda/simt.h"

using namespace mlir;

namespace tilery::cuda {
using lower::Index;
using lower::Lanes;
using lower::Point;

void SimtEmitter::sortOp(tile::SortOp op) {
  if (perThread)
    return KernelEmitter::sortOp(op);
  int64_t count = tile::shapeOf(op.getValue().getType())[op.getAxis()];
  SortSteps steps(count);
  SmallVector<int> spare = plan.temporaries.lookup(op);
  int result = plan.storage.lookup(op.getResult());
  sortRuns(op, steps.run, steps.merges ? spare[0] : result);
  for (unsigned step = 0; step < steps.merges; ++step)
    mergeRuns(op, steps.run << step, spare[step % 2], step + 1 == steps.merges ? result : spare[(step + 1) % 2]);
}

void SimtEmitter::storeSorted(tile::SortOp op, Indices point, llvm::Value *place, Lanes value, int to) {
  bool last = to == plan.storage.lookup(op.getResult());
  ArrayRef<int64_t> shape = tile::shapeOf(last ? op.getType() : op.getValue().getType());
  int64_t axis = op.getAxis(), count = tile::shapeOf(op.getValue().getType())[axis];
  Point where(point);
  where[axis] = Index{place, 0, nullptr, evaluator.level()};
  when(shape[axis] < count ? e.b.CreateICmpSLT(place, e.i64(shape[axis])) : nullptr,
       [&] { evaluator.store(evaluator.scratchAddress(to, shape, where), value); });
}

void SimtEmitter::sortRuns(tile::SortOp op, int64_t run, int to) {
  auto &b = e.b;
  ArrayRef<int64_t> shape = tile::shapeOf(op.getValue().getType());
  uint64_t axis = op.getAxis();
  int64_t count = shape[axis];
  forEach(shape, [&](Indices point) {
    llvm::Value *i = point[axis].base;
    llvm::Value *first = run == count ? e.i64(0) : b.CreateSub(i, b.CreateAnd(i, e.i64(run - 1)));
    Lanes own = evaluator.value(op.getValue(), point);
    SmallVector<Lanes> before = nests.loop(e.i64(0), e.i64(run), 1, false, {e.i64(0)}, [&](llvm::Value *j, ArrayRef<Lanes> sum) {
      llvm::Value *at = b.CreateAdd(first, j), *exists = nullptr;
      if (count % run) {
        exists = b.CreateICmpSLT(at, e.i64(count));
        at = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, at, e.i64(count - 1));
      }
      Point other(point);
      other[axis] = Index{at, 0, nullptr, evaluator.level()};
      Lanes value = evaluator.value(op.getValue(), other);
      llvm::Value *equal = b.CreateAnd(b.CreateNot(sortsBefore(op, own, value)), b.CreateICmpSLT(at, i));
      llvm::Value *counts = b.CreateOr(sortsBefore(op, value, own), equal);
      if (exists)
        counts = b.CreateAnd(counts, exists);
      return SmallVector<Lanes>{b.CreateAdd(sum[0], b.CreateZExt(counts, b.getInt64Ty()))};
    });
    storeSorted(op, point, b.CreateAdd(first, before[0]), own, to);
  });
}

void SimtEmitter::mergeRuns(tile::SortOp op, int64_t run, int from, int to) {
  auto &b = e.b;
  ArrayRef<int64_t> shape = tile::shapeOf(op.getValue().getType());
  uint64_t axis = op.getAxis();
  int64_t count = shape[axis];
  auto within = [&](llvm::Value *i) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, i, e.i64(count)); };
  forEach(shape, [&](Indices point) {
    auto elementAt = [&](llvm::Value *i) {
      Point at(point);
      at[axis] = Index{i, 0, nullptr, evaluator.level()};
      return evaluator.load(evaluator.scratchAddress(from, shape, at));
    };
    llvm::Value *i = point[axis].base, *place = b.CreateAnd(i, e.i64(run - 1)), *start = b.CreateSub(i, place);
    llvm::Value *isSecond = b.CreateICmpNE(b.CreateAnd(i, e.i64(run)), e.i64(0));
    llvm::Value *other = within(b.CreateXor(start, e.i64(run))), *end = within(b.CreateAdd(other, e.i64(run)));
    Lanes own = elementAt(i);
    // Those of the other run that come before: of a first run, equal ones as well.
    SmallVector<Lanes> found =
        nests.loop(e.i64(0), e.i64(llvm::Log2_64(run) + 1), 1, false, {other, end}, [&](llvm::Value *, ArrayRef<Lanes> range) {
          llvm::Value *open = b.CreateICmpSLT(range[0], range[1]);
          llvm::Value *middle = b.CreateLShr(b.CreateAdd(range[0], range[1]), 1);
          Lanes value = elementAt(b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, middle, e.i64(count - 1)));
          llvm::Value *before = b.CreateSelect(isSecond, b.CreateNot(sortsBefore(op, own, value)), sortsBefore(op, value, own));
          before = b.CreateAnd(before, open);
          return SmallVector<Lanes>{b.CreateSelect(before, b.CreateAdd(middle, e.i64(1)), range[0]),
                                    b.CreateSelect(b.CreateOr(before, b.CreateNot(open)), range[1], middle)};
        });
    llvm::Value *first = b.CreateAnd(start, e.i64(~run));
    storeSorted(op, point, b.CreateAdd(b.CreateAdd(first, place), b.CreateSub(found[0], other)), own, to);
  });
}

} // namespace tilery::cuda
