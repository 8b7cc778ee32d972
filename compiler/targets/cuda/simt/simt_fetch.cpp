// Loads that run some turns of their loop ahead.
#include "compiler/ir/zero.h"
#include "compiler/targets/cuda/simt/simt.h"

using namespace mlir;

namespace tilery::cuda {
using lower::Address;
using lower::Lanes;
using lower::Point;

const FetchLoop *SimtEmitter::fetchOf(Operation *home) const {
  auto found = llvm::find_if(simtPlan.fetches, [&](const FetchLoop &fetch) { return fetch.home == home; });
  return found == simtPlan.fetches.end() ? nullptr : &*found;
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
  if (fetch.runsBackwards()) { // later turns have lower numbers
    far = b.CreateSub(far, b.CreateMul(wide(evaluator.scalar(loop.getStep())), e.i64(distance)));
    return {b.CreateICmpSGE(far, wide(evaluator.scalar(loop.getLowerBound()))), b.CreateTrunc(far, turn.number->getType())};
  }
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

// The thread's first place.
llvm::Value *SimtEmitter::placesOf(const FetchLoop &fetch) {
  auto &b = e.b;
  llvm::Value *all = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), evaluator.memory.arena, fetchOffset + fetch.offset);
  return b.CreateInBoundsGEP(b.getInt8Ty(), all, b.CreateMul(thread, e.i64(16)));
}

SimtEmitter::FetchedVector SimtEmitter::vectorOf(const FetchLoop::Load &load, int64_t chunk, llvm::Value *shared) {
  const Points &p = pointsOf(*load.map);
  llvm::Value *limit = chunk + 1 == load.map->chunks ? p.lastExists : nullptr;
  return {load.op, pointAt(p, chunk, tile::shapeOf(load.op->getResult(0).getType())), shared, load.map->width, limit};
}

SimtEmitter::FetchedVector SimtEmitter::fixedVector(const FetchLoop &fetch, const FetchLoop::Load &load, int64_t chunk) {
  uint64_t at = fetch.bytes() + load.offset + chunk * fetch.placeBytes;
  return vectorOf(load, chunk, e.b.CreateConstInBoundsGEP1_64(e.b.getInt8Ty(), placesOf(fetch), at));
}

// The vectors of a turn whose first one lies `first` bytes (i32) into the ring.
SmallVector<SimtEmitter::FetchedVector> SimtEmitter::vectorsOf(const FetchLoop &fetch, llvm::Value *first) {
  auto &b = e.b;
  llvm::Value *ring = placesOf(fetch);
  bool wraps = fetch.ring % fetch.vectors(); // within a turn, too
  llvm::Value *turn = b.CreateInBoundsGEP(b.getInt8Ty(), ring, b.CreateZExt(first, b.getInt64Ty()));
  SmallVector<FetchedVector> vectors;
  for (const FetchLoop::Load &load : fetch.loads) {
    for (int64_t k = 0; k < load.map->chunks; ++k) {
      uint64_t at = load.offset + k * fetch.placeBytes;
      llvm::Value *shared = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), turn, at);
      if (wraps && at) {
        llvm::Value *place = b.CreateAdd(first, b.getInt32(at));
        llvm::Value *past = b.CreateICmpUGE(place, b.getInt32(fetch.bytes()));
        place = b.CreateSelect(past, b.CreateSub(place, b.getInt32(fetch.bytes())), place);
        shared = b.CreateInBoundsGEP(b.getInt8Ty(), ring, b.CreateZExt(place, b.getInt64Ty()));
      }
      vectors.push_back(vectorOf(load, k, shared));
    }
  }
  return vectors;
}

Address SimtEmitter::addressIn(const FetchedVector &vector) {
  lower::Evaluator::Vector lanes(evaluator, vector.width, vector.limit);
  return evaluator.addresses.ofAccess(vector.load(), vector.point);
}

void SimtEmitter::copy(const FetchedVector &vector, const Address &where, llvm::Value *exists) {
  auto &b = e.b;
  machine.copyAsync(e, vector.shared, where.pointer,
                    exists ? b.CreateSelect(exists, b.getInt32(16), b.getInt32(0)) : b.getInt32(16));
}

// Each vector is a group of its own, so that its place is filled again as soon as it is read, while others are still on their way. Zeros
// where it does not exist; where its turn does not, what is in the place stays there if it is kept.
void SimtEmitter::fetch(const FetchedVector &vector, Address where, llvm::Value *runs, bool kept) {
  if (kept)
    when(runs, [&] { copy(vector, where, where.exists); });
  else
    copy(vector, where, e.band(runs, where.exists));
  machine.commitCopies(e);
}

// A turn's single numbers: into variables, which become registers.
void SimtEmitter::loadNumbers(const FetchLoop &fetch, llvm::Value *runs) {
  for (tile::LoadOp load : fetch.numbers) {
    Address where = evaluator.addresses.ofAccess(load, {});
    where.exists = e.band(where.exists, runs);
    Lanes other = load.getOther() ? evaluator.scalar(load.getOther()) : nullptr;
    e.b.CreateStore(evaluator.memory.load(where, other), fetchedNumbers.find(load)->second);
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
  Lanes lanes = evaluator.memory.load(where);
  Value other = load.getOther();
  Lanes exists = other && !tile::isZero(other) ? evaluator.addresses.ofAccess(load, vector.point).exists : nullptr;
  if (!exists) // the copy filled in zeros
    return lanes;
  Lanes missing = e.splat(evaluator.value(other, vector.point), evaluator.width());
  bool words = lanes->getType()->getPrimitiveSizeInBits() == 128;
  llvm::Type *type = words ? (llvm::Type *)e.vectorOf(b.getInt32Ty(), 4) : lanes->getType();
  Lanes chosen = b.CreateSelect(exists, b.CreateBitCast(lanes, type), b.CreateBitCast(missing, type));
  return b.CreateBitCast(chosen, lanes->getType());
}

Lanes SimtEmitter::copied(tile::LoadOp load, Indices point, unsigned lanes) {
  const FetchLoop *fetch = fetchOf(kernel);
  const auto *found =
      fetch ? llvm::find_if(fetch->fixed, [&](const FetchLoop::Load &fixed) { return fixed.op == load; }) : nullptr;
  if (!fetch || found == fetch->fixed.end() || lanes != found->map->width)
    return nullptr;
  SmallVector<llvm::Value *, 2> key;
  for (auto [index, size] : llvm::zip(point, tile::shapeOf(load.getType())))
    if (size != 1)
      key.push_back(index.base);
  const Points &p = pointsOf(*found->map);
  auto slot = p.slots.find(key);
  return slot == p.slots.end() ? nullptr : fetched(fixedVector(*fetch, *found, slot->second));
}

// From where it is called on; `entryEnd` must stand.
void SimtEmitter::startFetching(const FetchLoop &fetch, const Turn &first) {
  llvm::AllocaInst *place = nullptr;
  {
    llvm::IRBuilderBase::InsertPointGuard guard(e.b);
    e.b.SetInsertPoint(entryEnd);
    for (tile::LoadOp load : fetch.numbers)
      fetchedNumbers[load] = e.b.CreateAlloca(e.valueType(load.getType()));
    if (fetch.keeper)
      ringPlaces[fetch.home] = ringPlaces.lookup(fetch.keeper);
    else if (fetch.ring > fetch.vectors())
      place = ringPlaces[fetch.home] = e.b.CreateAlloca(e.b.getInt32Ty());
  }
  if (place)
    e.b.CreateStore(e.b.getInt32(0), place);
  Footprint reads;
  for (tile::LoadOp load : fetch.numbers)
    reads.reads.push_back(lower::classOfPlace(load.getPlace()));
  for (FetchLoop::Load load : llvm::concat<const FetchLoop::Load>(fetch.loads, fetch.fixed))
    reads.reads.push_back(lower::classOfPlace(load.op.getPlace()));
  prepare(reads);
  if (fetch.runsBackwards())
    mirrorTurns(fetch.loop());
  if (fetch.keeper)
    return;
  if (!fetch.fixed.empty()) // they arrive with the first vector of the first turn
    inTurn(fetch, first, 0, [&](llvm::Value *) {
      for (const FetchLoop::Load &load : fetch.fixed)
        for (int64_t k = 0; k < load.map->chunks; ++k) {
          FetchedVector vector = fixedVector(fetch, load, k);
          Address where = addressIn(vector);
          copy(vector, where, where.exists);
        }
    });
  for (unsigned turn = 0; turn * fetch.vectors() < fetch.ring; ++turn)
    inTurn(fetch, first, turn, [&](llvm::Value *runs) {
      unsigned before = turn * fetch.vectors();
      for (auto [i, vector] : llvm::enumerate(vectorsOf(fetch, e.b.getInt32(before * fetch.placeBytes))))
        if (before + i < fetch.ring)
          this->fetch(vector, addressIn(vector), runs, false);
      if (!turn)
        loadNumbers(fetch, runs);
    });
}

// What a turn's number is taken from where the loop runs backwards: the first and the last number's sum.
void SimtEmitter::mirrorTurns(scf::ForOp loop) {
  auto &b = e.b;
  auto wide = [&](Value n) { return b.CreateIntCast(evaluator.scalar(n), b.getInt64Ty(), true); };
  llvm::Value *low = wide(loop.getLowerBound()), *step = wide(loop.getStep());
  llvm::Value *turns = b.CreateUDiv(b.CreateSub(b.CreateSub(wide(loop.getUpperBound()), low), e.i64(1)), step); // before the last
  mirrors[loop] = b.CreateAdd(b.CreateAdd(low, low), b.CreateMul(turns, step));
}

SimtEmitter::Turn SimtEmitter::turnBefore(scf::ForOp loop) {
  Turn turn{evaluator.scalar(loop.getLowerBound()), {}};
  for (Value init : loop.getInitArgs())
    turn.carried.push_back(isa<RankedTensorType>(init.getType()) ? nullptr : evaluator.scalar(init));
  return turn;
}

// A place is empty once its vector is in registers: the thread that reads it is the one that fills it again, with the vector that comes
// as many later as there are places.
void SimtEmitter::takeFetched(const FetchLoop &fetch) {
  auto &b = e.b;
  llvm::AllocaInst *variable = ringPlaces.lookup(fetch.home);
  llvm::Value *place = variable ? b.CreateLoad(b.getInt32Ty(), variable) : (llvm::Value *)b.getInt32(0);
  int count = int(fetch.vectors()), places = int(fetch.ring);
  if (fetch.keeper && variable) { // the ring stands behind the last turn
    llvm::Value *before = b.CreateSub(place, b.getInt32(fetch.turnBytes));
    place = b.CreateSelect(b.CreateICmpSLT(before, b.getInt32(0)), b.CreateAdd(before, b.getInt32(fetch.bytes())), before);
    b.CreateStore(place, variable);
  }
  Turn turn{program, {}};
  if (scf::ForOp loop = fetch.loop()) {
    llvm::Value *&number = evaluator.scalars[loop.getInductionVar()];
    if (fetch.runsBackwards())
      number = b.CreateTrunc(b.CreateSub(mirrors.lookup(loop), b.CreateIntCast(number, b.getInt64Ty(), true)), number->getType());
    turn.number = number;
    for (BlockArgument argument : loop.getRegionIterArgs())
      turn.carried.push_back(evaluator.scalars.lookup(argument));
  }
  // Of each vector: how many turns on, and which there, is the one that takes its place.
  auto follower = [&](int i) {
    int turns = fetch.keeper ? (places - i + count - 1) / count : (i + places) / count;
    return std::pair(unsigned(turns), fetch.keeper ? i - places + turns * count : (i + places) % count);
  };
  SmallVector<std::pair<Address, llvm::Value *>> later(count);
  unsigned done = 0;
  for (int i = 0; i < count; ++i) {
    unsigned distance = follower(i).first;
    if (i && (fetch.keeper ? distance >= done : distance <= done))
      continue;
    done = distance;
    inTurn(fetch, turn, distance, [&](llvm::Value *runs) {
      SmallVector<FetchedVector> vectors = vectorsOf(fetch, place);
      for (int j = 0; j < count; ++j)
        if (auto [turns, which] = follower(j); turns == distance)
          later[j] = {addressIn(vectors[which]), runs};
    });
  }
  inTurn(fetch, turn, 0, [&](llvm::Value *) {
    SmallVector<FetchedVector> vectors = vectorsOf(fetch, place);
    for (int n = 0; n < count; ++n) {
      int i = fetch.keeper ? count - 1 - n : n;
      machine.waitCopies(e, unsigned(places) - 1);
      {
        lower::Evaluator::Vector lanes(evaluator, vectors[i].width, vectors[i].limit);
        evaluator.provide(vectors[i].load().getResult(), vectors[i].point, fetched(vectors[i]));
      }
      this->fetch(vectors[i], later[i].first, later[i].second, fetch.keeps);
    }
  });
  for (tile::LoadOp load : fetch.numbers)
    evaluator.scalars[load] = b.CreateLoad(e.valueType(load.getType()), fetchedNumbers.find(load)->second);
  if (!fetch.numbers.empty())
    inTurn(fetch, turn, 1, [&](llvm::Value *runs) { loadNumbers(fetch, runs); });
  if (!variable || fetch.keeper)
    return;
  llvm::Value *next = b.CreateAdd(place, b.getInt32(fetch.turnBytes));
  llvm::Value *past = b.CreateICmpUGE(next, b.getInt32(fetch.bytes()));
  b.CreateStore(b.CreateSelect(past, b.CreateSub(next, b.getInt32(fetch.bytes())), next), variable);
}

} // namespace tilery::cuda
