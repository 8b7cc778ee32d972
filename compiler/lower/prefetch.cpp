// While a nest walks tiles that an earlier one has brought into the cache, memory is idle: the tiles of the next program are fetched then,
// and the lines that the program itself will write.
#include "compiler/lower/nest.h"
#include "compiler/lower/prefetch.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilery::lower {
namespace {
constexpr int64_t lineBytes = 64;
// This much fits beside the current tiles in every second-level cache.
constexpr int64_t aheadBytes = 128 << 10;

// Every dimension is strided, the inner one by one element.
bool runsAlongMemory(tile::AccessOp access, unsigned inner) {
  APInt step;
  if (!access)
    return false;
  for (unsigned d = 0, rank = cast<tile::AccessType>(access.getType()).getRank(); d < rank; ++d)
    if (!access.isStrided(d))
      return false;
  return matchPattern(access.getSteps()[inner], m_ConstantInt(&step)) && step == 1;
}
ArrayRef<int64_t> shapeOf(tile::AccessOp access) { return cast<tile::AccessType>(access.getType()).getShape(); }
unsigned bytesOf(tile::AccessOp access) { return elementBytes(cast<tile::AccessType>(access.getType()).getElementType()); }
} // namespace

// A scalar here or, with `next`, as the next program has it. Null if it hangs on what is not computed yet.
llvm::Value *NestEmitter::scalarAhead(Value value, bool next) {
  if (auto known = nextScalars.find(value); next && known != nextScalars.end())
    return known->second;
  llvm::Value *result = computeAhead(value, next);
  if (next)
    nextScalars[value] = result;
  return result;
}
llvm::Value *NestEmitter::computeAhead(Value value, bool next) {
  llvm::Value *here = evaluator.scalars.lookup(value);
  Operation *op = value.getDefiningOp();
  if (op && op->hasTrait<OpTrait::ConstantLike>())
    return evaluator.scalar(value);
  if (auto id = dyn_cast_or_null<tile::ProgramIdOp>(op); id && here && next && !nextProgram.empty())
    return nextProgram[id.getAxis()];
  if (!op || !isElementwise(op) || (here && !next))
    return here;
  SmallVector<Lanes> operands;
  bool differs = !here;
  for (Value operand : op->getOperands()) {
    operands.push_back(scalarAhead(operand, next));
    if (!operands.back())
      return nullptr;
    differs |= operands.back() != scalarAhead(operand, false);
  }
  if (!differs)
    return here;
  if (auto add = dyn_cast<tile::AddPtrOp>(op)) {
    llvm::Type *element = e.memoryType(cast<tile::PtrType>(add.getType()).getPointee());
    return e.b.CreateGEP(element, operands[0], e.b.CreateSExtOrTrunc(operands[1], e.b.getInt64Ty()));
  }
  return emitElementwise(e, op, operands);
}

// The address of the access's first element, as an integer.
llvm::Value *NestEmitter::startOf(tile::AccessOp access, bool next) {
  auto &b = e.b;
  llvm::Value *base = scalarAhead(access.getBase(), next), *offset = scalarAhead(access.getOffset(), next);
  if (!base || !offset)
    return nullptr;
  llvm::Type *element = e.memoryType(cast<tile::AccessType>(access.getType()).getElementType());
  return b.CreatePtrToInt(b.CreateGEP(element, base, b.CreateSExtOrTrunc(offset, b.getInt64Ty())), b.getInt64Ty());
}

void NestEmitter::planPrefetches(const llvm::SmallPtrSetImpl<const void *> &reached) {
  auto &b = e.b;
  prefetches.clear();
  nextScalars.clear();
  Block *block = nest->sinks[0].op->getBlock();
  int64_t elements = ShapedType::getNumElements(nest->shape), bytes = 0;
  for (auto load : block->getOps<tile::LoadOp>()) {
    auto access = load.getPlace().getDefiningOp<tile::AccessOp>();
    if (!access || !reached.count(load) || walked.insert(load).second || !fetched.insert(load).second)
      continue; // not walked before, or fetched already
    if (shapeOf(access) != ArrayRef<int64_t>(nest->shape) || !runsAlongMemory(access, innerDim) ||
        (bytes += elements * bytesOf(access)) > aheadBytes)
      continue;
    bool moves = scalarAhead(access.getBase(), false) != scalarAhead(access.getBase(), true) ||
                 scalarAhead(access.getOffset(), false) != scalarAhead(access.getOffset(), true);
    llvm::Value *here = startOf(access, false), *next = startOf(access, true);
    if (moves && here && next) // else every program reads it
      prefetches.push_back({access, b.CreateSub(next, here), false});
  }
  if (prefetches.empty())
    return;
  // Lines to be written: found from the load's place, so that a launch whose stores bypass the cache touches that instead.
  tile::AccessOp load = prefetches[0].access;
  if (elements != nest->shape[innerDim] || nest->sinks[0].kind == Sink::Store)
    return;
  for (auto store : block->getOps<tile::StoreOp>()) {
    auto access = store.getPlace().getDefiningOp<tile::AccessOp>();
    if (!access || !nest->sinks[0].op->isBeforeInBlock(store) || shapeOf(access) != ArrayRef<int64_t>(nest->shape) ||
        !runsAlongMemory(access, innerDim) || bytesOf(access) != bytesOf(load))
      continue;
    if (llvm::Value *there = startOf(access, false), *here = startOf(load, false); there && here) {
      llvm::Value *distance = b.CreateSub(there, here);
      prefetches.push_back({load, streaming ? b.CreateSelect(streaming, e.i64(0), distance) : distance, true});
      return;
    }
  }
}

void emitPrefetch(llvm::IRBuilder<> &b, llvm::Value *place, bool write, bool near) {
  constexpr unsigned secondLevel = 2, firstLevel = 3, data = 1;
  b.CreateIntrinsic(llvm::Intrinsic::prefetch, {b.getPtrTy()},
                    {place, b.getInt32(write), b.getInt32(near ? firstLevel : secondLevel), b.getInt32(data)});
}

void NestEmitter::prefetch(llvm::Value *j, int64_t count) {
  auto &b = e.b;
  for (Prefetch &p : prefetches) {
    Point at(point);
    at[innerDim] = Index{j, 0, nullptr, evaluator.levels.current(), 1, int(innerDim)};
    Evaluator::Vector single(evaluator, 1);
    llvm::Value *first = b.CreateGEP(b.getInt8Ty(), evaluator.addresses.ofPlace(p.access, at).pointer, p.distance);
    for (int64_t done = 0, bytes = count * bytesOf(p.access); done < bytes; done += lineBytes)
      emitPrefetch(b, b.CreateConstGEP1_64(b.getInt8Ty(), first, done), p.write, p.write);
  }
}

} // namespace tilery::lower
