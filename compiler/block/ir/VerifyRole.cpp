// Verifiers of the ops in BlockRole.td.
#include "compiler/block/ir/gpu.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::block;

template <typename Op> static bool contains(Operation *op) {
  return op->walk([](Op) { return WalkResult::interrupt(); }).wasInterrupted();
}

LogicalResult RolesOp::verifyRegions() {
  int64_t warp = 0, registers = 0;
  ProgramsOp first;
  for (Operation &op : getBody().front()) {
    auto role = dyn_cast<RoleOp>(op);
    if (!role)
      return emitOpError("holds roles, not ") << op.getName();
    if (contains<MmaStartOp>(role) && (warp % 4 || role.getWarps() % 4))
      return role.emitOpError() << "multiplies in whole warpgroups, but has warps " << warp << " to "
                                << warp + role.allWarps() - 1;
    warp += role.allWarps();
    registers += int64_t(role.getRegisters().value_or(0)) * warpLanes * role.allWarps();
    WalkResult orders = role.walk([&](ProgramsOp programs) {
      if (!first)
        first = programs;
      bool same = programs.getOrder() == first.getOrder() && programs.getGroup() == first.getGroup() &&
                  programs.getInner() == first.getInner() && programs.getByRows() == first.getByRows() &&
                  programs.getPlane() == first.getPlane();
      return same ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (orders.wasInterrupted())
      return role.emitOpError("runs the programs in another order than the roles before it");
  }
  if (warp == 0)
    return emitOpError("needs a role");
  if (warp > 32)
    return emitOpError() << "has " << warp << " warps, a block has at most 32";
  if (registers > registersOfAll)
    return emitOpError() << "needs " << registers << " registers, a block has " << registersOfAll;
  return success();
}

LogicalResult RoleOp::verifyRegions() {
  Block &body = getBody().front();
  if (body.getNumArguments() > 1 || (body.getNumArguments() == 1 && !body.getArgument(0).getType().isInteger(32)))
    return emitOpError("needs a region without arguments, or with the number of the instance, an i32");
  if (body.getTerminator()->getNumOperands() != 0)
    return emitOpError("yields nothing");
  if (getRegisters() && (*getRegisters() % 8 || *getRegisters() < 24 || *getRegisters() > 248))
    return emitOpError() << "has a multiple of 8 registers a thread, from 24 to 248, not " << *getRegisters();
  return success();
}

LogicalResult ProgramsOp::verifyRegions() {
  Block &body = getBody().front();
  Type i32 = IntegerType::get(getContext(), 32);
  SmallVector<Type> wanted(3, i32);
  llvm::append_range(wanted, getInits().getTypes());
  if (!llvm::equal(body.getArgumentTypes(), wanted))
    return emitOpError("needs a region of three i32, the program's coordinates, and the carried values");
  if (body.getTerminator()->getOperandTypes() != getInits().getTypes())
    return emitOpError("needs a region that yields the carried values");
  if ((getOrder() == Order::grouped) != getGroup().has_value())
    return emitOpError("needs the number of rows of a group for order `grouped`, and for no other");
  if ((getInner() || getByRows() || getPlane()) && getOrder() == Order::grid)
    return emitOpError("is told how programs run over tiles, which order `grid` does not ask for");
  if ((*this)->getParentOfType<ProgramsOp>())
    return emitOpError("cannot stand inside another `programs`");
  return success();
}

LogicalResult TurnOp::verifyRegions() {
  if (getBody().front().getNumArguments() != 0)
    return emitOpError("needs a region without arguments");
  if (getBody().front().getTerminator()->getOperandTypes() != getResultTypes())
    return emitOpError("needs a region that yields its results");
  Operation *waiting = nullptr;
  getBody().walk([&](Operation *op) {
    if (isa<AcquireOp, MmaWaitOp, StoreWaitOp, SyncOp, ClusterSyncOp, TurnOp>(op))
      waiting = op;
  });
  if (waiting)
    return emitOpError() << "holds the others up while it waits: " << waiting->getName()
                         << " inside, where only block.take and block.mma_settle may wait";
  return success();
}

LogicalResult SyncOp::verify() {
  if (auto role = (*this)->getParentOfType<RoleOp>(); getWarps() && (!role || role.getWarps() % *getWarps()))
    return emitOpError("stands in a role that is made of so many warps, several times");
  auto kernel = (*this)->getParentOfType<tile::KernelOp>();
  if (!(*this)->getParentOfType<RoleOp>() && kernel && contains<RolesOp>(kernel))
    return emitOpError("stands in a role where the kernel has roles");
  return success();
}

static LogicalResult checkCluster(Operation *op) {
  if (clusterSize(op) < 2)
    return op->emitOpError("needs a kernel with `block.cluster` of 2 or more");
  return success();
}
LogicalResult ClusterRankOp::verify() { return checkCluster(*this); }
LogicalResult ClusterSyncOp::verify() { return checkCluster(*this); }
