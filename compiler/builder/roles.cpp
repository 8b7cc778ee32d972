// Roles and their barriers; what other programs compute.
#include "compiler/builder/impl.h"
#include "mlir/IR/IRMapping.h"

namespace tilery {

/// The roles that the next one joins: right before the current place, or behind ops that need nothing of what they do.
static tile::RolesOp rolesBefore(mlir::Block &block) {
  for (mlir::Operation &op : llvm::reverse(block)) {
    if (auto roles = mlir::dyn_cast<tile::RolesOp>(op))
      return roles;
    if (!mlir::isPure(&op) && !mlir::isa<tile::AllocOp, tile::BarrierAllocOp>(op))
      return {};
  }
  return {};
}

void Builder::beginRole(int64_t threads) {
  mlir::Block &block = *impl->b.getInsertionBlock();
  tile::RolesOp before = rolesBefore(block);
  llvm::SmallVector<int64_t> counts;
  if (before)
    counts.append(before.getThreads().begin(), before.getThreads().end());
  counts.push_back(threads);
  auto roles = impl->create<tile::RolesOp>(impl->b.getDenseI64ArrayAttr(counts), unsigned(counts.size()));
  if (before) {
    for (auto [from, to] : llvm::zip(before.getBodies(), roles.getBodies()))
      to.takeBody(from);
    roles->setLoc(before.getLoc());
    before.erase();
  }
  roles.getBodies().back().emplaceBlock();
  impl->openRegion(roles, roles.getBodies().back());
}

void Builder::endRole() {
  impl->top("role");
  impl->b.restoreInsertionPoint(impl->frames.back().after);
  impl->frames.pop_back();
}

Barrier Builder::barriers(const std::vector<int64_t> &arrivals) {
  for (int64_t count : arrivals)
    if (count < 1)
      fail(Diagnostic::Kind::Value, "a barrier needs at least one arrival, got " + std::to_string(count));
  auto type = tile::BarrierType::get(impl->b.getContext(), int64_t(arrivals.size()));
  auto op = impl->create<tile::BarrierAllocOp>(type, impl->b.getDenseI64ArrayAttr(arrivals));
  return {op.getResult().getAsOpaquePointer(), int64_t(arrivals.size())};
}

/// The number of a barrier, or a parity.
static mlir::Value integer(Builder &self, Builder::Impl &impl, const Operand &operand, const char *what) {
  Value value = self.materialize(operand);
  if (!isInteger(value.dtype()) || !value.shape().empty())
    self.fail(Diagnostic::Kind::Type, std::string(what) + " must be an integer, got " + value.type.str());
  return impl.raw(self.cast(value, DType::I32));
}

static mlir::Value place(Builder &self, Builder::Impl &impl, const Barrier &barrier, const Operand &index) {
  auto *literal = std::get_if<Literal>(&index);
  auto *number = literal ? std::get_if<int64_t>(literal) : nullptr;
  if (number && (*number < 0 || *number >= barrier.count))
    self.fail(Diagnostic::Kind::Index,
              "there is no barrier " + std::to_string(*number) + " among " + std::to_string(barrier.count));
  return integer(self, impl, index, "the number of a barrier");
}

void Builder::arrive(const Barrier &barrier, const Operand &index, int64_t count) {
  impl->create<tile::BarrierArriveOp>(toMlir(barrier.handle), place(*this, *impl, barrier, index), mlir::IntegerAttr(), count);
}
void Builder::wait(const Barrier &barrier, const Operand &index, const Operand &parity) {
  mlir::Value at = place(*this, *impl, barrier, index);
  impl->create<tile::BarrierWaitOp>(toMlir(barrier.handle), at, integer(*this, *impl, parity, "a parity"));
}

/// Makes `value` again with other program ids; false if it is not a pure function of ids and what is around.
static bool remake(Builder::Impl &impl, mlir::Value value, const std::vector<mlir::Value> &ids, mlir::IRMapping &map) {
  mlir::Operation *op = value.getDefiningOp();
  if (map.contains(value) || !op)
    return map.contains(value) || mlir::isa<tile::KernelOp>(mlir::cast<mlir::BlockArgument>(value).getOwner()->getParentOp());
  if (auto id = mlir::dyn_cast<tile::ProgramIdOp>(op)) {
    map.map(value, ids[id.getAxis()]);
    return true;
  }
  if (!mlir::isPure(op) || op->getNumRegions())
    return false;
  for (mlir::Value operand : op->getOperands())
    if (!remake(impl, operand, ids, map))
      return false;
  impl.b.clone(*op, map);
  return true;
}

Value Builder::elsewhere(const Value &value, const std::vector<Value> &ids) {
  mlir::IRMapping map;
  std::vector<mlir::Value> raw = impl->raw(ids);
  if (!remake(*impl, impl->raw(value), raw, map))
    fail(Diagnostic::Kind::Value, "what another block reads here cannot be told from its place in the grid",
         "compute the place from the block's indices and the kernel's arguments");
  return impl->like(map.lookupOrDefault(impl->raw(value)), value.type);
}

} // namespace tilery
