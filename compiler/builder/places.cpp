// Roots and views, and explicit buffers.
#include "compiler/builder/impl.h"

namespace tilery {

mlir::Value Builder::Impl::index(const Operand &operand) {
  if (auto *literal = std::get_if<Literal>(&operand))
    return raw(constant(*literal, Type{DType::I64, {}}));
  const Value &value = std::get<Value>(operand);
  self.requireNumbers(value, "an index");
  if (!value.shape().empty() || !(isInteger(value.dtype()) || isBool(value.dtype())))
    self.fail(Diagnostic::Kind::Type, "an index must be an integer scalar, got " + value.type.str());
  return raw(self.cast(value, DType::I64));
}
std::vector<mlir::Value> Builder::Impl::indices(const std::vector<Operand> &operands) {
  std::vector<mlir::Value> result;
  for (const Operand &operand : operands)
    result.push_back(index(operand));
  return result;
}

Root Builder::root(const Value &pointer, const std::vector<Value> &extents, const std::vector<Value> &strides) {
  auto operands = [&](const std::vector<Value> &values) {
    return impl->indices(std::vector<Operand>(values.begin(), values.end()));
  };
  auto type = tile::RootType::get(extents.size(), impl->memoryType(pointer.dtype()));
  mlir::Value root = impl->create<tile::RootOp>(type, impl->raw(pointer), operands(extents), operands(strides));
  return {root.getAsOpaquePointer(), pointer.dtype(), int64_t(extents.size())};
}

Place Builder::view(const Root &root, const std::vector<Operand> &starts, const Shape &shape, const std::vector<int64_t> &dims,
                    const std::vector<Operand> &dilations, const std::vector<Operand> &limits,
                    const std::optional<Operand> &residual) {
  if (int64_t(starts.size()) != root.rank)
    fail(Diagnostic::Kind::Index,
         "a tensor of rank " + std::to_string(root.rank) + " takes as many indices, got " + std::to_string(starts.size()));
  auto spacing = dilations.empty() ? std::vector<Operand>(shape.size(), Literal(int64_t(1))) : dilations;
  auto type = tile::ViewType::get(shape, impl->memoryType(root.dtype));
  mlir::Value view =
      impl->create<tile::ViewOp>(type, toMlir(root.handle), impl->indices(starts), impl->indices(spacing), impl->indices(limits),
                                 residual ? impl->raw(cast(*residual, DType::Bool)) : mlir::Value(), dims);
  return {view.getAsOpaquePointer(), root.dtype, shape};
}

static tile::BufferType bufferType(Builder::Impl &impl, const Shape &shape, DType dtype, Space space) {
  return tile::BufferType::get(shape, impl.memoryType(dtype), static_cast<tile::Space>(space));
}
static Buffer wrapBuffer(mlir::Value value, DType dtype, Shape shape, Space space) {
  return {value.getAsOpaquePointer(), dtype, std::move(shape), space};
}

Buffer Builder::alloc(const Shape &shape, DType dtype, Space space) {
  for (int64_t size : shape)
    if (size < 1)
      fail(Diagnostic::Kind::Value, "every dimension of a buffer must be at least 1, got " + shapeText(shape));
  mlir::OpBuilder::InsertionGuard guard(impl->b);
  auto role =
      llvm::find_if(impl->frames, [](const Impl::Frame &frame) { return frame.op && mlir::isa<tile::RolesOp>(frame.op); });
  auto threads = impl->open<tile::ThreadsOp>();
  bool own = threads && space == Space::Local;
  if (!own && role != impl->frames.end()) // what follows the role may use it, too
    impl->b.setInsertionPoint(role->op);
  else if (!own && threads)
    impl->b.setInsertionPoint(threads); // which all of them see
  return wrapBuffer(impl->create<tile::AllocOp>(bufferType(*impl, shape, dtype, space)), dtype, shape, space);
}
Buffer Builder::subview(const Buffer &buffer, const std::vector<Operand> &offsets, const Shape &shape,
                        const std::vector<int64_t> &dims) {
  if (offsets.size() != buffer.shape.size())
    fail(Diagnostic::Kind::Index, "a buffer of rank " + std::to_string(buffer.shape.size()) + " takes as many indices, got " +
                                      std::to_string(offsets.size()));
  auto type = bufferType(*impl, shape, buffer.dtype, buffer.space);
  return wrapBuffer(impl->create<tile::SubviewOp>(type, toMlir(buffer.handle), impl->indices(offsets), dims), buffer.dtype, shape,
                    buffer.space);
}
Buffer Builder::reinterpret(const Buffer &buffer, const Shape &shape, DType dtype) {
  auto bits = [](const Shape &s, DType t) {
    int64_t count = byteWidth(t) * 8;
    for (int64_t size : s)
      count *= size;
    return count;
  };
  if (bits(buffer.shape, buffer.dtype) != bits(shape, dtype))
    fail(Diagnostic::Kind::Assertion, "a view must keep the number of bits: " + shapeText(buffer.shape) + " of " +
                                          dtypeName(buffer.dtype) + " is not " + shapeText(shape) + " of " + dtypeName(dtype));
  auto type = bufferType(*impl, shape, dtype, buffer.space);
  return wrapBuffer(impl->create<tile::ReinterpretOp>(type, toMlir(buffer.handle)), dtype, shape, buffer.space);
}
Value Builder::bufferLoad(const Buffer &buffer) {
  Type memory{buffer.dtype == DType::Bool ? DType::U8 : buffer.dtype, buffer.shape};
  return impl->fromMemory(impl->create<tile::BufferLoadOp>(impl->lower(memory), toMlir(buffer.handle)), buffer.dtype);
}
void Builder::bufferStore(const Buffer &buffer, const Operand &value, const std::optional<Value> &mask) {
  mlir::Value lanes = mask ? impl->mask(Operand(*mask), buffer.shape) : nullptr;
  impl->create<tile::BufferStoreOp>(toMlir(buffer.handle), impl->toMemory(convert(value, Type{buffer.dtype, buffer.shape})),
                                    lanes);
}
static void checkIndices(Builder &self, const Buffer &buffer, const std::vector<Operand> &indices) {
  if (indices.size() != buffer.shape.size())
    self.fail(Diagnostic::Kind::Index, "a buffer of rank " + std::to_string(buffer.shape.size()) +
                                           " takes as many indices, got " + std::to_string(indices.size()));
}
Value Builder::elementLoad(const Buffer &buffer, const std::vector<Operand> &indices) {
  checkIndices(*this, buffer, indices);
  Type memory{buffer.dtype == DType::Bool ? DType::U8 : buffer.dtype, {}};
  return impl->fromMemory(impl->create<tile::ElementLoadOp>(impl->lower(memory), toMlir(buffer.handle), impl->indices(indices)),
                          buffer.dtype);
}
void Builder::elementStore(const Buffer &buffer, const std::vector<Operand> &indices, const Operand &value) {
  checkIndices(*this, buffer, indices);
  auto at = impl->indices(indices);
  mlir::Value given = impl->toMemory(convert(value, Type{buffer.dtype, {}}));
  bool once = impl->runsThreads() && buffer.space == Space::Fragment; // of the block: what all threads say alike
  if (once)
    beginTogether();
  impl->create<tile::ElementStoreOp>(toMlir(buffer.handle), at, given);
  if (once)
    endTogether({});
}

bool Builder::isUsed(const Value &value) const {
  llvm::SmallVector<mlir::Value> work{toMlir(value.handle)};
  mlir::Block *home = work.front().getParentBlock();
  llvm::DenseSet<mlir::Operation *> seen;
  auto conditional = [&](mlir::Operation *user) {
    for (mlir::Block *block = user->getBlock(); block != home; block = block->getParentOp()->getBlock())
      if (mlir::isa<mlir::scf::IfOp, mlir::scf::WhileOp>(block->getParentOp()))
        return true;
    return false;
  };
  while (!work.empty())
    for (mlir::OpOperand &use : work.pop_back_val().getUses()) {
      mlir::Operation *user = use.getOwner();
      bool chosen = mlir::isa<mlir::arith::SelectOp>(user) && use.getOperandNumber() > 0;
      if (chosen || conditional(user) || !seen.insert(user).second)
        continue;
      if (!mlir::isPure(user) || user->getNumResults() == 0)
        return true;
      llvm::append_range(work, user->getResults());
    }
  return false;
}

Value Builder::elementUpdate(RmwKind kind, const Buffer &buffer, const std::vector<Operand> &indices, const Operand &value) {
  checkIndices(*this, buffer, indices);
  bool bits = kind == RmwKind::And || kind == RmwKind::Or || kind == RmwKind::Xor;
  if (isFloat8(buffer.dtype) || (bits && isFloat(buffer.dtype)))
    fail(Diagnostic::Kind::Value, std::string("this update does not take ") + dtypeName(buffer.dtype));
  DType memory = buffer.dtype == DType::Bool ? DType::U8 : buffer.dtype;
  mlir::Value given = impl->toMemory(convert(value, Type{buffer.dtype, {}}));
  auto op = impl->create<tile::ElementUpdateOp>(lowerKind(kind, memory), toMlir(buffer.handle), given, impl->indices(indices));
  return impl->fromMemory(op, buffer.dtype);
}

void Builder::print(const std::string &prefix, const std::vector<Value> &values, bool hex) {
  llvm::SmallVector<bool> isSignedValue;
  for (const Value &value : values)
    isSignedValue.push_back(isSigned(value.dtype()));
  impl->create<tile::PrintOp>(prefix, impl->raw(values), hex, isSignedValue);
}
void Builder::assertTrue(const Operand &condition, const std::string &message, const std::optional<Operand> &mask) {
  Value truth = cast(condition, DType::Bool);
  impl->create<tile::AssertOp>(impl->raw(truth), impl->mask(mask, truth.shape()), message);
}

} // namespace tilery
