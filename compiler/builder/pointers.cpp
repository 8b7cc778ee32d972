// Addresses: what may be done with them. Everything else takes numbers, and says whose address it was given.
#include "compiler/builder/impl.h"

namespace tilery {

/// The kernel's argument that an address is computed from; "": it is not one alone.
static std::string argumentOf(mlir::Value address) {
  while (mlir::Operation *op = address.getDefiningOp()) {
    if (!mlir::isa<tile::AddPtrOp, tile::PtrCastOp, tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp,
                   tile::PermuteOp>(op))
      return "";
    address = op->getOperand(0);
  }
  auto argument = mlir::cast<mlir::BlockArgument>(address);
  auto kernel = mlir::dyn_cast<tile::KernelOp>(argument.getOwner()->getParentOp());
  auto name = kernel ? kernel.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), "tile.name") : mlir::StringAttr();
  return name ? name.str() : "";
}

void Builder::Impl::failAddress(const std::string &wanted, const Value &pointer) {
  std::string name = argumentOf(toMlir(pointer.handle)), hint;
  bool isArgument = !name.empty() && mlir::isa<mlir::BlockArgument>(toMlir(pointer.handle));
  std::string got = isArgument     ? "`" + name + "` is the address of a tensor (" + pointer.type.str() + ")"
                    : name.empty() ? "this is an address (" + pointer.type.str() + ")"
                                   : "this is an address in `" + name + "` (" + pointer.type.str() + ")";
  if (policy == Policy::Triton)
    hint = isArgument ? "launch with the number, " + name + spelling().scalarOf +
                            ", or read it in the kernel: " + spelling().load + "(" + name + ")"
                      : std::string("read what lies there with ") + spelling().load;
  self.fail(Diagnostic::Kind::Type, wanted + ", and " + got, hint);
}

/// What is no integer; the pointer may be a number's that was passed as an array.
[[noreturn]] static void failOffset(Builder &self, Policy policy, const Value &pointer, const Value &offset) {
  std::string name = argumentOf(toMlir(pointer.handle)), hint;
  if (policy == Policy::Triton) {
    hint = std::string("divide integers with ") + spelling().quotient;
    if (!name.empty() && mlir::isa<mlir::BlockArgument>(toMlir(pointer.handle)))
      hint += "; if `" + name + "` is meant to be a number, launch with " + name + spelling().scalarOf;
  }
  self.fail(Diagnostic::Kind::Type, "an offset of a pointer must be an integer, this one is " + offset.type.str(), hint);
}

void Builder::requireNumbers(const Value &value, const std::string &what) {
  if (value.type.pointer)
    impl->failAddress(what + " takes numbers", value);
}

Value Builder::Impl::offsetPointer(BinaryOp op, const Value &pointer, const Operand &offset) {
  Value value = self.materialize(offset);
  if (value.type.pointer)
    failAddress("cannot add pointers together: an offset is an integer", value);
  if (!isInteger(value.dtype()) && !isBool(value.dtype()))
    failOffset(self, policy, pointer, value);
  if (isUnsigned(value.dtype()) || isBool(value.dtype()))
    value = self.cast(value, DType::I64);
  if (op == BinaryOp::Sub)
    value = self.unary(UnaryOp::Neg, value);
  auto both = self.broadcast({pointer, value});
  mlir::Value result = create<tile::AddPtrOp>(raw(both[0]), raw(both[1]));
  return like(result, both[0].type);
}

Value Builder::pointerCast(const Value &pointer, DType pointee) {
  Type type = pointer.type;
  type.element = pointee;
  return impl->like(impl->create<tile::PtrCastOp>(impl->lower(type), impl->raw(pointer)), type);
}
Value Builder::pointerToInt(const Value &pointer) {
  Type type{DType::I64, pointer.shape()};
  return impl->like(impl->create<tile::PtrToIntOp>(impl->lower(type), impl->raw(pointer)), type);
}
Value Builder::intToPointer(const Value &value, DType pointee) {
  if (value.type.pointer || bitWidth(value.dtype()) != 64 || !isInteger(value.dtype()))
    fail(Diagnostic::Kind::Type, "only int64 and uint64 convert to a pointer, got " + value.type.str());
  Type type{pointee, value.shape(), true};
  return impl->like(impl->create<tile::IntToPtrOp>(impl->lower(type), impl->raw(value)), type);
}

} // namespace tilery
