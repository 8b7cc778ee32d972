#include "compiler/targets/cuda/block/block_emitter.h"
#include "compiler/block/passes/join_programs.h"
#include "compiler/block/price/schedule.h"
#include "compiler/targets/cuda/block/box_maps.h"
#include "compiler/targets/cuda/ptx/launch_order.h"
#include "compiler/targets/cuda/ptx/synchronizes.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
constexpr unsigned namedBarriers = 16;
constexpr unsigned alignment = SharedPlan::alignment;

template <typename... Ops> bool contains(Operation *op) {
  return op->walk([](Operation *inner) { return isa<Ops...>(inner) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

Value baseOf(Value map) {
  if (auto remap = map.getDefiningOp<block::RemapOp>())
    return remap.getBase();
  return map.getDefiningOp<block::MapOp>().getBase();
}

/// All of its work is numbers: one thread does it.
bool isOneThreads(block::RoleOp role) {
  auto isTile = [](Type type) { return isa<RankedTensorType, block::PendingType>(type); };
  return !role.walk([&](Operation *op) {
                return isa<block::FetchOp>(op) || llvm::any_of(op->getOperandTypes(), isTile) ||
                               llvm::any_of(op->getResultTypes(), isTile)
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted();
}
} // namespace

bool storesBoxes(block::RemapOp remap) {
  return llvm::any_of(remap.getResult().getUsers(), [](Operation *user) { return isa<block::StoreBoxOp>(user); });
}

unsigned copiesOf(block::RemapOp remap) {
  return storesBoxes(remap) ? std::max(remap->getParentOfType<block::RoleOp>().getWarps() / 4, 1u) : 1;
}

SharedPlan::SharedPlan(tile::KernelOp kernel) {
  kernel.walk([&](block::RingOp op) {
    rings[op].barriers = bytes;
    bytes += op.getType().getCount() * barriersOfSlot;
  });
  if (contains<tile::AtomicRmwOp, tile::AtomicCasOp>(kernel)) {
    constexpr unsigned most = 16; // of what an update gives
    exchange = bytes;
    bytes += most;
  }
  kernel.walk([&](block::RemapOp remap) {
    unsigned copies = copiesOf(remap);
    made[remap] = bytes;
    bytes += copies * 8 * (remap->getNumOperands() - 1);
    madeMaps += storesBoxes(remap) ? copies : 2;
  });
  kernel.walk([&](block::RoleOp role) {
    constexpr unsigned widest = 16; // bytes, of a load
    betweenWarps[role] = bytes = llvm::alignTo(bytes, widest);
    bytes += llvm::alignTo(bytesBetweenWarps(role), widest) * role.instanceCount();
  });
  bytes = llvm::alignTo(bytes, alignment);
  kernel.walk([&](Operation *op) {
    if (auto alloc = dyn_cast<block::AllocOp>(op); alloc && alloc.getOver()) {
      allocations[op] = rings.lookup(alloc.getOver().getDefiningOp()).slots;
    } else if (alloc) {
      auto role = alloc->getParentOfType<block::RoleOp>(); // each instance has its own
      allocations[op] = bytes;
      bytes += llvm::alignTo(alloc.getType().getBytes(), alignment) * (role ? role.instanceCount() : 1);
    } else if (auto made = dyn_cast<block::RingOp>(op)) {
      Ring &ring = rings[op];
      ring.slots = bytes;
      for (int64_t offset : made.tileOffsets(alignment))
        ring.parts.push_back(unsigned(offset));
      ring.pitch = ring.parts.pop_back_val();
      bytes += made.getType().getCount() * ring.pitch;
    }
  });
}

BlockEmitter::BlockEmitter(lower::Emitter &e, tile::KernelOp kernel, BlockMachine &machine)
    : e(e), b(e.b), kernel(kernel), machine(machine), plan(kernel), evaluator(e, noPlan, this),
      byOthers(synchronizesWithOthers(kernel)) {
  for (auto [number, map] : llvm::enumerate(kernel.getBody().getOps<block::MapOp>()))
    maps[map] = number;
  kernel.walk([&](block::ProgramsOp programs) { order = programs; });
  kernel.walk([&](Operation *op) {
    if (auto store = dyn_cast<tile::StoreOp>(op))
      written.push_back(lower::classOfPlace(store.getPlace()));
    else if (auto store = dyn_cast<block::StoreBoxOp>(op))
      written.push_back(lower::classOfPointer(baseOf(store.getMap())));
    else if (auto update = dyn_cast<tile::AtomicRmwOp>(op))
      written.push_back(lower::classOfPlace(update.getPlace()));
    else if (auto swap = dyn_cast<tile::AtomicCasOp>(op))
      written.push_back(lower::classOfPlace(swap.getPlace()));
    synchronizes |= isa<tile::AtomicRmwOp, tile::AtomicCasOp>(op) && !isa<RankedTensorType>(op->getResult(0).getType());
  });
  byWarps = !block::Gpu::of(kernel).warpgroups;
  findRoles();
}

bool BlockEmitter::mayBeWritten(Value place) const {
  return byOthers || llvm::any_of(written, [&](lower::MemoryClass each) {
           return lower::mayAlias(lower::classOfPlace(place), each, e.options.disjoint);
         });
}

void BlockEmitter::findRoles() {
  unsigned warp = 0, barrier = 1;
  for (auto all : kernel.getBody().getOps<block::RolesOp>())
    for (auto op : all.getBody().getOps<block::RoleOp>()) {
      Role &role = roles.emplace_back();
      role.op = op;
      role.firstWarp = warp;
      role.warps = op.getWarps();
      role.barrier = barrier;
      role.oneThread = isOneThreads(op);
      role.storesBoxes = contains<block::StoreBoxOp>(op);
      warp = role.end();
      barrier += role.barriers() * op.instanceCount() + (contains<block::TurnOp>(op) ? role.turns() : 0);
      if (barrier > namedBarriers)
        fail(op, "needs more named barriers than a block has");
      if (role.warps % 4)
        warpsOfGroup = 1;
      if (op.instanceCount() > 1 && (role.oneThread || role.warps % 4))
        fail(op, "has instances that are no warpgroups");
      auto programs = op.getBody().getOps<block::ProgramsOp>();
      if (role.oneThread && llvm::hasSingleElement(programs))
        findAhead(role);
    }
}

void BlockEmitter::makeFunction() {
  std::optional<block::Schedule> schedule = block::Schedule::of(kernel);
  BlockNeeds needs;
  needs.threads = 32 * roles.back().end();
  needs.residentBlocks = resident = std::max(schedule ? schedule->resident : 1, 1u);
  needs.maps = maps.size();
  needs.workspaceBytes = plan.madeMaps * block::mapBytes;
  needs.sharedAlignment = alignment;
  if (byWarps) // products of warpgroups do not assemble with fewer than they take
    needs.registers = registersOf(kernel);
  needs.cluster = cluster = block::clusterSize(&kernel.getBody().front().front());
  entry = machine.begin(e, kernel, needs);
  programmatic = !byWarps && orderLaunches(e, kernel, machine);
  for (BlockArgument argument : kernel.getBody().getArguments())
    remember(argument, {e.fromMemory(entry.arguments[argument.getArgNumber()], argument.getType())});
  base = entry.sharedAddress;
  thread = b.CreateTrunc(entry.thread, b.getInt32Ty());
  // The group's number from lane 0: the compiler then knows that it is the same in the whole warp.
  group = machine.shuffleFrom(e, b.CreateLShr(thread, warpsOfGroup == 4 ? 7 : 5), i32(0), i32(-1));
  if (cluster > 1) { // its blocks run a program together
    entry.number = b.CreateUDiv(entry.number, i32(cluster));
    entry.blocks = b.CreateUDiv(entry.blocks, i32(cluster));
  }
  number = entry.number;
  joinPrograms();
  prepareMaps();
}

// The grid that blocks go over is smaller than that of the launch, of which the kernel's own code still asks.
void BlockEmitter::joinPrograms() {
  llvm::copy(entry.grid, launched.begin());
  auto joined = kernel->getAttrOfType<DenseI64ArrayAttr>(block::joinedPrograms);
  if (!joined)
    return;
  llvm::Value *&extent = entry.grid[joined[0]];
  extent = b.CreateUDiv(b.CreateAdd(extent, i32(int32_t(joined[1] - 1))), i32(int32_t(joined[1])));
  entry.programs = b.CreateMul(b.CreateMul(entry.grid[0], entry.grid[1]), entry.grid[2]);
}

void BlockEmitter::initBarriers() {
  when(b.CreateICmpEQ(thread, i32(32 * roles.back().firstWarp)), [&] {
    kernel.walk([&](block::RingOp ring) {
      for (unsigned s = 0; s < ring.getType().getCount(); ++s) {
        llvm::Value *full = b.CreateAdd(base, i32(plan.rings[ring].barriers + barriersOfSlot * s));
        machine.initBarrier(e, full, arrivalsToFill(ring));
        machine.initBarrier(e, b.CreateAdd(full, i32(8)), ring.getTakers());
      }
    });
    machine.fenceBarrierInit(e);
  });
}

llvm::Value *BlockEmitter::isIn(Role &role) {
  unsigned first = role.firstWarp / warpsOfGroup, end = role.end() / warpsOfGroup;
  if (end - first == 1)
    return b.CreateICmpEQ(group, i32(first));
  llvm::Value *below = b.CreateICmpULT(group, i32(end));
  return first ? b.CreateAnd(below, b.CreateICmpUGE(group, i32(first))) : below;
}

// A role of one thread finds out where its first program lies, which takes several divisions, while others set up the barriers.
void BlockEmitter::begin() {
  Role *ahead = &roles.front();
  if (roles.size() < 2 || !ahead->programs) {
    initBarriers();
    return machine.barrier(e);
  }
  llvm::BasicBlock *first = newBlock("first"), *set = newBlock("set"), *begun = newBlock("begun");
  b.CreateCondBr(isIn(*ahead), first, set);
  b.SetInsertPoint(first);
  when(b.CreateICmpEQ(thread, i32(0)), [&] {
    for (llvm::Value *map : entry.maps)
      machine.prefetchMap(e, map);
  });
  latencyBound = true;
  ahead->first = aheadOf(*ahead, entry.number);
  latencyBound = false;
  first = b.GetInsertBlock();
  b.CreateBr(begun);
  b.SetInsertPoint(set);
  initBarriers();
  set = b.GetInsertBlock();
  b.CreateBr(begun);
  b.SetInsertPoint(begun);
  for (llvm::Value *&value : ahead->first) {
    llvm::PHINode *phi = b.CreatePHI(value->getType(), 2);
    phi->addIncoming(value, first);
    phi->addIncoming(llvm::Constant::getNullValue(value->getType()), set);
    value = phi;
  }
  machine.barrier(e);
}

void BlockEmitter::runRole(Role &one) {
  role = &one;
  Scope scope(*this);
  machine.role(e, one.op.getSymName());
  if (auto registers = one.op.getRegisters()) {
    machine.setRegisters(e, *registers, *registers > registersOfLaunch());
  }
  auto body = [&] { emitBlock(one.op.getBody().front()); };
  if (one.oneThread)
    return when(b.CreateICmpEQ(thread, i32(32 * one.firstWarp)), body);
  warpgroup = b.CreateSub(group, i32(one.firstWarp / warpsOfGroup));
  instance = i32(0);
  if (one.op.instanceCount() > 1) {
    instance = b.CreateUDiv(warpgroup, i32(one.warps / warpsOfGroup));
    warpgroup = b.CreateSub(warpgroup, b.CreateMul(instance, i32(one.warps / warpsOfGroup)));
  }
  if (Block &region = one.op.getBody().front(); region.getNumArguments())
    remember(region.getArgument(0), {instance});
  if (contains<block::TurnOp>(one.op) && one.turns() > 1) { // the first one comes behind the last
    llvm::Value *who = one.op.instanceCount() > 1 ? instance : warpgroup, *last = i32(one.turns() - 1);
    when(b.CreateICmpEQ(who, last), [&] { handOn(last); });
  }
  locate(thread);
  body();
}

FailureOr<GpuInfo> BlockEmitter::emit() {
  makeFunction();
  for (Operation &op : kernel.getBody().front())
    if (!isa<block::RolesOp>(op))
      emitOp(op);
  findOrder();
  begin();
  llvm::BasicBlock *exit = newBlock("exit");
  for (Role &one : roles) {
    bool last = &one == &roles.back();
    llvm::BasicBlock *other = nullptr;
    if (!last) {
      llvm::BasicBlock *own = newBlock(one.op.getSymName().str().c_str());
      other = newBlock("others");
      b.CreateCondBr(isIn(one), own, other);
      b.SetInsertPoint(own);
    }
    runRole(one);
    b.CreateBr(exit);
    b.SetInsertPoint(last ? exit : other);
  }
  b.CreateRetVoid();
  if (failed || evaluator.failed)
    return failure();

  GpuInfo info;
  info.threads = 32 * roles.back().end();
  info.sharedBytes = plan.bytes;
  info.workspaceBytes = plan.madeMaps * block::mapBytes;
  auto isOver = [](block::AllocOp alloc) { return bool(alloc.getOver()); }; // a ring, for good
  bool once = resident > 1 || (order && order.getOrder() == block::Order::longest);
  kernel.walk([&](scf::WhileOp loop) { once |= contains<tile::AtomicRmwOp, tile::AtomicCasOp>(loop); }); // for others to come
  once |= llvm::any_of(kernel.getBody().getOps<block::AllocOp>(), isOver);
  info.persistent = order && !once;
  info.cluster = cluster;
  if (auto joined = kernel->getAttrOfType<DenseI64ArrayAttr>(block::joinedPrograms))
    info.joined[joined[0]] = uint32_t(joined[1]);
  info.programmatic = programmatic;
  for (Operation &op : kernel.getBody().front())
    if (auto map = dyn_cast<block::MapOp>(op))
      describeMap(map, info);
    else if (auto require = dyn_cast<block::RequireOp>(op))
      describeCondition(require, info);
  if (auto steps = kernel->getAttrOfType<DenseI64ArrayAttr>("block.steps"); steps && !info.maps.empty())
    info.split = {0, uint32_t(steps[0]), uint32_t(steps[1])};
  return info;
}

unsigned sharedBytesOf(tile::KernelOp kernel) { return SharedPlan(kernel).bytes; }

bool hasRoles(tile::KernelOp kernel) { return !kernel.getBody().getOps<block::RolesOp>().empty(); }

FailureOr<GpuInfo> emitBlock(lower::Emitter &e, tile::KernelOp kernel, BlockMachine &machine) {
  return BlockEmitter(e, kernel, machine).emit();
}

} // namespace tilery::cuda
