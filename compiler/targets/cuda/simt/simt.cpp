#include "compiler/targets/cuda/simt/simt.h"
#include "compiler/analysis/sign.h"
#include "compiler/targets/cuda/ptx/host_numbers.h"
#include "compiler/targets/cuda/ptx/synchronizes.h"
#include "compiler/targets/cuda/mma/mma.h"
#include "compiler/targets/cuda/ptx/branch.h"
#include "compiler/targets/cuda/ptx/launch_order.h"
#include "compiler/targets/cuda/simt/own_buffers.h"
#include "compiler/lower/atomics.h"
#include "compiler/lower/branch.h"
#include "compiler/lower/kernel_info.h"
#include "compiler/lower/loop.h"

using namespace mlir;

namespace tilery::cuda {
using lower::Index;
using lower::Lanes;
using lower::Point;
using lower::Sink;

SimtEmitter::SimtEmitter(lower::Emitter &e, tile::KernelOp kernel, const SimtPlan &plan, const CudaTarget &target,
                         ThreadMachine &machine, bool mayAsk)
    : KernelEmitter(e, kernel, plan.plan, this), simtPlan(plan), target(target), machine(machine), mayAsk(mayAsk),
      threads(plan.threads * plan.cluster), byOthers(synchronizesWithOthers(kernel)) {}

bool SimtEmitter::asksForPositive(ArrayRef<Value> scalars) {
  auto excess = [](Value scalar) {
    return analysis::polynomialOf(scalar, analysis::Wrapping::address) - analysis::IndexPolynomial(1);
  };
  if (!mayAsk || !llvm::all_of(scalars, [&](Value scalar) { return analysis::hostKnows(excess(scalar)); }))
    return false;
  for (Value scalar : scalars)
    addCondition({hostPolynomial(excess(scalar))}, conditions);
  return true;
}

bool SimtEmitter::mayBeWritten(Value place) const {
  return byOthers || llvm::any_of(everything.writes, [&](lower::MemoryClass written) {
           return lower::mayAlias(lower::classOfPlace(place), written, e.options.disjoint);
         });
}

llvm::AllocaInst *SimtEmitter::variableOf(int buffer, ArrayRef<int64_t> shape, Indices point) const {
  auto found = registerTiles.find(buffer);
  if (found == registerTiles.end())
    return nullptr;
  SmallVector<llvm::Value *, 2> key;
  for (auto [index, size] : llvm::zip(point, shape))
    if (size != 1)
      key.push_back(index.base);
  auto slot = found->second.slots->find(key);
  if (slot == found->second.slots->end()) // a wrong plan: better no code than wrong code
    llvm::report_fatal_error("a tile in registers is read at elements that are not the thread's own");
  return found->second.variables[slot->second];
}

void SimtEmitter::refuse(Operation *op, const char *what) {
  op->emitError() << "the GPU target cannot " << what << " yet";
  evaluator.failed = true;
}

// x, y, z of a program. Divisions take as long as a row of some hundred elements: grids of one dimension do without.
void SimtEmitter::numberProgram(llvm::Value *program) {
  auto &b = e.b;
  llvm::Value *ofOneRow[] = {program, b.getInt32(0), b.getInt32(0)};
  pid = lower::emitUnless(b, b.CreateICmpULT(program, grid[0]), ofOneRow, [&] {
    keepBranch(b);
    llvm::Value *row = b.CreateUDiv(program, grid[0]);
    return lower::Values{b.CreateURem(program, grid[0]), b.CreateURem(row, grid[1]), b.CreateUDiv(row, grid[1])};
  });
}

// The areas of shared memory behind stored tiles; false after an error, where there is too little.
bool SimtEmitter::placeAreas(GpuInfo &info) {
  exchangeOffset = simtPlan.stagingOffset() + (simtPlan.stagingBytes + 63) / 64 * 64;
  sumsOffset = exchangeOffset + exchangeSlots * exchangeBytes;
  fetchOffset = llvm::alignTo(sumsOffset + 2 * simtPlan.exchangeBytes, 16);
  info.sharedBytes = fetchOffset + simtPlan.fetchBytes;
  if (info.sharedBytes <= target.sharedBytes)
    return true;
  kernel.emitError() << "a program needs " << info.sharedBytes << " bytes of shared memory, the device has " << target.sharedBytes
                     << "; use smaller tiles";
  return false;
}

BlockEntry SimtEmitter::beginKernel(GpuInfo &info) {
  auto &b = e.b;
  auto isReport = [](Operation *op) {
    return isa<tile::PrintOp, tile::AssertOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  unsigned resident = simtPlan.residentBlocks;
  BlockNeeds needs{simtPlan.threads, resident > 1 ? resident : 0, info.workspaceBytes};
  needs.registers = registersOf(kernel);
  needs.reports = kernel.walk(isReport).wasInterrupted();
  needs.cluster = info.cluster;
  BlockEntry entry = machine.begin(e, kernel, needs);
  function = entry.function;
  info.programmatic = target.sm >= 90 && orderLaunches(e, kernel, machine);
  makeScopes();
  for (BlockArgument argument : kernel.getBody().getArguments())
    evaluator.scalars[argument] = e.fromMemory(entry.arguments[argument.getArgNumber()], argument.getType());
  grid.assign(std::begin(entry.grid), std::end(entry.grid));
  evaluator.memory.arena = entry.shared;
  evaluator.memory.workspace = entry.workspace;
  reports = entry.reports;
  thread = entry.thread;
  sharedAddress = entry.sharedAddress;
  if (info.cluster > 1) {
    entry.number = b.CreateUDiv(entry.number, b.getInt32(info.cluster));
    entry.blocks = b.CreateUDiv(entry.blocks, b.getInt32(info.cluster));
    llvm::Value *before = b.CreateMul(b.CreateZExt(machine.clusterRank(e), b.getInt64Ty()), e.i64(info.threads));
    thread = b.CreateAdd(thread, before, "", true, true);
    exchangeRead[0] = exchangeRead[1] = true; // not before all blocks have begun
  }
  programs = entry.programs, blocks = entry.blocks;
  return entry;
}

FailureOr<GpuInfo> SimtEmitter::emit() {
  auto &b = e.b;
  GpuInfo info;
  info.threads = simtPlan.threads;
  info.cluster = simtPlan.cluster;
  info.workspaceBytes = plan.workspaceBytes;
  const FetchLoop *fetch = fetchOf(kernel);
  info.persistent = info.workspaceBytes != 0 || fetch; // as many workspaces as run at once
  if (!placeAreas(info))
    return failure();
  BlockEntry entry = beginKernel(info);
  llvm::BasicBlock *first = newBlock(), *start = newBlock(), *body = newBlock();
  entryEnd = b.CreateBr(first);
  b.SetInsertPoint(first);
  everything = footprintOfKernel();
  hazards.begin(everything, e.options.disjoint);
  if (fetch)
    startFetching(*fetch, {entry.number, {}});
  llvm::BasicBlock *before = b.GetInsertBlock();
  b.CreateBr(start);
  b.SetInsertPoint(start);
  program = entry.number;
  llvm::PHINode *next = nullptr;
  if (info.persistent) {
    program = next = b.CreatePHI(b.getInt32Ty(), 2);
    next->addIncoming(entry.number, before);
  }
  programId = b.CreateZExt(program, b.getInt64Ty());
  numberProgram(program);
  b.CreateBr(body);
  b.SetInsertPoint(body);
  makeRegisterTiles();
  if (!block(kernel.getBody().front()) || evaluator.failed)
    return failure();
  if (next) {
    barrier();
    llvm::Value *following = b.CreateAdd(program, entry.blocks);
    next->addIncoming(following, b.GetInsertBlock());
    llvm::BasicBlock *done = newBlock();
    b.CreateCondBr(b.CreateICmpULT(following, programs), start, done);
    b.SetInsertPoint(done);
  }
  b.CreateRetVoid();
  info.sites = std::move(sites);
  info.conditions = std::move(conditions);
  return info;
}

Point SimtEmitter::pointOf(ArrayRef<int64_t> shape, llvm::Value *linear) {
  auto &b = e.b;
  Point point(shape.size(), evaluator.indices.constant(0));
  for (int d = int(shape.size()) - 1; d >= 0; --d) {
    if (shape[d] == 1)
      continue;
    bool last = llvm::all_of(shape.take_front(d), [](int64_t size) { return size == 1; });
    llvm::Value *index = last ? linear : b.CreateURem(linear, e.i64(shape[d]));
    point[d] = Index{index, 0, nullptr, evaluator.levels.current(), 1, d};
    if (!last)
      linear = b.CreateUDiv(linear, e.i64(shape[d]));
  }
  return point;
}

void SimtEmitter::forEach(ArrayRef<int64_t> shape, llvm::function_ref<void(Indices)> body) {
  if (perThread)
    return KernelEmitter::forEach(shape, body);
  barrier();
  lower::Evaluator::Body scope(evaluator);
  deal(ShapedType::getNumElements(shape), [&](llvm::Value *i) {
    Point point = pointOf(shape, i);
    for (Index &index : point)
      index.loop = -1;
    body(point);
  });
  barrier();
}

// What a thread knows of its own elements dominates the rest of its block and the blocks in it.
bool SimtEmitter::block(Block &block) {
  lower::Evaluator::OwnedScope scope(evaluator);
  // A loop's body may be entered from its own end. There, threads may still read the second area of exchanges, if they can before.
  bool loops = isa<scf::ForOp>(block.getParentOp()) && !exchangeRead[0], known = &block == std::exchange(knownBody, nullptr);
  if (!isa<tile::KernelOp>(block.getParentOp())) {
    if (!known)
      hazards.lose();
    exchangeRead[0] = !loops;
    exchangeRead[1] = true;
  }
  if (const FetchLoop *fetch = fetchOf(block.getParentOp()))
    takeFetched(*fetch);
  freshTurn = isa<scf::ForOp>(block.getParentOp()) && !perThread ? &block : nullptr;
  bool ok = KernelEmitter::block(block);
  freshTurn = nullptr;
  if (loops && exchangeRead[0])
    barrier();
  auto leavesTiles = [&](const lower::Step &step) {
    auto isStored = [&](Value result) { return plan.storage.contains(result); };
    return !step.op || llvm::any_of(step.op->getResults(), isStored);
  };
  auto steps = plan.steps.find(&block);
  if (isa<tile::ContractOp>(block.getParentOp()) && steps != plan.steps.end() && llvm::any_of(steps->second, leavesTiles))
    barrier(); // all threads read next what operands are made of: tiles of indices, what branches choose, sorted lines
  if (!known)
    hazards.lose();
  exchangeRead[0] = exchangeRead[1] = true;
  return ok;
}

namespace {
bool isTile(Type type) { return isa<RankedTensorType>(type); }
bool isArithmetic(Operation *op) {
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) && llvm::none_of(op->getOperandTypes(), isTile) &&
         llvm::none_of(op->getResultTypes(), isTile);
}
} // namespace

std::optional<Footprint> SimtEmitter::footprintOfNumber(Operation *op) const {
  if (auto load = dyn_cast<tile::LoadOp>(op); load && !isTile(load.getType()) && !load.getIsVolatile())
    return Footprint{{lower::classOfPlace(load.getPlace())}, {}};
  if (auto load = dyn_cast<tile::ElementLoadOp>(op))
    return Footprint{{lower::classOfBuffer(load.getBuffer())}, {}};
  auto extract = dyn_cast<tile::ExtractOp>(op);
  if (!extract)
    return std::nullopt;
  lower::Pull pull;
  pull.add(extract.getValue(), [&](Value value) { return !plan.isVirtual(value); });
  Footprint footprint;
  addReads(footprint, pull);
  return footprint;
}

std::optional<Footprint> SimtEmitter::footprintOf(scf::ForOp loop) const {
  if (fetchOf(loop) || plan.elementLoops.contains(loop))
    return std::nullopt;
  Footprint all;
  auto add = [&](const lower::Step &step) {
    std::optional<Footprint> part;
    if (Operation *op = step.op) {
      if (isArithmetic(op) || isa<tile::AllocOp>(op))
        return true;
      if (auto inner = dyn_cast<scf::ForOp>(op))
        part = footprintOf(inner);
      else if (!fetchedNumbers.contains(op))
        part = footprintOfNumber(op);
    } else {
      bool mapped = simtPlan.mapped.contains(&step.nest);
      if (llvm::none_of(step.nest.sinks,
                        [&](const Sink &sink) { return sink.kind == Sink::Update || (sink.kind == Sink::Reduce && !mapped); }))
        part = footprintOf(step.nest);
    }
    if (part) {
      all.reads.append(part->reads);
      all.writes.append(part->writes);
    }
    return part.has_value();
  };
  Block *body = loop.getBody();
  for (const auto *list : {&plan.steps, &plan.copies})
    if (auto found = list->find(body); found != list->end() && !llvm::all_of(found->second, add))
      return std::nullopt;
  for (Operation &op : *body)
    if (auto found = plan.inits.find(&op); found != plan.inits.end() && !llvm::all_of(found->second, add))
      return std::nullopt;
  return all;
}

bool SimtEmitter::op(Operation *op) {
  if (counted && isa<tile::StoreOp, tile::ElementStoreOp, tile::ElementUpdateOp, tile::AtomicRmwOp, tile::AtomicCasOp,
                     tile::PrintOp, tile::AssertOp>(op))
    return countedOp(op);
  if (const FetchLoop *fetch = fetchOf(op)) {
    startFetching(*fetch, turnBefore(cast<scf::ForOp>(op)));
    bool ok = KernelEmitter::op(op);
    machine.waitCopies(e, 0); // others may use its shared memory
    return ok;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op); loop && !perThread)
    if (std::optional<Footprint> turn = footprintOf(loop); turn && hazards.repeats(*turn)) {
      prepare(*turn); // no turn waits: what was there before the loop is waited for in front of it
      Hazards after = hazards;
      knownBody = loop.getBody();
      bool ok = KernelEmitter::op(op);
      hazards = after;
      return ok;
    }
  if (perThread || isArithmetic(op) || isa<tile::AllocOp, scf::ForOp, scf::IfOp, scf::WhileOp>(op))
    return KernelEmitter::op(op);
  if (fetchedNumbers.contains(op))
    return true;
  if (std::optional<Footprint> reads = footprintOfNumber(op)) {
    prepare(*reads);
    return KernelEmitter::op(op);
  }
  // Other blocks may change what is read while threads read it, and control flow hang on it: all get what one thread has read.
  if (auto load = dyn_cast<tile::LoadOp>(op); load && load.getIsVolatile() && !isa<RankedTensorType>(load.getType())) {
    bool ok = true;
    inOneThread(op, [&] { ok = KernelEmitter::op(op); });
    return ok;
  }
  if (const ThreadMap *map = simtPlan.scans.lookup(op)) {
    auto scan = cast<tile::ScanOp>(op);
    Footprint footprint = footprintOf(scan);
    loadEarly(op);
    lower::Evaluator::Body scope(evaluator);
    prepare(footprint);
    mappedScan(scan, *map);
    hazards.add(footprint);
    return !evaluator.failed;
  }
  if (hazards.pending())
    barrier();
  bool ok = KernelEmitter::op(op);
  // Scalar effects: every thread makes the same one.
  if (isa<tile::BufferStoreOp, tile::ElementStoreOp>(op))
    barrier();
  else
    hazards.lose();
  return ok;
}

bool SimtEmitter::parallelOp(tile::ParallelOp op) {
  if (perThread)
    return KernelEmitter::parallelOp(op);
  auto &b = e.b;
  Block &body = op.getBody().front();
  body.walk([&](tile::ElementStoreOp store) {
    auto alloc = store.getBuffer().getDefiningOp<tile::AllocOp>();
    if (alloc && !privateBuffers.contains(alloc) && belongsToPoints(alloc))
      makePrivateBuffer(alloc);
  });
  SmallVector<llvm::Value *> extents;
  llvm::Value *total = e.i64(1);
  for (Value extent : op.getExtents()) {
    llvm::Value *size = b.CreateSExtOrTrunc(evaluator.scalar(extent), b.getInt64Ty());
    size = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, size, e.i64(0));
    extents.push_back(size);
    total = b.CreateMul(total, size);
  }
  barrier();
  perThread = true;
  llvm::BasicBlock *head = newBlock("parallel"), *exit = newBlock();
  lower::Loop loop(b, head, exit);
  loop.enter(b.CreateICmpSLT(thread, total));
  llvm::PHINode *i = loop.carry(thread);
  llvm::Value *rest = i;
  for (int d = int(extents.size()) - 1; d >= 0; --d) {
    llvm::Type *type = e.valueType(body.getArgument(d).getType());
    evaluator.scalars[body.getArgument(d)] = b.CreateSExtOrTrunc(d ? b.CreateURem(rest, extents[d]) : rest, type);
    rest = b.CreateUDiv(rest, extents[d]);
  }
  bool ok = block(body);
  llvm::Value *next = b.CreateAdd(i, e.i64(threads));
  loop.repeat(next, b.CreateICmpSLT(next, total));
  loop.leave();
  perThread = false;
  barrier();
  return ok;
}

void SimtEmitter::elementUpdateOp(tile::ElementUpdateOp op) {
  atomically(
      op, [&](Indices) { return elementAddress(op.getBuffer(), op.getIndices()); },
      [&](llvm::Value *pointer, Indices) {
        return lower::readModifyWrite(e, op.getKind(), op.getValue().getType(), pointer, evaluator.scalar(op.getValue()));
      });
}

void SimtEmitter::atomically(Operation *op, llvm::function_ref<lower::Address(Indices)> where, Update update) {
  if (perThread || isa<RankedTensorType>(op->getResult(0).getType()))
    return KernelEmitter::atomically(op, where, update);
  inOneThread(op, [&] { KernelEmitter::atomically(op, where, update); });
}

void SimtEmitter::inOneThread(Operation *op, llvm::function_ref<void()> effect) {
  barrier(); // what the program wrote before comes first
  bool used = !op->getResult(0).use_empty();
  llvm::Value *slot = used ? exchange(0, e.i64(0)) : nullptr;
  when(e.b.CreateICmpEQ(thread, e.i64(0)), [&] {
    perThread = true;
    effect();
    perThread = false;
    if (used)
      e.b.CreateStore(e.toMemory(evaluator.scalars[op->getResult(0)], op->getResult(0).getType()), slot);
  });
  barrier(); // what it does then comes later
  if (!used)
    return;
  Type type = op->getResult(0).getType();
  evaluator.scalars[op->getResult(0)] = e.fromMemory(e.b.CreateLoad(e.memoryType(type), slot), type);
  barrier();
}

void SimtEmitter::histogramOp(tile::HistogramOp op) {
  auto &b = e.b;
  auto result = cast<RankedTensorType>(op.getType());
  int buffer = plan.storage.lookup(op.getResult());
  llvm::Type *count = e.valueType(result.getElementType());
  forEach(result.getShape(), [&](Indices point) {
    evaluator.memory.store(evaluator.addresses.ofStored(buffer, result.getShape(), point), llvm::Constant::getNullValue(count));
  });
  forEach(tile::shapeOf(op.getValue().getType()), [&](Indices point) {
    llvm::Value *bin = b.CreateSExtOrTrunc(evaluator.value(op.getValue(), point), b.getInt64Ty());
    llvm::Value *counted = b.CreateICmpULT(bin, e.i64(result.getDimSize(0)));
    if (op.getMask())
      counted = b.CreateAnd(counted, evaluator.value(op.getMask(), point));
    when(counted, [&] {
      lower::Address where =
          evaluator.addresses.ofStored(buffer, result.getShape(), {Index{bin, 0, nullptr, evaluator.levels.current()}});
      b.CreateAtomicRMW(llvm::AtomicRMWInst::Add, where.pointer, llvm::ConstantInt::get(count, 1),
                        llvm::MaybeAlign(where.alignment), llvm::AtomicOrdering::Monotonic);
    });
  });
}

void SimtEmitter::dotOp(Operation *op) {
  if (perThread)
    return refuse(op, "multiply tiles in code that each thread runs for itself");
  const MmaPlan &product = simtPlan.product(op);
  llvm::Value *staging = simtPlan.stagesInResult(product)
                             ? evaluator.addresses.scratchPointer(plan.storage.lookup(op->getResult(0)))
                             : e.b.CreateConstInBoundsGEP1_64(e.b.getInt8Ty(), evaluator.memory.arena, simtPlan.stagingOffset());
  auto inRegisters = registerTiles.find(plan.storage.lookup(op->getResult(0)));
  MmaEmitter emitter(*this, machine, thread, threads, product, staging, op);
  if (inRegisters != registerTiles.end())
    emitter.result = inRegisters->second.variables;
  if (product.a.inRegisters) {
    const ThreadMap &map = simtPlan.maps.find({product.m, product.k})->second;
    for (int64_t chunk = 0; chunk < map.chunks; ++chunk) {
      lower::Evaluator::Vector vector(evaluator, map.width);
      Lanes elements = e.splat(evaluator.value(product.a.tile, pointAt(pointsOf(map), chunk, map.sizes)), map.width);
      emitter.factor.push_back(convertedFactor(e, product, product.a, elements));
    }
  }
  evaluator.failed |= !emitter.emit();
}

llvm::Value *SimtEmitter::exchange(unsigned slot, llvm::Value *entry) {
  llvm::Value *base =
      e.b.CreateConstInBoundsGEP1_64(e.b.getInt8Ty(), evaluator.memory.arena, exchangeOffset + slot * exchangeBytes);
  return e.b.CreateInBoundsGEP(e.b.getInt64Ty(), base, entry);
}

} // namespace tilery::cuda
