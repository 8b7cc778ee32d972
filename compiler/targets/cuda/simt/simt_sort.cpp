// Sorts by all threads of a block, of elements as keys: runs are sorted in registers by a network of exchanges, then runs merge, where an
// element's place is its own in its run and that of a binary search in the other one.
#include "compiler/lower/sort_keys.h"
#include "compiler/targets/cuda/ptx/lowering.h"
#include "compiler/targets/cuda/simt/simt.h"

using namespace mlir;

namespace tilery::cuda {
using lower::Address;
using lower::Index;
using lower::Lanes;
using lower::Point;

/// Where the keys of a sort's rows are while it works, and how they are read and written; what is written last are values.
struct SimtEmitter::SortedRows {
  SimtEmitter &s;
  tile::SortOp op;
  int64_t axis = op.getAxis();
  ArrayRef<int64_t> shape = tile::shapeOf(op.getValue().getType()), keptShape = tile::shapeOf(op.getType());
  int64_t count = shape[axis], kept = keptShape[axis], rows = ShapedType::getNumElements(shape) / count;
  int result = s.plan.storage.lookup(op.getResult());
  llvm::IRBuilder<> &b = s.e.b;
  llvm::APInt last = lower::lastSortKey(op);
  unsigned bytes = last.getBitWidth() / 8;
  llvm::Type *key = b.getIntNTy(8 * bytes);

  Index at(llvm::Value *element) const { return Index{element, 0, nullptr, s.evaluator.levels.current()}; }
  Point pointOf(llvm::Value *row, llvm::Value *element) {
    SmallVector<int64_t> others(shape);
    others[axis] = 1;
    Point point = s.pointOf(others, row);
    point[axis] = at(element);
    for (Index &index : point)
      index.loop = -1;
    return point;
  }
  /// Neighbours that one access of a buffer takes, of `most`.
  unsigned together(int buffer, int64_t size, unsigned most) const {
    most = std::min(most, 16 / bytes);
    bool lines = axis + 1 == int64_t(shape.size()) && s.plan.buffers[buffer].exchange.units <= 1;
    return lines && size % most == 0 ? most : 1;
  }
  llvm::Value *load(int buffer, Indices point, unsigned width = 1) {
    Address where = s.evaluator.addresses.ofStored(buffer, shape, point);
    auto *loaded = b.CreateAlignedLoad(s.e.vectorOf(key, width), where.pointer, llvm::Align(width * bytes));
    where.annotate(loaded);
    return loaded;
  }
  void store(int buffer, Indices point, llvm::Value *keys) {
    Address where = s.evaluator.addresses.ofStored(buffer, shape, point);
    where.annotate(b.CreateAlignedStore(keys, where.pointer, llvm::Align(s.e.lanesOf(keys) * bytes)));
  }
  void storeValues(Indices point, llvm::Value *keys) {
    Address where = s.evaluator.addresses.ofStored(result, keptShape, point);
    Lanes values = s.e.toMemory(lower::valueOfSortKey(s.e, op, keys), where.element);
    where.annotate(b.CreateAlignedStore(values, where.pointer, llvm::Align(s.e.lanesOf(keys) * bytes)));
  }
};

/// Runs of a power of two of neighbouring elements, those behind a row's end counted as the greatest. Neighbouring threads have one among
/// them, each `own` neighbouring elements: a bit of an element's number says which of a thread's it is, which of a warp's threads has it,
/// or which warp. Elements are exchanged between numbers that differ in some bits, the greater one to the greater number.
struct SimtEmitter::RunSorter {
  SimtEmitter &s;
  SortedRows &rows;
  int buffer; // of the keys
  int64_t run;
  unsigned own;
  bool isLast; // what is sorted is written to the result
  /// Elements that stand in order together; only the least of each two such parts go on.
  unsigned part = isLast ? std::min<int64_t>(run, llvm::PowerOf2Ceil(rows.kept)) : run;
  llvm::IRBuilder<> &b = s.e.b;
  llvm::Type *word = b.getIntNTy(std::max(32u, 8 * rows.bytes));

  llvm::Value *place = nullptr;                 // i32: the thread's among those of a run
  llvm::Value *row = nullptr, *first = nullptr; // and the run's first element in it
  llvm::Value *exists = nullptr;                // null: always
  SmallVector<llvm::Value *> keys{};            // words

  void sort();

private:
  void sortOne();
  /// Exchanges between numbers that differ in the bits `flip`; of a pair, the greater one has `bit`.
  void exchange(unsigned flip, unsigned bit);
  /// The lesser of both numbers of a pair, in both.
  void keepLess(unsigned flip);
  SmallVector<llvm::Value *> keysOf(llvm::Value *thread, unsigned flip);
  llvm::Value *element(llvm::Value *thread, unsigned i) {
    llvm::Value *number = b.CreateAdd(b.CreateMul(thread, b.getInt32(own)), b.getInt32(i));
    return b.CreateAdd(first, b.CreateZExt(number, b.getInt64Ty()));
  }
  void read(llvm::Value *thread, SmallVectorImpl<llvm::Value *> &into);
  /// write(i, keys): the keys from number i on, those below `size` of the row.
  void forOwn(int64_t size, unsigned width, llvm::function_ref<void(Indices point, llvm::Value *keys)> write);
};

void SimtEmitter::RunSorter::sort() {
  unsigned group = run / own, slots = s.threads / group;
  int64_t ofRow = llvm::divideCeil(rows.count, run), runs = rows.rows * ofRow, passes = llvm::divideCeil(runs, slots);
  llvm::Value *thread = b.CreateTrunc(s.thread, b.getInt32Ty());
  place = b.CreateAnd(thread, b.getInt32(group - 1));
  llvm::Value *slot = b.CreateZExt(b.CreateUDiv(thread, b.getInt32(group)), b.getInt64Ty());
  s.nests.loop(s.e.i64(0), s.e.i64(passes), 1, false, {}, [&](llvm::Value *pass, ArrayRef<Lanes>) {
    llvm::Value *number = b.CreateAdd(b.CreateMul(pass, s.e.i64(slots)), slot);
    exists = nullptr;
    if (runs % slots) { // the others do as the last one does
      exists = b.CreateICmpSLT(number, s.e.i64(runs));
      number = b.CreateSelect(exists, number, s.e.i64(runs - 1));
    }
    row = ofRow == 1 ? number : b.CreateUDiv(number, s.e.i64(ofRow));
    first = ofRow == 1 ? s.e.i64(0) : b.CreateMul(b.CreateURem(number, s.e.i64(ofRow)), s.e.i64(run));
    lower::Evaluator::Region region(s.evaluator);
    sortOne();
    return SmallVector<Lanes>();
  });
  s.barrier();
}

// Two sorted halves: the first exchange is with the mirrored element of the other half, which leaves no direction to remember. Of parts as
// long as what is kept, that exchange alone says which half of them goes on.
void SimtEmitter::RunSorter::sortOne() {
  keys.clear();
  read(place, keys);
  if (exists || rows.count % run)
    s.barrier(); // before a row's end and the last run are written, which others read, too
  for (unsigned size = 2; size <= run; size *= 2) {
    size <= part ? exchange(size - 1, size / 2) : keepLess(size / 2 | (part - 1));
    for (unsigned bit = std::min(size / 2, part) / 2; bit; bit /= 2)
      exchange(bit, bit);
  }
  if (!isLast)
    return forOwn(rows.count, rows.together(buffer, rows.count, own),
                  [&](Indices p, llvm::Value *k) { rows.store(buffer, p, k); });
  forOwn(rows.kept, rows.together(rows.result, rows.kept, own), [&](Indices p, llvm::Value *k) { rows.storeValues(p, k); });
}

void SimtEmitter::RunSorter::exchange(unsigned flip, unsigned bit) {
  auto less = [&](llvm::Value *x, llvm::Value *y) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, y); };
  auto greater = [&](llvm::Value *x, llvm::Value *y) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, y); };
  if (flip < own) {
    for (unsigned i = 0; i < own; ++i)
      if (llvm::Value *x = keys[i], *y = keys[i ^ flip]; !(i & bit))
        std::tie(keys[i], keys[i ^ flip]) = std::pair(less(x, y), greater(x, y));
    return;
  }
  llvm::Value *isGreater = b.CreateICmpNE(b.CreateAnd(place, b.getInt32(bit / own)), b.getInt32(0));
  SmallVector<llvm::Value *> others = keysOf(b.CreateXor(place, b.getInt32(flip / own)), flip);
  for (auto [key, other] : llvm::zip(keys, others))
    key = b.CreateSelect(isGreater, greater(key, other), less(key, other));
}

void SimtEmitter::RunSorter::keepLess(unsigned flip) {
  SmallVector<llvm::Value *> others;
  if (flip < own)
    for (unsigned i = 0; i < own; ++i)
      others.push_back(keys[i ^ flip]);
  else
    others = keysOf(b.CreateXor(place, b.getInt32(flip / own)), flip);
  for (auto [key, other] : llvm::zip(keys, others))
    key = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, key, other);
}

SmallVector<llvm::Value *> SimtEmitter::RunSorter::keysOf(llvm::Value *thread, unsigned flip) {
  constexpr unsigned warp = 32;
  SmallVector<llvm::Value *> others, turned;
  if (flip / own < warp) {
    llvm::Value *lane = b.CreateAnd(b.CreateTrunc(s.thread, b.getInt32Ty()), b.getInt32(warp - 1));
    lane = b.CreateXor(lane, b.getInt32(flip / own));
    for (llvm::Value *key : keys)
      others.push_back(
          s.movedBetweenThreads(key, [&](llvm::Value *part) { return s.machine.shuffleFrom(s.e, part, lane, b.getInt32(-1)); }));
  } else {
    forOwn(rows.count, rows.together(buffer, rows.count, own), [&](Indices p, llvm::Value *k) { rows.store(buffer, p, k); });
    s.barrier();
    read(thread, others);
    s.barrier();
  }
  for (unsigned i = 0; i < own; ++i)
    turned.push_back(others[i ^ flip % own]);
  return turned;
}

void SimtEmitter::RunSorter::read(llvm::Value *thread, SmallVectorImpl<llvm::Value *> &into) {
  for (unsigned width = rows.together(buffer, rows.count, own), i = 0; i < own; i += width) {
    llvm::Value *from = element(thread, i), *inside = nullptr;
    if (rows.count % run) {
      inside = b.CreateICmpSLT(from, s.e.i64(rows.count));
      from = b.CreateSelect(inside, from, s.e.i64(rows.count - width));
    }
    llvm::Value *loaded = rows.load(buffer, rows.pointOf(row, from), width);
    for (unsigned lane = 0; lane < width; ++lane) {
      llvm::Value *key = width == 1 ? loaded : b.CreateExtractElement(loaded, lane);
      if (inside)
        key = b.CreateSelect(inside, key, llvm::ConstantInt::get(rows.key, rows.last));
      into.push_back(b.CreateSExt(key, word));
    }
  }
}

void SimtEmitter::RunSorter::forOwn(int64_t size, unsigned width, llvm::function_ref<void(Indices, llvm::Value *)> write) {
  for (unsigned i = 0; i < own; i += width) {
    llvm::Value *to = element(place, i), *inside = exists;
    if (size % run)
      inside = s.e.band(inside, b.CreateICmpSLT(to, s.e.i64(size)));
    s.when(inside, [&] {
      llvm::Value *written = b.CreateTrunc(keys[i], rows.key);
      for (unsigned lane = 1; lane < width; ++lane) {
        if (lane == 1)
          written = b.CreateInsertElement(llvm::PoisonValue::get(s.e.vectorOf(rows.key, width)), written, uint64_t(0));
        written = b.CreateInsertElement(written, b.CreateTrunc(keys[i + lane], rows.key), lane);
      }
      write(rows.pointOf(row, to), written);
    });
  }
}

void SimtEmitter::sortOp(tile::SortOp op) {
  if (perThread)
    return KernelEmitter::sortOp(op);
  SortedRows rows{*this, op};
  SortSteps steps(op, threads);
  SmallVector<int> spare = plan.temporaries.lookup(op);
  int from = !steps.merges && rows.kept == rows.count ? rows.result : spare[0];
  forEach(rows.shape,
          [&](Indices point) { rows.store(from, point, lower::sortKey(e, op, evaluator.value(op.getValue(), point))); });
  RunSorter{*this, rows, from, steps.run, steps.own, steps.merges == 0}.sort();
  for (unsigned step = 0; step < steps.merges; ++step) {
    bool isLast = step + 1 == steps.merges;
    mergeRuns(rows, steps.run << step, spare[step % 2], isLast ? rows.result : spare[(step + 1) % 2], isLast);
  }
}

void SimtEmitter::mergeRuns(SortedRows &rows, int64_t run, int from, int to, bool isLast) {
  auto &b = e.b;
  auto within = [&](llvm::Value *i) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, i, e.i64(rows.count)); };
  forEach(rows.shape, [&](Indices point) {
    auto keyAt = [&](llvm::Value *i) {
      Point where(point);
      where[rows.axis] = rows.at(i);
      return rows.load(from, where);
    };
    llvm::Value *i = point[rows.axis].base, *place = b.CreateAnd(i, e.i64(run - 1)), *start = b.CreateSub(i, place);
    llvm::Value *isSecond = b.CreateICmpNE(b.CreateAnd(i, e.i64(run)), e.i64(0));
    llvm::Value *other = within(b.CreateXor(start, e.i64(run))), *end = within(b.CreateAdd(other, e.i64(run)));
    llvm::Value *own = keyAt(i);
    // Those of the other run that come before: of a first run, equal ones as well.
    SmallVector<Lanes> found =
        nests.loop(e.i64(0), e.i64(llvm::Log2_64(run) + 1), 1, false, {other, end}, [&](llvm::Value *, ArrayRef<Lanes> range) {
          llvm::Value *open = b.CreateICmpSLT(range[0], range[1]);
          llvm::Value *middle = b.CreateLShr(b.CreateAdd(range[0], range[1]), 1);
          llvm::Value *key = keyAt(b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, middle, e.i64(rows.count - 1)));
          llvm::Value *before = b.CreateSelect(isSecond, b.CreateICmpSLE(key, own), b.CreateICmpSLT(key, own));
          before = b.CreateAnd(before, open);
          return SmallVector<Lanes>{b.CreateSelect(before, b.CreateAdd(middle, e.i64(1)), range[0]),
                                    b.CreateSelect(b.CreateOr(before, b.CreateNot(open)), range[1], middle)};
        });
    llvm::Value *first = b.CreateAnd(start, e.i64(~run));
    Point where(point);
    where[rows.axis] = rows.at(b.CreateAdd(b.CreateAdd(first, place), b.CreateSub(found[0], other)));
    int64_t size = isLast ? rows.kept : rows.count;
    when(size < rows.count ? b.CreateICmpSLT(where[rows.axis].base, e.i64(size)) : nullptr,
         [&] { isLast ? rows.storeValues(where, own) : rows.store(to, where, own); });
  });
}

} // namespace tilery::cuda
