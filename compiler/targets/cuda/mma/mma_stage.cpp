// Operands to shared memory.
#include "compiler/ir/zero.h"
#include "compiler/targets/cuda/mma/mma.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
/// Numbers that follow each other, modulo something: those of a few lanes do so if the last is as far from the first as they are many.
bool wrapsAround(Value indices) {
  while (auto extend = indices.getDefiningOp<arith::ExtSIOp>())
    indices = extend.getIn();
  auto rem = indices.getDefiningOp<tile::RemOp>();
  Value numbers = rem ? rem.getLhs() : Value();
  while (auto extend = numbers ? numbers.getDefiningOp<arith::ExtSIOp>() : arith::ExtSIOp())
    numbers = extend.getIn();
  if (!numbers)
    return false;
  auto add = numbers.getDefiningOp<arith::AddIOp>();
  if (add && add.getLhs().getDefiningOp<tile::SplatOp>())
    numbers = add.getRhs();
  else if (add && add.getRhs().getDefiningOp<tile::SplatOp>())
    numbers = add.getLhs();
  while (auto extend = numbers.getDefiningOp<arith::ExtSIOp>())
    numbers = extend.getIn();
  return bool(numbers.getDefiningOp<tile::RangeOp>());
}

/// Moves one operand of a stage: chunks of `operand.lanes` neighbours, one a thread at a time.
class OperandCopy {
public:
  OperandCopy(lower::KernelEmitter &kernel, ThreadMachine &machine, const MmaPlan &plan, const MmaOperand &operand)
      : kernel(kernel), e(kernel.e), b(e.b), evaluator(kernel.evaluator), machine(machine), plan(plan), operand(operand) {
    unsigned rank = cast<RankedTensorType>(operand.tile.getType()).getRank();
    rowDim = operand.isA ? rank - 2 : rank - 1;
    kDim = operand.isA ? rank - 1 : rank - 2;
    laneDim = operand.lanesAlongK ? kDim : rowDim;
    findAsync();
    SmallVector<int> loops;
    for (auto [d, size] : llvm::enumerate(tile::shapeOf(operand.tile.getType())))
      loops.push_back(size == 1 ? -1 : int(d));
    llvm::SmallPtrSet<const void *, 16> seen;
    kernel.nests.collectBounds(operand.tile, loops, bounds, seen);
  }
  void emit(llvm::Value *thread, unsigned threads);
  llvm::Value *batch = nullptr, *row = nullptr, *k = nullptr, *stage = nullptr; // where the stage starts; null: at 0

private:
  struct Chunk {
    llvm::Value *valid = nullptr, *inside = nullptr; // there is such a chunk; its elements are the tile's. Null: surely
    llvm::Value *shared = nullptr;
    lower::Point point;
    llvm::Value *from = nullptr, *bytes = nullptr; // of an asynchronous copy
  };
  void findAsync();
  int64_t chunkCount() const { return operand.rows * operand.k / operand.lanes; }
  Chunk chunkAt(llvm::Value *number, bool surelyThere);
  /// Whether the chunk can be moved at once; null: surely. Prepares an asynchronous copy.
  llvm::Value *simple(Chunk &chunk);
  void moveAtOnce(llvm::MutableArrayRef<Chunk> chunks);
  void moveOneByOne(const Chunk &chunk);
  int64_t laneStride() const { return operand.kMajor == operand.lanesAlongK ? operand.elementBytes : operand.stride(); }

  lower::KernelEmitter &kernel;
  lower::Emitter &e;
  llvm::IRBuilder<> &b;
  lower::Evaluator &evaluator;
  ThreadMachine &machine;
  const MmaPlan &plan;
  const MmaOperand &operand;
  unsigned rowDim, kDim, laneDim;
  tile::LoadOp async;             // the operand, if 16 bytes of memory are 16 bytes of the stage
  SmallVector<unsigned> loadDims; // which dimension of the load is that of the operand: products turn what they multiply by
  SmallVector<lower::KnownBound> bounds;
};

void OperandCopy::findAsync() {
  Value tile = operand.tile;
  for (unsigned d = 0; d < cast<RankedTensorType>(tile.getType()).getRank(); ++d)
    loadDims.push_back(d);
  if (auto permute = tile.getDefiningOp<tile::PermuteOp>(); permute && kernel.plan.isVirtual(tile)) {
    for (auto [d, from] : llvm::enumerate(permute.getOrder()))
      loadDims[d] = from;
    tile = permute.getOperand();
  }
  auto load = tile.getDefiningOp<tile::LoadOp>();
  auto access = load ? load.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
  if (!access || !kernel.plan.isVirtual(tile) || load.getIsVolatile() || (load.getOther() && !tile::isZero(load.getOther())))
    return;
  Type element = lower::elementOf(operand.tile);
  bool same = element.getIntOrFloatBitWidth() == 8 * operand.elementBytes;
  if (!same || laneStride() != operand.elementBytes || operand.lanes * operand.elementBytes != 16)
    return;
  bool tileOfConditions = access.getResidual() && isa<RankedTensorType>(access.getResidual().getType());
  unsigned lanes = loadDims[laneDim];
  Value step = access.getSteps()[lanes];
  if ((access.isStrided(lanes) ? matchPattern(step, m_One()) : wrapsAround(step)) && access.getBound(lanes).size() != 1 &&
      !tileOfConditions)
    async = load;
}

OperandCopy::Chunk OperandCopy::chunkAt(llvm::Value *number, bool surelyThere) {
  Chunk chunk;
  if (!surelyThere) {
    chunk.valid = b.CreateICmpSLT(number, e.i64(chunkCount()));
    number = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, number, e.i64(chunkCount() - 1));
  }
  int64_t perLine = (operand.lanesAlongK ? operand.k : operand.rows) / operand.lanes;
  number = b.CreateTrunc(number, b.getInt32Ty());
  llvm::Value *inner = b.CreateMul(b.CreateURem(number, b.getInt32(perLine)), b.getInt32(operand.lanes));
  llvm::Value *outer = b.CreateUDiv(number, b.getInt32(perLine));
  llvm::Value *ownRow = operand.lanesAlongK ? outer : inner, *ownK = operand.lanesAlongK ? inner : outer;
  int32_t stride = operand.stride(), size = operand.elementBytes;
  llvm::Value *offset = b.CreateAdd(b.CreateMul(ownRow, b.getInt32(operand.kMajor ? stride : size)),
                                    b.CreateMul(ownK, b.getInt32(operand.kMajor ? size : stride)));
  chunk.shared = b.CreateGEP(b.getInt8Ty(), stage, b.CreateZExt(offset, b.getInt64Ty()));
  auto absolute = [&](llvm::Value *own, llvm::Value *start) {
    own = b.CreateZExt(own, b.getInt64Ty());
    return start ? b.CreateAdd(own, start) : own;
  };
  auto index = [&](llvm::Value *base, unsigned dim) {
    bool lanes = dim == laneDim;
    return lower::Index{
        base,    lanes && operand.lanes > 1 ? 1 : 0, nullptr, evaluator.levels.current(), lanes ? int64_t(operand.lanes) : 1,
        int(dim)};
  };
  llvm::Value *rowAt = absolute(ownRow, row), *kAt = absolute(ownK, k);
  auto restrict = [&](llvm::Value *&at, int64_t size) { // where there is nothing, element 0 stands for it
    llvm::Value *exists = b.CreateICmpSLT(at, e.i64(size));
    at = b.CreateSelect(exists, at, e.i64(0));
    chunk.inside = e.band(chunk.inside, exists);
  };
  if (operand.total % operand.rows)
    restrict(rowAt, operand.total);
  if (plan.k % plan.form.depth())
    restrict(kAt, plan.k);
  chunk.point.resize(std::max(rowDim, kDim) + 1, evaluator.indices.constant(0));
  if (batch)
    chunk.point[0] = lower::Index{batch, 0, nullptr, evaluator.levels.current()};
  chunk.point[rowDim] = index(rowAt, rowDim);
  chunk.point[kDim] = index(kAt, kDim);
  return chunk;
}

llvm::Value *OperandCopy::simple(Chunk &chunk) {
  lower::Evaluator::Vector vector(evaluator, operand.lanes);
  llvm::Value *result = nullptr;
  if (!async) {
    result = chunk.inside;
    for (const lower::KnownBound &bound : bounds) {
      llvm::Value *first = chunk.point[bound.loop].base;
      llvm::Value *last = bound.loop == int(laneDim) ? b.CreateAdd(first, e.i64(operand.lanes - 1)) : first;
      result = e.band(result, b.CreateICmpSLE(evaluator.wide(bound.lo), first));
      result = e.band(result, b.CreateICmpSLT(last, evaluator.wide(bound.hi)));
    }
    return result;
  }
  // Lanes up to a bound, of a row that exists: the copy takes as many bytes and fills up with zeros.
  auto access = async.getPlace().getDefiningOp<tile::AccessOp>();
  unsigned lanes = loadDims[laneDim];
  OperandRange bound = access.getBound(lanes);
  SmallVector<lower::KnownBound, 1> filled;
  chunk.bytes = b.getInt32(16);
  if (bound.size() == 2) {
    llvm::Value *first = chunk.point[laneDim].base, *count = b.CreateSub(evaluator.wide(bound[1]), first);
    count = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, count, e.i64(0));
    count = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, count, e.i64(operand.lanes));
    chunk.bytes = b.CreateMul(b.CreateTrunc(count, b.getInt32Ty()), b.getInt32(operand.elementBytes));
    result = b.CreateICmpSLE(evaluator.wide(bound[0]), first);
    filled.push_back({bound[0], bound[1], int(laneDim)});
  }
  lower::Evaluator::Assumption cut(evaluator, filled);
  lower::Point first(chunk.point);
  for (auto [d, from] : llvm::enumerate(loadDims))
    first[from] = chunk.point[d];
  first[lanes].step = 0;
  lower::Address where = evaluator.addresses.ofPlace(async.getPlace(), first);
  if (!access.isStrided(lanes)) {
    lower::Point last(first);
    last[lanes].base = b.CreateAdd(last[lanes].base, e.i64(operand.lanes - 1));
    llvm::Value *distance =
        b.CreateSub(b.CreatePtrToInt(evaluator.addresses.ofPlace(async.getPlace(), last).pointer, b.getInt64Ty()),
                    b.CreatePtrToInt(where.pointer, b.getInt64Ty()));
    result = e.band(result, b.CreateICmpEQ(distance, e.i64((operand.lanes - 1) * operand.elementBytes)));
  }
  if (llvm::Value *exists = e.band(where.exists, chunk.inside))
    chunk.bytes = b.CreateSelect(exists, chunk.bytes, b.getInt32(0));
  chunk.from = where.pointer;
  llvm::Value *low = b.CreateAnd(b.CreatePtrToInt(chunk.from, b.getInt64Ty()), 15);
  return e.band(result, b.CreateICmpEQ(low, e.i64(0)));
}

// All elements are read before one is written, so that the reads run together.
void OperandCopy::moveAtOnce(llvm::MutableArrayRef<Chunk> chunks) {
  if (async) {
    for (Chunk &chunk : chunks)
      kernel.when(chunk.valid, [&] { machine.copyAsync(e, chunk.shared, chunk.from, chunk.bytes); });
    return;
  }
  lower::Evaluator::Vector vector(evaluator, operand.lanes);
  auto valueOf = [&](const Chunk &chunk) {
    lower::Evaluator::Assumption hold(evaluator, bounds);
    return convertedFactor(e, plan, operand, e.splat(evaluator.value(operand.tile, chunk.point), operand.lanes));
  };
  auto write = [&](const Chunk &chunk, lower::Lanes value) {
    if (laneStride() == operand.elementBytes) {
      b.CreateAlignedStore(value, chunk.shared, llvm::Align(operand.lanes * operand.elementBytes));
      return;
    }
    for (unsigned i = 0; i < operand.lanes; ++i)
      b.CreateAlignedStore(operand.lanes == 1 ? value : b.CreateExtractElement(value, uint64_t(i)),
                           b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), chunk.shared, i * laneStride()),
                           llvm::Align(operand.elementBytes));
  };
  SmallVector<lower::Lanes> values;
  for (Chunk &chunk : chunks) {
    if (!chunk.valid) {
      values.push_back(valueOf(chunk));
      continue;
    }
    kernel.when(chunk.valid, [&] {
      lower::Evaluator::Region region(evaluator);
      write(chunk, valueOf(chunk));
    });
  }
  for (auto [chunk, value] : llvm::zip(chunks, values))
    write(chunk, value);
}

// What does not exist is 0.
void OperandCopy::moveOneByOne(const Chunk &chunk) {
  kernel.nests.loop(e.i64(0), e.i64(operand.lanes), 1, false, {}, [&](llvm::Value *i, ArrayRef<lower::Lanes>) {
    llvm::Value *to = b.CreateGEP(b.getInt8Ty(), chunk.shared, b.CreateMul(i, e.i64(laneStride())));
    llvm::Type *type = b.getIntNTy(8 * operand.elementBytes);
    b.CreateAlignedStore(llvm::Constant::getNullValue(type), to, llvm::Align(operand.elementBytes));
    kernel.when(chunk.inside, [&] {
      lower::Point point(chunk.point);
      for (auto [d, index] : llvm::enumerate(point))
        index = lower::Index{d == laneDim ? b.CreateAdd(index.base, i) : index.base, 0, nullptr, evaluator.levels.current()};
      lower::Evaluator::Vector single(evaluator, 1);
      b.CreateAlignedStore(convertedFactor(e, plan, operand, evaluator.value(operand.tile, point)), to,
                           llvm::Align(operand.elementBytes));
    });
    return SmallVector<lower::Lanes>();
  });
}

void OperandCopy::emit(llvm::Value *thread, unsigned threads) {
  constexpr int64_t mostAtOnce = 8;
  int64_t total = chunkCount(), rounds = llvm::divideCeil(total, threads), roundsAtOnce = std::min(rounds, mostAtOnce);
  auto group = [&](llvm::Value *first) {
    lower::Evaluator::Region region(evaluator);
    SmallVector<Chunk> chunks;
    llvm::Value *all = nullptr;
    for (int64_t r = 0; r < roundsAtOnce; ++r) {
      bool surelyThere = total % (threads * roundsAtOnce) == 0 || (rounds <= mostAtOnce && (r + 1) * threads <= total);
      chunks.push_back(chunkAt(b.CreateAdd(first, e.i64(r * threads)), surelyThere));
      llvm::Value *ok = simple(chunks.back());
      if (ok && chunks.back().valid)
        ok = b.CreateOr(ok, b.CreateNot(chunks.back().valid));
      all = e.band(all, ok);
    }
    if (!all)
      return moveAtOnce(chunks);
    llvm::BasicBlock *fast = kernel.newBlock("whole"), *slow = kernel.newBlock("partial"), *after = kernel.newBlock();
    b.CreateCondBr(all, fast, slow);
    auto side = [&](llvm::BasicBlock *start, llvm::function_ref<void()> emit) {
      lower::Evaluator::Region region(evaluator);
      b.SetInsertPoint(start);
      emit();
      b.CreateBr(after);
    };
    side(fast, [&] { moveAtOnce(chunks); });
    side(slow, [&] {
      llvm::Value *end =
          b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateAdd(first, e.i64(roundsAtOnce * threads)), e.i64(total));
      kernel.nests.loop(first, end, threads, false, {}, [&](llvm::Value *number, ArrayRef<lower::Lanes>) {
        moveOneByOne(chunkAt(number, true));
        return SmallVector<lower::Lanes>();
      });
    });
    b.SetInsertPoint(after);
  };
  if (rounds <= mostAtOnce)
    return group(thread);
  kernel.nests.loop(thread, e.i64(total), roundsAtOnce * threads, false, {}, [&](llvm::Value *first, ArrayRef<lower::Lanes>) {
    group(first);
    return SmallVector<lower::Lanes>();
  });
}
} // namespace

lower::Lanes convertedFactor(lower::Emitter &e, const MmaPlan &plan, const MmaOperand &operand, lower::Lanes value) {
  auto &b = e.b;
  Type own = lower::elementOf(operand.tile);
  unsigned lanes = e.lanesOf(value);
  llvm::Type *type = e.vectorOf(b.getIntNTy(8 * operand.elementBytes), lanes);
  if (!isa<FloatType>(own))
    return operand.isUnsigned ? b.CreateZExtOrTrunc(value, type) : b.CreateSExtOrTrunc(value, type);
  bool half = operand.elementBytes == 2;
  if (half && own.getIntOrFloatBitWidth() == 16)
    return value;
  if (lower::isSmallFloat(own))
    value = e.widenFloat(value, own);
  if (half)
    return e.narrowFloat(value, plan.form.kind == MmaForm::F16 ? Type(Float16Type::get(own.getContext()))
                                                               : Type(BFloat16Type::get(own.getContext())));
  return b.CreateFPCast(value, e.vectorOf(plan.form.kind == MmaForm::F64 ? b.getDoubleTy() : b.getFloatTy(), lanes));
}

void MmaEmitter::fill(const Pass &pass, llvm::Value *stage, llvm::Value *iteration) {
  llvm::Value *step = iteration, *start = nullptr;
  if (plan.chunks > 1) {
    step = b.CreateUDiv(iteration, e.i64(plan.chunks));
    start = b.CreateMul(b.CreateURem(iteration, e.i64(plan.chunks)), e.i64(plan.a.k));
  }
  if (region) {
    evaluator.scalars[region->getArgument(0)] = step;
    lower::Evaluator::Region scope(evaluator);
    evaluator.failed |= !kernel.block(*region); // threads have waited for what it stores, and for others before it stores
  }
  for (const MmaOperand *operand : {&plan.a, &plan.b}) {
    if (operand->inRegisters)
      continue;
    OperandCopy copy(kernel, machine, plan, *operand);
    copy.batch = pass.batch;
    copy.row = operand->isA ? pass.row : pass.column;
    copy.k = start;
    copy.stage = operand->isA ? stage : b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), stage, plan.a.bytes());
    lower::Evaluator::Body scope(evaluator);
    copy.emit(thread, threads);
  }
}

} // namespace tilery::cuda
