// Loads, stores and atomics: through pointers, roots and views.
#include "compiler/builder/impl.h"

namespace tilery {

mlir::Value Builder::Impl::mask(const std::optional<Operand> &operand, const Shape &shape) {
  if (!operand)
    return nullptr;
  if (auto *literal = std::get_if<Literal>(&*operand))
    return raw(constant(*literal, Type{DType::Bool, shape}));
  const Value &value = std::get<Value>(*operand);
  self.requireNumbers(value, "a mask");
  if (!(isBool(value.dtype()) || isInteger(value.dtype())))
    self.fail(Diagnostic::Kind::Type, "a mask must be a tile of bool, got " + value.type.str());
  if (value.shape().size() > shape.size())
    self.fail(Diagnostic::Kind::Value,
              "the mask has shape " + shapeText(value.shape()) + ", the pointer " + shapeText(shape) +
                  ": a pointer is not broadcast to its mask",
              shape.empty() ? std::string("make the pointer a tile, for example by adding ") + spelling().range : "");
  return raw(self.broadcastTo(self.cast(value, DType::Bool), shape));
}

mlir::Value Builder::Impl::toMemory(const Value &value) {
  return raw(value.dtype() == DType::Bool && !value.type.pointer ? self.cast(value, DType::U8) : value);
}
Value Builder::Impl::fromMemory(mlir::Value value, DType dtype) {
  if (dtype != DType::Bool)
    return wrap(value, dtype);
  return self.cast(wrap(value, DType::U8), DType::Bool);
}

static void requirePointer(Builder &self, const Value &pointer, const char *what) {
  if (!pointer.type.pointer)
    self.fail(Diagnostic::Kind::Type, std::string(what) + " needs a pointer or a tile of pointers, got " + pointer.type.str(),
              "add the offsets to a pointer argument of the kernel");
}

Place Builder::pointerPlace(const Value &pointers, const std::optional<Operand> &mask) {
  requirePointer(*this, pointers, "a memory access");
  auto type = tile::AccessType::get(pointers.shape(), impl->memoryType(pointers.dtype()));
  auto access = impl->create<tile::PointerAccessOp>(type, impl->raw(pointers), impl->mask(mask, pointers.shape()));
  if (mlir::Attribute promised = pointers.shape().empty() ? nullptr : promiseOfRows(impl->raw(pointers)))
    access->setDiscardableAttr("tile.aligned0", promised);
  return {mlir::Value(access).getAsOpaquePointer(), pointers.dtype(), pointers.shape()};
}

Value Builder::load(const Place &place, const std::optional<Operand> &other, const LoadOptions &options) {
  Type type{place.dtype, place.shape};
  Type memory{place.dtype == DType::Bool ? DType::U8 : place.dtype, place.shape};
  mlir::Value fill;
  if (other) {
    if (auto *value = std::get_if<Value>(&*other); value && value->shape().size() > place.shape.size())
      fail(Diagnostic::Kind::Value, "`other` has shape " + shapeText(value->shape()) + ", the pointer " + shapeText(place.shape));
    fill = impl->raw(convert(*other, memory));
  }
  auto text = [&](const std::string &s) { return s.empty() ? mlir::StringAttr() : impl->b.getStringAttr(s); };
  auto op = impl->create<tile::LoadOp>(impl->lower(memory), toMlir(place.handle), fill, options.isVolatile, text(options.cache),
                                       text(options.eviction));
  if (mlir::Attribute promised = promiseOfRows(toMlir(place.handle)))
    op->setDiscardableAttr("tile.aligned", promised);
  return impl->fromMemory(op, place.dtype);
}

void Builder::store(const Place &place, const Operand &value, const LoadOptions &options) {
  Type type{place.dtype, place.shape};
  if (auto *given = std::get_if<Value>(&value)) {
    if (given->type.pointer)
      impl->failAddress("a pointer cannot be stored as " + std::string(dtypeName(place.dtype)), *given);
    bool fits = given->shape().size() <= place.shape.size();
    for (size_t i = 0; fits && i < given->shape().size(); ++i) {
      int64_t have = given->shape()[given->shape().size() - 1 - i], want = place.shape[place.shape.size() - 1 - i];
      fits = have == want || have == 1;
    }
    if (!fits)
      fail(Diagnostic::Kind::Value,
           "cannot store a value of shape " + shapeText(given->shape()) + " to " +
               (place.shape.empty() ? std::string("a scalar pointer") : "pointers of shape " + shapeText(place.shape)),
           "make the block of pointers and the value the same shape");
  }
  auto text = [&](const std::string &s) { return s.empty() ? mlir::StringAttr() : impl->b.getStringAttr(s); };
  auto op = impl->create<tile::StoreOp>(toMlir(place.handle), impl->toMemory(convert(value, type)), options.isVolatile,
                                        text(options.cache), text(options.eviction));
  if (mlir::Attribute promised = promiseOfRows(toMlir(place.handle)))
    op->setDiscardableAttr("tile.aligned", promised);
}

Value Builder::load(const Value &pointer, const std::optional<Operand> &mask, const std::optional<Operand> &other,
                    const LoadOptions &options) {
  requirePointer(*this, pointer, "load");
  if (other && !mask)
    fail(Diagnostic::Kind::Value, "`other` cannot be provided without `mask`", "give a mask, too, or leave out `other`");
  return load(pointerPlace(pointer, mask), other, options);
}

static void requireWritable(Builder &self, const Value &pointer) {
  if (pointer.type.isConst)
    self.fail(Diagnostic::Kind::Value, "Cannot store to a constant pointer");
}
void Builder::store(const Value &pointer, const Operand &value, const std::optional<Operand> &mask, const LoadOptions &options) {
  requirePointer(*this, pointer, "store");
  requireWritable(*this, pointer);
  store(pointerPlace(pointer, mask), value, options);
}

tile::RmwKind lowerKind(RmwKind kind, DType type) {
  switch (kind) {
  case RmwKind::Add:
    return isFloat(type) ? tile::RmwKind::fadd : tile::RmwKind::add;
  case RmwKind::Max:
    return isFloat(type) ? tile::RmwKind::fmax : isSigned(type) ? tile::RmwKind::max : tile::RmwKind::umax;
  case RmwKind::Min:
    return isFloat(type) ? tile::RmwKind::fmin : isSigned(type) ? tile::RmwKind::min : tile::RmwKind::umin;
  case RmwKind::And:
    return tile::RmwKind::and_;
  case RmwKind::Or:
    return tile::RmwKind::or_;
  case RmwKind::Xor:
    return tile::RmwKind::xor_;
  case RmwKind::Exchange:
    return tile::RmwKind::exchange;
  }
  return tile::RmwKind::add;
}
static tile::MemoryOrder lowerOrder(MemoryOrder order) { return static_cast<tile::MemoryOrder>(order); }
static tile::SyncScope lowerScope(SyncScope scope) { return static_cast<tile::SyncScope>(scope); }

Value Builder::atomicRmw(RmwKind kind, const Place &place, const Operand &value, MemoryOrder order, SyncScope scope) {
  bool bits = kind == RmwKind::And || kind == RmwKind::Or || kind == RmwKind::Xor;
  bool small = bitWidth(place.dtype) < 32;
  bool allowed = isFloat(place.dtype) ? !bits && !isFloat8(place.dtype) : !small;
  if (!allowed)
    fail(Diagnostic::Kind::Value, std::string("this atomic does not take ") + dtypeName(place.dtype),
         isFloat8(place.dtype) && !bits ? "use floats of 16 bits or more" : "use integers of 32 or 64 bits");
  Type type{place.dtype, place.shape};
  auto op = impl->create<tile::AtomicRmwOp>(impl->lower(type), lowerKind(kind, place.dtype), toMlir(place.handle),
                                            impl->raw(convert(value, type)), lowerOrder(order), lowerScope(scope));
  return impl->like(op, type);
}
Value Builder::atomicRmw(RmwKind kind, const Value &pointer, const Operand &value, const std::optional<Operand> &mask,
                         MemoryOrder order, SyncScope scope) {
  requirePointer(*this, pointer, "an atomic");
  requireWritable(*this, pointer);
  return atomicRmw(kind, pointerPlace(pointer, mask), value, order, scope);
}
Value Builder::atomicCas(const Value &pointer, const Operand &expected, const Operand &desired, MemoryOrder order,
                         SyncScope scope) {
  requirePointer(*this, pointer, "atomic_cas");
  requireWritable(*this, pointer);
  Place place = pointerPlace(pointer, std::nullopt);
  Type type{place.dtype, place.shape};
  auto op = impl->create<tile::AtomicCasOp>(impl->lower(type), toMlir(place.handle), impl->raw(convert(expected, type)),
                                            impl->raw(convert(desired, type)), lowerOrder(order), lowerScope(scope));
  return impl->like(op, type);
}

} // namespace tilery
