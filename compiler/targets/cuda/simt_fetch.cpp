// Loads that run some turns of their loop ahead.
#include "compiler/ir/zero.h"
#include "compiler/targets/cuda/simt.h"

using namespace mlir;

namespace tilery::cuda {
using lower::Address;
using lower::Lanes;
using lower::Point;

const FetchLoop *SimtEmitter::fetchOf(Operation *loop) const {
  auto found = llvm::find_if(blockPlan.fetches, [&](const FetchLoop &fetch) { return fetch.loop == loop; });
  return found == blockPlan.fetches.end() ? nullptr : &*found;
}

// The scalars of the places as they are `distance` turns after the one whose number and carried values are given.
void SimtEmitter::inTurn(const FetchLoop &fetch, llvm::Value *counter, ArrayRef<llvm::Value *> carried, unsigned distance,
                         llvm::function_ref<void(llvm::Value *runs)> body) {
  auto &b = e.b;
  scf::ForOp loop = fetch.loop;
  llvm::DenseMap<Value, llvm::Value *> before = evaluator.scalars;
  auto wide = [&](llvm::Value *number) {
    return loop.getUnsignedCmp() ? b.CreateZExt(number, b.getInt64Ty()) : b.CreateSExt(number, b.getInt64Ty());
  };
  llvm::Value *step = evaluator.scalar(loop.getStep()), *runs = nullptr, *at = counter;
  if (distance) {
    llvm::Value *far = b.CreateAdd(wide(counter), b.CreateMul(wide(step), e.i64(distance)));
    runs = b.CreateICmpSLT(far, wide(evaluator.scalar(loop.getUpperBound())));
    runs = b.CreateAnd(runs, b.CreateICmpSGE(far, wide(counter)));
    at = b.CreateTrunc(far, counter->getType());
  }
  evaluator.scalars[loop.getInductionVar()] = at;
  for (auto [argument, now] : llvm::zip(loop.getRegionIterArgs(), carried)) {
    Operation *added = now && distance ? stepOfCarried(loop, argument) : nullptr;
    if (!added) {
      if (now)
        evaluator.scalars[argument] = now;
      continue;
    }
    llvm::Value *much = evaluator.scalar(added->getOperand(1));
    much = b.CreateMul(much, llvm::ConstantInt::get(much->getType(), distance));
    if (auto pointer = dyn_cast<tile::PtrType>(argument.getType()))
      evaluator.scalars[argument] = b.CreateGEP(e.memoryType(pointer.getPointee()), now, b.CreateSExt(much, b.getInt64Ty()));
    else
      evaluator.scalars[argument] = isa<arith::SubIOp>(added) ? b.CreateSub(now, much) : b.CreateAdd(now, much);
  }
  for (Operation *op : fetch.places)
    evaluator.failed |= !KernelEmitter::op(op);
  {
    lower::Evaluator::Body scope(evaluator);
    body(runs);
  }
  evaluator.scalars = std::move(before);
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

void SimtEmitter::startFetching(const FetchLoop &fetch) {
  scf::ForOp loop = fetch.loop;
  for (tile::LoadOp load : fetch.numbers) {
    llvm::IRBuilderBase::InsertPointGuard guard(e.b);
    e.b.SetInsertPoint(entryEnd);
    fetchedNumbers[load] = e.b.CreateAlloca(e.valueType(load.getType()));
  }
  Footprint reads;
  for (tile::LoadOp load : fetch.numbers)
    reads.reads.push_back(lower::classOfPlace(load.getPlace()));
  for (FetchLoop::Load load : fetch.loads)
    reads.reads.push_back(lower::classOfPlace(load.op.getPlace()));
  prepare(reads);
  SmallVector<llvm::Value *> carried;
  for (Value init : loop.getInitArgs())
    carried.push_back(isa<RankedTensorType>(init.getType()) ? nullptr : evaluator.scalar(init));
  llvm::Value *from = evaluator.scalar(loop.getLowerBound());
  for (unsigned turn = 0; turn < fetch.slots; ++turn)
    inTurn(fetch, from, carried, turn, [&](llvm::Value *runs) {
      if (!turn) // a loop may have no turn at all
        runs = loop.getUnsignedCmp() ? e.b.CreateICmpULT(from, evaluator.scalar(loop.getUpperBound()))
                                     : e.b.CreateICmpSLT(from, evaluator.scalar(loop.getUpperBound()));
      forFetched(fetch, e.b.getInt32(turn * fetch.slotBytes), [&](const FetchedVector &vector) {
        this->fetch(vector, evaluator.addressOf(vector.load(), vector.point), runs);
      });
      if (!turn)
        loadNumbers(fetch, runs);
    });
  if (fetch.slots == 1)
    return;
  llvm::AllocaInst *&slot = fetchSlots[fetch.loop];
  {
    llvm::IRBuilderBase::InsertPointGuard guard(e.b);
    e.b.SetInsertPoint(entryEnd);
    slot = e.b.CreateAlloca(e.b.getInt32Ty());
  }
  e.b.CreateStore(e.b.getInt32(0), slot);
}

// A place is empty once its vector is in registers: the thread that reads it is the one that fills it again.
void SimtEmitter::takeFetched(const FetchLoop &fetch) {
  auto &b = e.b;
  scf::ForOp loop = fetch.loop;
  llvm::AllocaInst *variable = fetchSlots.lookup(fetch.loop);
  llvm::Value *slot = variable ? b.CreateLoad(b.getInt32Ty(), variable) : (llvm::Value *)b.getInt32(0);
  llvm::Value *counter = evaluator.scalars[loop.getInductionVar()];
  SmallVector<llvm::Value *> carried;
  for (BlockArgument argument : loop.getRegionIterArgs())
    carried.push_back(evaluator.scalars.lookup(argument));
  SmallVector<std::pair<Address, llvm::Value *>> later;
  inTurn(fetch, counter, carried, fetch.slots, [&](llvm::Value *runs) {
    forFetched(fetch, slot,
               [&](const FetchedVector &vector) { later.push_back({evaluator.addressOf(vector.load(), vector.point), runs}); });
  });
  inTurn(fetch, counter, carried, 0, [&](llvm::Value *) {
    forFetched(fetch, slot, [&](const FetchedVector &vector) {
      machine.waitCopies(e, unsigned(fetch.slots * later.size()) - 1);
      evaluator.provide(vector.load().getResult(), vector.point, fetched(vector));
      this->fetch(vector, later[vector.number].first, later[vector.number].second);
    });
  });
  for (tile::LoadOp load : fetch.numbers)
    evaluator.scalars[load] = b.CreateLoad(e.valueType(load.getType()), fetchedNumbers.find(load)->second);
  if (!fetch.numbers.empty())
    inTurn(fetch, counter, carried, 1, [&](llvm::Value *runs) { loadNumbers(fetch, runs); });
  if (!variable)
    return;
  llvm::Value *next = b.CreateAdd(slot, b.getInt32(fetch.slotBytes));
  llvm::Value *past = b.CreateICmpEQ(next, b.getInt32(fetch.bytes()));
  b.CreateStore(b.CreateSelect(past, b.getInt32(0), next), variable);
}

} // namespace tilery::cuda
