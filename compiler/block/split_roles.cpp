// split-roles: what fills rings becomes a role of its own, which runs ahead of the role that takes their slots.
//
// Both roles begin as copies of the kernel's code: one keeps acquire, copy and publish and what leads to them, the other all the rest.
#include "compiler/block/ir/Block.h"
#include "compiler/block/passes.h"

using namespace mlir;

namespace tilery::block {
namespace {

constexpr unsigned loadWarps = 4, warpgroup = 4;
constexpr unsigned loadRegisters = 40, mathRegisters = 232; // of a block of three warpgroups

bool fillsRings(Operation *op) { return isa<AcquireOp, PublishOp, CopyOp, CopyFlatOp, FetchOp, RemapOp>(op); }

/// What both roles see: it stays in front of them.
bool isShared(Operation *op, const llvm::DenseSet<Operation *> &moved) {
  if (isa<MapOp, RequireOp, RingOp, AllocOp, BatonOp>(op))
    return true;
  bool isScalar = llvm::none_of(op->getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); });
  return isScalar && op->getNumRegions() == 0 && isMemoryEffectFree(op) && !isa<BlockDialect>(op->getDialect()) &&
         llvm::none_of(op->getOperands(), [&](Value operand) { return moved.contains(operand.getDefiningOp()); });
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

/// Leaves in `role` what fills rings, or everything else. Reads of memory stay where something uses them.
void prune(RoleOp role, bool filling) {
  SmallVector<Operation *> ops;
  role.getBody().walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops)) {
    bool isView = isa<PartOp, TransposeOp>(op);
    if (isView && op->use_empty())
      op->erase();
    else if (isView || op->hasTrait<OpTrait::IsTerminator>() || op->getNumRegions() || isMemoryEffectFree(op) ||
             isa<tile::LoadOp>(op))
      continue;
    else if (fillsRings(op) != filling)
      erase(op);
  }
}

struct SplitRoles : PassWrapper<SplitRoles, OperationPass<tile::KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SplitRoles)
  StringRef getArgument() const final { return "split-roles"; }
  StringRef getDescription() const final { return "what fills rings becomes a role of its own"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<ub::UBDialect>(); }

  void runOnOperation() final {
    Block &body = getOperation().getBody().front();
    SmallVector<RingOp> rings(body.getOps<RingOp>());
    unsigned warpgroups = 1;
    getOperation().walk([&](MmaStartOp product) { warpgroups = product.getType().getTile().getDimSize(0) % 128 ? 1 : 2; });
    if (rings.empty() || !body.getOps<RolesOp>().empty())
      return;
    llvm::DenseSet<Operation *> moved;
    for (Operation &op : body.without_terminator())
      if (!isShared(&op, moved))
        moved.insert(&op);
    OpBuilder builder(body.getTerminator());
    auto roles = RolesOp::create(builder, getOperation().getLoc());
    builder.createBlock(&roles.getBody());
    bool three = warpgroups == 2;
    RoleOp load = makeRole(builder, "load", loadWarps, three ? loadRegisters : 0);
    RoleOp math = makeRole(builder, "math", warpgroup * warpgroups, three ? mathRegisters : 0);
    for (RoleOp role : {load, math}) {
      IRMapping copies;
      OpBuilder inside = OpBuilder::atBlockTerminator(&role.getBody().front());
      for (Operation &op : body.without_terminator())
        if (moved.contains(&op))
          inside.clone(op, copies);
    }
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
      if (moved.contains(&op))
        op.erase();
    prune(load, true);
    prune(math, false);
    for (RingOp ring : rings)
      ring.setTakers(arrivalsOf(math, ring));
  }

  static RoleOp makeRole(OpBuilder &builder, StringRef name, unsigned warps, unsigned registers) {
    auto count = registers ? builder.getI32IntegerAttr(registers) : IntegerAttr();
    auto role = RoleOp::create(builder, builder.getUnknownLoc(), builder.getStringAttr(name), builder.getI32IntegerAttr(warps),
                               count, IntegerAttr());
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&role.getBody());
    YieldOp::create(builder, role.getLoc());
    return role;
  }
};
} // namespace

std::unique_ptr<Pass> createSplitRoles() { return std::make_unique<SplitRoles>(); }

} // namespace tilery::block
