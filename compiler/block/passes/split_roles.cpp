// split-roles: what fills rings becomes a role of its own, which runs ahead of the role that takes their slots.
//
// Both roles begin as copies of the programs' code: one keeps acquire, copy and publish and what leads to them, the other all the rest.
#include "compiler/analysis/search.h"
#include "compiler/block/ir/gpu.h"
#include "compiler/block/recognise/kernel_work.h"
#include "compiler/block/passes/passes.h"
#include "compiler/block/price/schedule.h"

using namespace mlir;

namespace tilery::block {
namespace {

/// The tile comes of a product.
bool isMultiplied(Value tile) {
  for (analysis::Search<Value> reached(tile); Value value = reached.next();) {
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<MmaWaitOp>(op))
      return true;
    if (op)
      reached.addAll(op->getOperands());
  }
  return false;
}

/// The slot is filled with what the role that takes it computes.
bool isConsumerFilled(AcquireOp acquire) {
  return acquire &&
         (acquire->hasAttr("block.consumer_filled") || llvm::any_of(acquire.getResult().getUsers(), [](Operation *part) {
            return isa<PartOp>(part) && llvm::any_of(part->getUsers(), [](Operation *user) {
                     auto write = dyn_cast<WriteOp>(user);
                     return write && isMultiplied(write.getValue());
                   });
          }));
}

/// A write into a slot that its role has acquired.
bool isFetched(WriteOp write) {
  auto part = write.getShared().getDefiningOp<PartOp>();
  auto acquire = part ? part.getSlot().getDefiningOp<AcquireOp>() : AcquireOp();
  return acquire && !isConsumerFilled(acquire);
}

bool fillsRings(Operation *op) {
  if (auto write = dyn_cast<WriteOp>(op))
    return isFetched(write);
  if (auto acquire = dyn_cast<AcquireOp>(op))
    return !isConsumerFilled(acquire);
  if (auto publish = dyn_cast<PublishOp>(op))
    return !isConsumerFilled(publish.getSlot().getDefiningOp<AcquireOp>());
  if (auto remap = dyn_cast<RemapOp>(op))
    return llvm::any_of(remap->getUsers(), [](Operation *user) { return isa<CopyOp>(user); });
  return isa<CopyOp, CopyFlatOp, FetchOp>(op);
}

/// The op goes; who used its results gets nothing.
void erase(Operation *op) {
  OpBuilder builder(op);
  for (Value result : op->getResults())
    if (!result.use_empty()) {
      bool isNone = isa<SlotType, PendingType>(result.getType());
      Value nothing = isNone ? Value(NoneOp::create(builder, op->getLoc(), result.getType()))
                             : Value(ub::PoisonOp::create(builder, op->getLoc(), result.getType()));
      result.replaceAllUsesWith(nothing);
    }
  op->erase();
}

/// What tells which elements fill rings, and what they are: rows that a table names, also where it was loaded a step ahead.
llvm::DenseSet<Value> valuesOfFilling(RoleOp role) {
  analysis::Search<Value> values;
  role.walk([&](Operation *op) {
    if (fillsRings(op))
      values.addAll(op->getOperands());
  });
  while (Value value = values.next()) {
    auto argument = dyn_cast<BlockArgument>(value);
    Operation *op = argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && !(argument && argument.getArgNumber() == 0)) {
      unsigned carried = argument ? argument.getArgNumber() - 1 : cast<OpResult>(value).getResultNumber();
      values.add(loop.getInitArgs()[carried]);
      values.add(loop.getYieldedValues()[carried]);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      for (Region &region : branch->getRegions())
        values.add(region.front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber()));
    } else if (!argument) {
      values.addAll(op->getOperands());
    }
  }
  return llvm::DenseSet<Value>(values.all().begin(), values.all().end());
}

/// Tiles that loops carry and branches give, and what comes of them, are nothing to a role that fills rings with other elements: without
/// their loops around themselves they are found to be unused. Other numbers may say whether something is brought.
void dropTiles(RoleOp role) {
  llvm::DenseSet<Value> filling = valuesOfFilling(role);
  auto isKept = [&](Value value) {
    return value.getType().isInteger() || isa<SlotType, PendingType>(value.getType()) || filling.contains(value) ||
           !comesOfTiles(value);
  };
  role.walk([&](scf::IfOp branch) {
    OpBuilder builder(branch);
    for (auto [i, result] : llvm::enumerate(branch.getResults())) {
      if (isKept(result))
        continue;
      Value nothing = ub::PoisonOp::create(builder, branch.getLoc(), result.getType());
      result.replaceAllUsesWith(nothing);
      for (Region &region : branch->getRegions())
        region.front().getTerminator()->setOperand(i, nothing);
    }
  });
  role.walk([&](scf::ForOp loop) {
    OpBuilder builder(loop);
    for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
      if (isKept(argument))
        continue;
      Value nothing = ub::PoisonOp::create(builder, loop.getLoc(), argument.getType());
      argument.replaceAllUsesWith(nothing);
      loop.getResult(i).replaceAllUsesWith(nothing);
      loop.getBody()->getTerminator()->setOperand(i, nothing);
    }
  });
}

/// Loops and branches that neither fill rings nor say what does: they store, or wait for other programs.
void dropOtherWork(RoleOp role) {
  SmallVector<Operation *> ops;
  role.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool fills = false, stores = false;
    op->walk([&](Operation *inner) {
      fills |= fillsRings(inner);
      stores |= isa<tile::StoreOp, tile::AtomicRmwOp, tile::AtomicCasOp, StoreBoxOp>(inner);
    });
    if (!isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op) || fills || !stores)
      return WalkResult::advance();
    ops.push_back(op);
    return WalkResult::skip();
  });
  llvm::for_each(ops, erase);
}

/// What the loop carries there serves nothing but itself.
bool servesItself(scf::ForOp loop, unsigned number) {
  if (!loop.getResult(number).use_empty())
    return false;
  for (analysis::Search<Value> reached(loop.getRegionIterArg(number)); Value value = reached.next();)
    for (OpOperand &use : value.getUses()) {
      Operation *user = loop.getBody()->findAncestorOpInBlock(*use.getOwner());
      if (user == loop.getBody()->getTerminator() ? use.getOperandNumber() != number : !wouldOpBeTriviallyDead(user))
        return false;
      reached.addAll(user->getResults());
    }
  return true;
}

/// Numbers that lead to places are no business of who does not bring anything there: their loops are found to leave them as they are.
void dropNumbers(RoleOp role) {
  role.walk([](scf::ForOp loop) {
    for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs()))
      if (servesItself(loop, i))
        loop.getBody()->getTerminator()->setOperand(i, argument);
  });
}

/// Its region says how it computes its result.
bool combines(Operation *op) { return isa<tile::ReduceOp, tile::ScanOp>(op); }

/// Leaves in `role` what fills rings, or everything else. Reads of memory stay where something uses them, those in order, too.
void prune(RoleOp role, bool filling) {
  if (filling)
    dropOtherWork(role);
  SmallVector<std::pair<Operation *, bool>> ops; // with whether they fill, as long as all is there
  role.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    ops.push_back({op, fillsRings(op)});
    return combines(op) ? WalkResult::skip() : WalkResult::advance();
  });
  if (filling)
    dropTiles(role);
  for (auto [op, fills] : llvm::reverse(ops)) {
    bool isView = isa<PartOp, TransposeOp>(op);
    bool reads = isa<tile::LoadOp>(op), isWork = reads || combines(op) || (isMemoryEffectFree(op) && !op->getNumRegions());
    if (op->use_empty() && !op->hasTrait<OpTrait::IsTerminator>() && (isView || (filling && isWork)))
      op->erase();
    else if (isView || op->hasTrait<OpTrait::IsTerminator>() || op->getNumRegions() || isMemoryEffectFree(op) || reads)
      continue;
    else if (fills != filling)
      erase(op);
  }
  dropNumbers(role);
}

RoleOp makeRole(OpBuilder &builder, StringRef name, unsigned warps, unsigned registers) {
  auto count = registers ? builder.getI32IntegerAttr(registers) : IntegerAttr();
  auto role = RoleOp::create(builder, builder.getUnknownLoc(), builder.getStringAttr(name), builder.getI32IntegerAttr(warps),
                             count, IntegerAttr());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&role.getBody());
  YieldOp::create(builder, role.getLoc());
  return role;
}
} // namespace

void runSplitRoles(tile::KernelOp kernel) {
  Block &body = kernel.getBody().front();
  std::optional<Schedule> schedule = Schedule::of(kernel);
  SmallVector<ProgramsOp> loops(body.getOps<ProgramsOp>());
  if (!schedule || loops.size() != 1)
    return;
  ProgramsOp programs = loops[0];
  OpBuilder builder(programs);
  auto roles = RolesOp::create(builder, kernel.getLoc());
  builder.createBlock(&roles.getBody());
  bool isOne = multipliesByWarps(programs) && !schedule->fetchers; // run-ahead lets its copies run ahead
  RoleOp load =
      isOne ? RoleOp() : makeRole(builder, "load", warpsOfGroup * std::max(schedule->fetchers, 1u), schedule->loadRegisters);
  RoleOp math = makeRole(builder, "math", warpsOfGroup * schedule->consumers, schedule->mathRegisters);
  if (load)
    OpBuilder::atBlockTerminator(&load.getBody().front()).clone(*programs);
  programs->moveBefore(math.getBody().front().getTerminator());
  if (load) {
    prune(load, true);
    prune(math, false);
  }
  for (auto ring : body.getOps<RingOp>())
    ring.setTakers(arrivalsOf(math, ring));
}

} // namespace tilery::block
