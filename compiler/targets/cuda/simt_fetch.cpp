// Loads that run some turns of their loop ahead.
#include "compiler/ir/zero.h"
#include "compiler/targets/cuda/simt.h"

using namespace mlir;

namespace tilery::cuda {
using lower::Address;
using lower::Lanes;
using lower::Point;

const FetchLoop *SimtEmitter::fetchOf(Operation *home) const {
  auto found = llvm::find_if(blockPlan.fetches, [&](const FetchLoop &fetch) { return fetch.home == home; });
  return found == blockPlan.fetches.end() ? nullptr : &*found;
}

// Whether there is a turn so much later, and its number.
std::pair<llvm::Value *, llvm::Value *> SimtEmitter::laterTurn(const FetchLoop &fetch, const Turn &turn, unsigned distance) {
  auto &b = e.b;
  scf::ForOp loop = fetch.loop();
  if (!loop) {
    llvm::Value *far = b.CreateAdd(turn.number, b.CreateMul(blocks, b.getInt32(distance)));
    return {b.CreateICmpULT(far, programs), far};
  }
  bool isUnsigned = loop.getUnsignedCmp();
  auto wide = [&](llvm::Value *n) { return b.CreateIntCast(n, b.getInt64Ty(), !isUnsigned); };
  llvm::Value *far = wide(turn.number), *end = wide(evaluator.scalar(loop.getUpperBound()));
  if (distance)
    far = b.CreateAdd(far, b.CreateMul(wide(evaluator.scalar(loop.getStep())), e.i64(distance)));
  llvm::Value *exists = isUnsigned ? b.CreateICmpULT(far, end) : b.CreateICmpSLT(far, end);
  return {b.CreateAnd(exists, b.CreateICmpSGE(far, wide(turn.number))), b.CreateTrunc(far, turn.number->getType())};
}

// The scalars that places need, as they are `distance` turns later.
void SimtEmitter::inTurn(const FetchLoop &fetch, const Turn &turn, unsigned distance,
                         llvm::function_ref<void(llvm::Value *runs)> body) {
  auto &b = e.b;
  scf::ForOp loop = fetch.loop();
  llvm::DenseMap<Value, llvm::Value *> before = evaluator.scalars;
  SmallVector<llvm::Value *, 3> coordinates = pid;
  auto [runs, number] = laterTurn(fetch, turn, distance);
  if (loop)
    evaluator.scalars[loop.getInductionVar()] = number;
  else if (distance || pid.empty())
    numberProgram(number);
  for (auto [argument, now] : llvm::zip(loop ? loop.getRegionIterArgs() : Block::BlockArgListType(), turn.carried)) {
    if (!now)
      continue;
    evaluator.scalars[argument] = now;
    Operation *added = distance ? stepOfCarried(loop, argument) : nullptr;
    if (!added)
      continue;
    llvm::Value *much = evaluator.scalar(added->getOperand(1));
    much = b.CreateMul(much, llvm::ConstantInt::get(much->getType(), distance));
    llvm::Value *&value = evaluator.scalars[argument];
    if (auto pointer = dyn_cast<tile::PtrType>(argument.getType()))
      value = b.CreateGEP(e.memoryType(pointer.getPointee()), now, b.CreateSExt(much, b.getInt64Ty()));
    else
      value = isa<arith::SubIOp>(added) ? b.CreateSub(now, much) : b.CreateAdd(now, much);
  }
  for (Operation *op : fetch.places)
    evaluator.failed |= !KernelEmitter::op(op);
  {
    lower::Evaluator::Body scope(evaluator);
    body(runs);
  }
  evaluator.scalars = std::move(before);
  pid = coordinates;
}

llvm::Value *SimtEmitter::fetchSlot(const FetchLoop &fetch, llvm::Value *slot) {
  auto &b = e.b;
  llvm::Value *own = b.CreateAdd(b.CreateMul(thread, e.i64(16)), b.CreateZExt(slot, b.getInt64Ty()));
  llvm::Value *first = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), evaluator.arena, fetchOffset + fetch.offset);
  return b.CreateInBoundsGEP(b.getInt8Ty(), first, own);
}

void SimtEmitter::forFetched(const FetchLoop &fetch, llvm::Value *slot, llvm::function_ref<void(const FetchedVector &)> visit) {
  llvm::Value *own = fetchSlot(fetch, slot);
  unsigned number = 0;
  for (FetchLoop::Load load : fetch.loads) {
    const Points &p = pointsOf(*load.map);
    for (int64_t k = 0; k < load.map->chunks; ++k) {
      lower::Evaluator::Vector vector(evaluator, load.map->width, k + 1 == load.map->chunks ? p.lastExists : nullptr);
      llvm::Value *shared = e.b.CreateConstInBoundsGEP1_64(e.b.getInt8Ty(), own, load.offset + k * threads * 16);
      visit({number++, load.op, pointAt(p, k, tile::shapeOf(load.op.getType())), shared});
    }
  }
}

// Each vector is a group of its own, so that its place is filled again as soon as it is read, while others are still on their way.
void SimtEmitter::fetch(const FetchedVector &vector, Address where, llvm::Value *runs) {
  auto &b = e.b;
  llvm::Value *exists = e.band(runs, where.exists);
  machine.copyAsync(e, vector.shared, where.pointer,
                    exists ? b.CreateSelect(exists, b.getInt32(16), b.getInt32(0)) : b.getInt32(16));
  machine.commitCopies(e);
}

// A turn's single numbers: into variables, which become registers.
void SimtEmitter::loadNumbers(const FetchLoop &fetch, llvm::Value *runs) {
  for (tile::LoadOp load : fetch.numbers) {
    Address where = evaluator.addressOf(load, {});
    where.exists = e.band(where.exists, runs);
    Lanes other = load.getOther() ? evaluator.scalar(load.getOther()) : nullptr;
    e.b.CreateStore(evaluator.load(where, other), fetchedNumbers.find(load)->second);
  }
}

Lanes SimtEmitter::fetched(const FetchedVector &vector) {
  auto &b = e.b;
  tile::LoadOp load = vector.load();
  Address where;
  where.element = lower::elementOf(load.getResult());
  where.pointer = vector.shared;
  where.step = 1;
  where.alignment = 16;
  Lanes lanes = evaluator.load(where);
  Value other = load.getOther();
  Lanes exists = other && !tile::isZero(other) ? evaluator.addressOf(load, vector.point).exists : nullptr;
  if (!exists) // the copy filled in zeros
    return lanes;
  Lanes missing = e.splat(evaluator.value(other, vector.point), evaluator.width());
  bool words = lanes->getType()->getPrimitiveSizeInBits() == 128;
  llvm::Type *type = words ? (llvm::Type *)e.vectorOf(b.getInt32Ty(), 4) : lanes->getType();
  Lanes chosen = b.CreateSelect(exists, b.CreateBitCast(lanes, type), b.CreateBitCast(missing, type));
  return b.CreateBitCast(chosen, lanes->getType());
}

// From where it is called on; `entryEnd` must stand.
void SimtEmitter::startFetching(const FetchLoop &fetch, const Turn &first) {
  llvm::AllocaInst *slot = nullptr;
  {
    llvm::IRBuilderBase::InsertPointGuard guard(e.b);
    e.b.SetInsertPoint(entryEnd);
    for (tile::LoadOp load : fetch.numbers)
      fetchedNumbers[load] = e.b.CreateAlloca(e.valueType(load.getType()));
    if (fetch.slots > 1)
      slot = fetchSlots[fetch.home] = e.b.CreateAlloca(e.b.getInt32Ty());
  }
  if (slot)
    e.b.CreateStore(e.b.getInt32(0), slot);
  Footprint reads;
  for (tile::LoadOp load : fetch.numbers)
    reads.reads.push_back(lower::classOfPlace(load.getPlace()));
  for (FetchLoop::Load load : fetch.loads)
    reads.reads.push_back(lower::classOfPlace(load.op.getPlace()));
  prepare(reads);
  for (unsigned turn = 0; turn < fetch.slots; ++turn)
    inTurn(fetch, first, turn, [&](llvm::Value *runs) {
      forFetched(fetch, e.b.getInt32(turn * fetch.slotBytes), [&](const FetchedVector &vector) {
        this->fetch(vector, evaluator.addressOf(vector.load(), vector.point), runs);
      });
      if (!turn)
        loadNumbers(fetch, runs);
    });
}

SimtEmitter::Turn SimtEmitter::turnBefore(scf::ForOp loop) {
  Turn turn{evaluator.scalar(loop.getLowerBound()), {}};
  for (Value init : loop.getInitArgs())
    turn.carried.push_back(isa<RankedTensorType>(init.getType()) ? nullptr : evaluator.scalar(init));
  return turn;
}

// A place is empty once its vector is in registers: the thread that reads it is the one that fills it again.
void SimtEmitter::takeFetched(const FetchLoop &fetch) {
  auto &b = e.b;
  llvm::AllocaInst *variable = fetchSlots.lookup(fetch.home);
  llvm::Value *slot = variable ? b.CreateLoad(b.getInt32Ty(), variable) : (llvm::Value *)b.getInt32(0);
  Turn turn{program, {}};
  if (scf::ForOp loop = fetch.loop()) {
    turn.number = evaluator.scalars[loop.getInductionVar()];
    for (BlockArgument argument : loop.getRegionIterArgs())
      turn.carried.push_back(evaluator.scalars.lookup(argument));
  }
  SmallVector<std::pair<Address, llvm::Value *>> later;
  inTurn(fetch, turn, fetch.slots, [&](llvm::Value *runs) {
    forFetched(fetch, slot,
               [&](const FetchedVector &vector) { later.push_back({evaluator.addressOf(vector.load(), vector.point), runs}); });
  });
  inTurn(fetch, turn, 0, [&](llvm::Value *) {
    forFetched(fetch, slot, [&](const FetchedVector &vector) {
      machine.waitCopies(e, unsigned(fetch.slots * later.size()) - 1);
      evaluator.provide(vector.load().getResult(), vector.point, fetched(vector));
      this->fetch(vector, later[vector.number].first, later[vector.number].second);
    });
  });
  for (tile::LoadOp load : fetch.numbers)
    evaluator.scalars[load] = b.CreateLoad(e.valueType(load.getType()), fetchedNumbers.find(load)->second);
  if (!fetch.numbers.empty())
    inTurn(fetch, turn, 1, [&](llvm::Value *runs) { loadNumbers(fetch, runs); });
  if (!variable)
    return;
  llvm::Value *next = b.CreateAdd(slot, b.getInt32(fetch.slotBytes));
  llvm::Value *past = b.CreateICmpEQ(next, b.getInt32(fetch.bytes()));
  b.CreateStore(b.CreateSelect(past, b.getInt32(0), next), variable);
}

} // namespace tilery::cuda
