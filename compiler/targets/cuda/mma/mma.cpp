#include "compiler/targets/cuda/mma/mma.h"
#include "compiler/lower/loop.h"
#include "compiler/targets/cuda/mma/warp_product.h"

using namespace mlir;

namespace tilery::cuda {

MmaEmitter::MmaEmitter(lower::KernelEmitter &kernel, ThreadMachine &machine, llvm::Value *thread, unsigned threads,
                       const MmaPlan &plan, llvm::Value *staging, Operation *op)
    : kernel(kernel), e(kernel.e), b(kernel.e.b), evaluator(kernel.evaluator), machine(machine), thread(thread), threads(threads),
      plan(plan), op(op), buffer(kernel.plan.storage.lookup(op->getResult(0))), staging(staging) {
  if (auto contract = dyn_cast<tile::ContractOp>(op))
    region = &contract.getBody().front();
  bool wide = plan.form.elementBytes() == 8;
  if (isa<FloatType>(lower::elementOf(op->getResult(0))))
    sum = wide ? b.getDoubleTy() : b.getFloatTy();
  else
    sum = wide ? b.getInt64Ty() : b.getInt32Ty();
}

bool MmaEmitter::emit() {
  barrier(); // what lay in this memory before has been read
  lower::Evaluator::Region region(evaluator);
  placeLanes();
  auto over = [&](int64_t count, int64_t size, llvm::Value *&start, llvm::function_ref<void()> body) {
    if (count == 1)
      return body();
    repeat(e.i64(0), e.i64(count), {}, [&](llvm::Value *i, ArrayRef<llvm::Value *>) {
      start = b.CreateMul(i, e.i64(size));
      body();
      return Carried();
    });
  };
  Pass part;
  over(plan.batch, 1, part.batch, [&] {
    over(plan.passesM(), plan.passRows, part.row,
         [&] { over(plan.passesN(), plan.passColumns, part.column, [&] { pass(part); }); });
  });
  barrier();
  return !evaluator.failed;
}

void MmaEmitter::pass(const Pass &pass) {
  auto dot = dyn_cast<tile::DotOp>(op);
  Carried accumulators(plan.tilesM * plan.tilesN * 4, llvm::Constant::getNullValue(sum));
  if (!lower::startsAtZero(op)) {
    transferResult(pass, accumulators, false);
    if (dot && dot.getClear())
      for (llvm::Value *&value : accumulators)
        value = b.CreateSelect(evaluator.scalar(dot.getClear()), llvm::Constant::getNullValue(sum), value);
    barrier(); // before stages lie there
  }
  accumulators = products(pass, std::move(accumulators));
  machine.waitCopies(e, 0);
  barrier(); // the last stage has been read
  transferResult(pass, accumulators, true);
}

void MmaEmitter::placeLanes() {
  unsigned warps = plan.warpRows * plan.warpColumns;
  lane = b.CreateAnd(thread, 31);
  warp = b.CreateLShr(thread, 5);
  works = warps < threads / 32 ? b.CreateICmpULT(warp, e.i64(warps)) : nullptr;
  warp = b.CreateAnd(warp, warps - 1); // both are powers of two
  warpRow = b.CreateMul(b.CreateUDiv(warp, e.i64(plan.warpColumns)), e.i64(16 * plan.tilesM));
  warpColumn = b.CreateMul(b.CreateURem(warp, e.i64(plan.warpColumns)), e.i64(8 * plan.tilesN));
}

MmaEmitter::Carried MmaEmitter::repeat(llvm::Value *from, llvm::Value *to, Carried init,
                                       llvm::function_ref<Carried(llvm::Value *, ArrayRef<llvm::Value *>)> body) {
  llvm::BasicBlock *head = kernel.newBlock("loop"), *exit = kernel.newBlock();
  lower::Loop loop(b, head, exit);
  loop.enter(b.CreateICmpSLT(from, to));
  llvm::PHINode *i = loop.carry(from);
  Carried inside, next;
  for (llvm::Value *value : init)
    inside.push_back(loop.carry(value));
  {
    lower::Evaluator::Region region(evaluator);
    next = body(i, inside);
  }
  next.insert(next.begin(), b.CreateAdd(i, e.i64(1), "", true, true));
  loop.repeat(next, b.CreateICmpSLT(next[0], to));
  loop.leave();
  Carried results;
  for (unsigned n = 0; n < init.size(); ++n)
    results.push_back(loop.after(n + 1));
  return results;
}

// A ring of stages: while one is multiplied, copies into the others run. One barrier an iteration says both that a stage has arrived and
// that the one before it is free.
MmaEmitter::Carried MmaEmitter::products(const Pass &pass, Carried accumulators) {
  llvm::Value *total = e.i64(plan.chunks);
  if (auto contract = dyn_cast<tile::ContractOp>(op))
    total = b.CreateMul(evaluator.wide(contract.getSteps()), total);
  unsigned ahead = plan.stages - 1;
  auto stageOf = [&](llvm::Value *iteration) {
    llvm::Value *slot = b.CreateURem(b.CreateTrunc(iteration, b.getInt32Ty()), b.getInt32(plan.stages));
    return b.CreateGEP(b.getInt8Ty(), staging, b.CreateMul(slot, b.getInt32(plan.stageBytes())));
  };
  auto load = [&](llvm::Value *iteration) {
    kernel.when(b.CreateICmpSLT(iteration, total), [&] { fill(pass, stageOf(iteration), iteration); });
    machine.commitCopies(e);
  };
  if (plan.a.inRegisters) { // written out: which registers an instruction takes is no number at run time
    int64_t each = plan.b.k / plan.form.depth();
    for (int64_t i = 0; i < plan.chunks; ++i) {
      if (i)
        barrier();
      fill(pass, staging, e.i64(i));
      machine.commitCopies(e);
      machine.waitCopies(e, 0);
      barrier();
      accumulators = multiplyStage(staging, std::move(accumulators), i * each);
    }
    return accumulators;
  }
  // One wait for memory instead of two: too little is multiplied under the second.
  if (!region && plan.chunks == 2 && plan.stages == 2) {
    for (uint64_t i : {0, 1})
      fill(pass, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), staging, i * plan.stageBytes()), e.i64(i));
    machine.commitCopies(e);
    machine.waitCopies(e, 0);
    barrier();
    for (uint64_t i : {0, 1})
      accumulators =
          multiplyStage(b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), staging, i * plan.stageBytes()), std::move(accumulators), 0);
    return accumulators;
  }
  repeat(e.i64(0), e.i64(ahead), {}, [&](llvm::Value *i, ArrayRef<llvm::Value *>) {
    load(i);
    return Carried();
  });
  return repeat(e.i64(0), total, std::move(accumulators), [&](llvm::Value *i, ArrayRef<llvm::Value *> carried) {
    if (!ahead) {
      barrier();
      load(i);
    }
    machine.waitCopies(e, ahead ? ahead - 1 : 0);
    barrier();
    if (ahead)
      load(b.CreateAdd(i, e.i64(ahead)));
    return multiplyStage(stageOf(i), Carried(carried));
  });
}

MmaEmitter::Carried MmaEmitter::multiplyStage(llvm::Value *stage, Carried accumulators, int64_t first) {
  layout::Layout tiles = plan.tiles();
  WarpProduct product(e, machine, plan.form, tiles, b.CreateTrunc(lane, b.getInt32Ty()), b.CreateTrunc(warp, b.getInt32Ty()));
  [[maybe_unused]] bool reads =
      product.read(false, plan.b.layout(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), stage, plan.a.bytes()));
  llvm::SmallVector<llvm::Value *, 4> words;
  if (!plan.a.inRegisters)
    reads &= product.read(true, plan.a.layout(), stage);
  assert(reads && "stages lie as warps read them");
  // Two tiles of 16 x 8 side by side are what an instruction of depth 16 takes: upper and lower rows of the first, then of the second.
  product.held = [&](int64_t rows, unsigned step) {
    words.clear();
    for (unsigned i = 0; i < 4; ++i)
      words.push_back(b.CreateBitCast(factor[(2 * rows + i % 2) * (plan.k / 8) + 2 * (first + step) + i / 2], b.getInt32Ty()));
    return llvm::ArrayRef(words);
  };
  product.emit(plan.b.k / plan.form.depth(), accumulators);
  return accumulators;
}

// Between accumulators and what holds the result of an op: neighbours of a row, in memory or (`isHeld`) a variable.
void MmaEmitter::transfer(llvm::Value *pointer, llvm::MutableArrayRef<llvm::Value *> own, bool isHeld, bool store) {
  Type element = lower::elementOf(op->getResult(0));
  bool isFloat = isa<FloatType>(element), small = isFloat && lower::isSmallFloat(element);
  unsigned count = own.size();
  llvm::Type *values = e.vectorOf(e.valueType(element), count), *sums = e.vectorOf(sum, count);
  llvm::Align align(lower::elementBytes(element) * count);
  if (!store) {
    llvm::Value *value = b.CreateAlignedLoad(isHeld ? values : e.vectorOf(e.memoryType(element), count), pointer, align);
    value = isHeld ? value : e.fromMemory(value, element);
    value = small ? e.widenFloat(value, element) : isFloat ? value : b.CreateSExtOrTrunc(value, sums);
    for (unsigned i = 0; i < count; ++i)
      own[i] = count == 1 ? value : b.CreateExtractElement(value, uint64_t(i));
    return;
  }
  llvm::Value *value = count == 1 ? own[0] : llvm::PoisonValue::get(sums);
  for (unsigned i = 0; count > 1 && i < count; ++i)
    value = b.CreateInsertElement(value, own[i], uint64_t(i));
  value = small ? e.narrowFloat(value, element) : isFloat ? value : b.CreateSExtOrTrunc(value, values);
  b.CreateAlignedStore(isHeld ? value : e.toMemory(value, element), pointer, align);
}

// Two neighbours of a row at once where rows are even.
void MmaEmitter::transferResult(const Pass &pass, Carried &accumulators, bool store) {
  llvm::MutableArrayRef<llvm::Value *> all(accumulators);
  for (unsigned i = 0; i < result.size(); ++i) { // by rows: of a tile of 16 the upper ones, then the lower ones
    unsigned row = i / plan.tilesN, tile = row / 2 * plan.tilesN + i % plan.tilesN;
    transfer(result[i], all.slice(4 * tile + 2 * (row % 2), 2), /*isHeld=*/true, store);
  }
  if (!result.empty())
    return;
  unsigned pair = plan.n % 2 ? 1 : 2;
  bool wholeRows = plan.m % plan.a.paddedRows == 0, wholeColumns = plan.n % plan.b.paddedRows == 0;
  llvm::Value *firstRow = b.CreateAdd(warpRow, b.CreateLShr(lane, 2)), *zero = e.i64(0);
  llvm::Value *firstColumn = b.CreateAdd(warpColumn, b.CreateShl(b.CreateAnd(lane, 3), 1));
  firstRow = b.CreateAdd(firstRow, pass.row ? pass.row : zero);
  firstColumn = b.CreateAdd(firstColumn, pass.column ? pass.column : zero);
  llvm::Value *matrix = b.CreateMul(pass.batch ? pass.batch : zero, e.i64(plan.m));
  llvm::Value *memory = evaluator.addresses.scratchPointer(buffer);

  auto move = [&](unsigned at, llvm::Value *row, llvm::Value *column) {
    if (!store && !wholeRows) // elements that do not exist may start from anything
      row = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, row, e.i64(plan.m - 1));
    if (!store && !wholeColumns)
      column = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, column, e.i64(plan.n - pair));
    llvm::Value *offset = b.CreateAdd(b.CreateMul(b.CreateAdd(matrix, row), e.i64(plan.n)), column);
    llvm::Type *type = e.memoryType(lower::elementOf(op->getResult(0)));
    transfer(b.CreateGEP(type, memory, offset), all.slice(at, pair), /*isHeld=*/false, store);
  };
  for (unsigned mi = 0; mi < plan.tilesM; ++mi)
    for (unsigned half = 0; half < 2; ++half) {
      llvm::Value *row = b.CreateAdd(firstRow, e.i64(16 * mi + 8 * half));
      llvm::Value *rowExists = store ? works : nullptr;
      if (store && !wholeRows)
        rowExists = e.band(rowExists, b.CreateICmpSLT(row, e.i64(plan.m)));
      kernel.when(rowExists, [&] {
        for (unsigned ni = 0; ni < plan.tilesN; ++ni)
          for (unsigned i = 0; i < 2; i += pair) {
            llvm::Value *column = b.CreateAdd(firstColumn, e.i64(8 * ni + i));
            kernel.when(store && !wholeColumns ? b.CreateICmpSLT(column, e.i64(plan.n)) : nullptr,
                        [&] { move((mi * plan.tilesN + ni) * 4 + 2 * half + i, row, column); });
          }
      });
    }
}

} // namespace tilery::cuda
