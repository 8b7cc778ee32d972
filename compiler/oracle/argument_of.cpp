#include "compiler/oracle/argument_of.h"

using namespace mlir;

namespace tilery::oracle {

/// What a place, a root or a pointer is made from.
static Value baseOf(Value value) {
  Operation *op = value.getDefiningOp();
  return TypeSwitch<Operation *, Value>(op)
      .Case<tile::PointerAccessOp>([](auto access) { return access.getPtrs(); })
      .Case<tile::AccessOp>([](auto access) { return access.getBase(); })
      .Case<tile::ViewOp>([](auto view) { return view.getRoot(); })
      .Case<tile::RootOp>([](auto root) { return root.getBase(); })
      .Case<tile::AddPtrOp>([](auto add) { return add.getPtr(); })
      .Default([](Operation *other) { return other->getNumOperands() == 1 ? other->getOperand(0) : Value(); });
}

StringRef argumentOf(Operation *access) {
  Value value = access->getOperand(0);
  while (value && !isa<BlockArgument>(value))
    value = baseOf(value);
  auto argument = dyn_cast_or_null<BlockArgument>(value);
  auto kernel = argument ? dyn_cast<tile::KernelOp>(argument.getOwner()->getParentOp()) : tile::KernelOp();
  if (!kernel)
    return {};
  auto name = kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tile.name");
  return name ? name.getValue() : StringRef();
}

} // namespace tilery::oracle
