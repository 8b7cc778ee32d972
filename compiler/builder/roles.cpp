// Roles and their barriers; what other programs compute.
#include "compiler/builder/impl.h"
#include "mlir/IR/IRMapping.h"

namespace tilery {

/// The threads of each role: an attribute of the op while it is built, and a hint afterwards.
static constexpr const char *who = "tile.who";

static llvm::ArrayRef<int64_t> threadsOf(tile::RolesOp roles, unsigned role) {
  return mlir::cast<mlir::DenseI64ArrayAttr>(mlir::cast<mlir::ArrayAttr>(roles->getAttr(who))[role]).asArrayRef();
}
static bool overlap(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  for (size_t i = 0; i < a.size(); i += 2)
    for (size_t j = 0; j < b.size(); j += 2)
      if (a[i] < b[j + 1] && b[j] < a[i + 1])
        return true;
  return false;
}
static int64_t countOf(llvm::ArrayRef<int64_t> ranges) {
  int64_t count = 0;
  for (size_t i = 0; i < ranges.size(); i += 2)
    count += ranges[i + 1] - ranges[i];
  return count;
}

/// An op that may stand before roles that it follows.
static bool isMovable(mlir::Operation &op) { return mlir::isPure(&op) || mlir::isa<tile::AllocOp, tile::BarrierAllocOp>(op); }

/// The roles that the next one joins: right before the current place, or behind ops that need nothing of what they do.
static tile::RolesOp rolesBefore(mlir::Block &block) {
  for (mlir::Operation &op : llvm::reverse(block)) {
    if (auto roles = mlir::dyn_cast<tile::RolesOp>(op))
      return roles;
    if (!isMovable(op))
      return {};
  }
  return {};
}

/// Roles with the bodies of others, in the place of `old`.
static tile::RolesOp rebuilt(Builder::Impl &impl, tile::RolesOp old, llvm::ArrayRef<mlir::Region *> bodies,
                             llvm::ArrayRef<mlir::Attribute> threads) {
  mlir::OpBuilder b(old);
  llvm::SmallVector<int64_t> counts;
  for (mlir::Attribute ranges : threads)
    counts.push_back(countOf(mlir::cast<mlir::DenseI64ArrayAttr>(ranges).asArrayRef()));
  auto roles = tile::RolesOp::create(b, old.getLoc(), b.getDenseI64ArrayAttr(counts), unsigned(counts.size()));
  roles->setAttr(who, b.getArrayAttr(threads));
  for (auto [from, to] : llvm::zip(bodies, roles.getBodies()))
    to.takeBody(*from);
  for (auto &frame : impl.frames)
    if (frame.op == old)
      frame.op = roles;
  old.erase();
  return roles;
}

void Builder::beginRole(const std::vector<int64_t> &threads) {
  mlir::Block &block = *impl->b.getInsertionBlock();
  tile::RolesOp roles = rolesBefore(block);
  mlir::Attribute ranges = impl->b.getDenseI64ArrayAttr(threads);
  if (roles)
    for (mlir::Operation &op : llvm::make_early_inc_range(llvm::make_range(std::next(roles->getIterator()), block.end())))
      op.moveBefore(roles); // values that the new role may use
  for (unsigned role = 0; roles && role < roles.getBodies().size(); ++role) {
    if (threadsOf(roles, role) == llvm::ArrayRef(threads)) {
      impl->b.setInsertionPointAfter(roles);
      return impl->openRegion(roles, roles.getBodies()[role]);
    }
    if (overlap(threadsOf(roles, role), threads))
      roles = {};
  }
  if (!roles) {
    roles = impl->create<tile::RolesOp>(impl->b.getDenseI64ArrayAttr({countOf(threads)}), 1u);
    roles->setAttr(who, impl->b.getArrayAttr({ranges}));
  } else {
    llvm::SmallVector<mlir::Region *> bodies = llvm::map_to_vector(roles.getBodies(), [](mlir::Region &body) { return &body; });
    llvm::SmallVector<mlir::Attribute> all = llvm::to_vector(mlir::cast<mlir::ArrayAttr>(roles->getAttr(who)));
    all.push_back(ranges);
    roles = rebuilt(*impl, roles, bodies, all);
    impl->b.setInsertionPointAfter(roles);
  }
  roles.getBodies().back().emplaceBlock();
  impl->openRegion(roles, roles.getBodies().back());
}

/// A role that is nothing but roles of fewer threads becomes these; one that does nothing goes.
static void flatten(Builder::Impl &impl, tile::RolesOp roles, mlir::Region &role) {
  mlir::Block &block = role.front();
  tile::RolesOp inner = block.empty() ? tile::RolesOp() : mlir::dyn_cast<tile::RolesOp>(block.back());
  if (llvm::any_of(block, [&](mlir::Operation &op) { return &op != inner.getOperation() && !isMovable(op); }))
    return;
  for (mlir::Operation &op : llvm::make_early_inc_range(block))
    if (&op != inner.getOperation())
      op.moveBefore(roles);
  llvm::SmallVector<mlir::Region *> bodies;
  llvm::SmallVector<mlir::Attribute> threads;
  for (auto [body, ranges] : llvm::zip(roles.getBodies(), mlir::cast<mlir::ArrayAttr>(roles->getAttr(who)))) {
    if (&body != &role) {
      bodies.push_back(&body);
      threads.push_back(ranges);
      continue;
    }
    if (!inner)
      continue;
    for (mlir::Region &part : inner.getBodies())
      bodies.push_back(&part);
    llvm::append_range(threads, mlir::cast<mlir::ArrayAttr>(inner->getAttr(who)));
  }
  if (bodies.empty())
    roles.erase();
  else
    rebuilt(impl, roles, bodies, threads);
}

void Builder::endRole() {
  auto roles = mlir::cast<tile::RolesOp>(impl->top("role").op);
  mlir::Region &role = *impl->b.getInsertionBlock()->getParent();
  mlir::Block *outer = roles->getBlock();
  impl->frames.pop_back();
  flatten(*impl, roles, role);
  impl->b.setInsertionPointToEnd(outer);
}

Barrier Builder::barriers(const std::vector<int64_t> &arrivals) {
  for (int64_t count : arrivals)
    if (count < 1)
      fail(Diagnostic::Kind::Value, "a barrier needs at least one arrival, got " + std::to_string(count));
  mlir::OpBuilder::InsertionGuard guard(impl->b);
  auto shared = llvm::find_if(
      impl->frames, [](const Impl::Frame &frame) { return frame.op && mlir::isa<tile::RolesOp, tile::ThreadsOp>(frame.op); });
  if (shared != impl->frames.end()) // roles and threads have them together
    impl->b.setInsertionPoint(shared->op);
  auto type = tile::BarrierType::get(impl->b.getContext(), int64_t(arrivals.size()));
  auto op = impl->create<tile::BarrierAllocOp>(type, impl->b.getDenseI64ArrayAttr(arrivals));
  return {op.getResult().getAsOpaquePointer(), int64_t(arrivals.size())};
}

void Builder::name(const Barrier &barrier, const std::string &name) {
  toMlir(barrier.handle).getDefiningOp()->setAttr("tile.name", impl->b.getStringAttr(name));
}

/// The number of a barrier, or a parity.
static mlir::Value integer(Builder &self, Builder::Impl &impl, const Operand &operand, const char *what) {
  Value value = self.materialize(operand);
  self.requireNumbers(value, what);
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
