#include "compiler/lower/kernel_info.h"
#include "compiler/lower/aliasing.h"
#include "compiler/ir/dtype_of.h"
#include "compiler/ir/hints.h"

using namespace mlir;

namespace tilery::lower {

static std::optional<DType> slotType(Type type) {
  if (auto pointer = dyn_cast<tile::PtrType>(type))
    type = pointer.getPointee();
  return isa<tile::PtrType>(type) ? DType::I64 : dtypeOf(type);
}

FailureOr<KernelInfo> describe(tile::KernelOp kernel) {
  KernelInfo info;
  info.name = kernel.getSymName().str();
  info.cooperative = tile::hint(kernel, "launch_cooperative_grid").has_value();
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    ArgInfo slot;
    if (auto name = kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tile.name"))
      slot.name = name.str();
    std::optional<DType> dtype = slotType(argument.getType());
    if (!dtype)
      return kernel.emitError("there are no kernel arguments of type ") << argument.getType();
    slot.dtype = *dtype;
    slot.pointer = isa<tile::PtrType>(argument.getType());
    info.args.push_back(slot);
  }
  kernel.walk([&](Operation *op) {
    if (isa<tile::AtomicRmwOp, tile::AtomicCasOp>(op) && info.updates == Updates::None)
      info.updates = Updates::Alone;
  });
  auto isShared = [](Operation *op) {
    auto update = dyn_cast<tile::AtomicRmwOp>(op);
    auto swap = dyn_cast<tile::AtomicCasOp>(op);
    return isa<scf::WhileOp>(op) || (update && update.getScope() == tile::SyncScope::sys) ||
           (swap && swap.getScope() == tile::SyncScope::sys);
  };
  if (info.updates == Updates::Alone &&
      kernel.walk([&](Operation *op) { return isShared(op) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted())
    info.updates = Updates::Shared;
  kernel.walk([&](Operation *op) {
    if (!isa<tile::StoreOp, tile::AtomicRmwOp, tile::AtomicCasOp>(op))
      return;
    MemoryClass written = classOfPlace(op->getOperand(0));
    for (BlockArgument argument : kernel.getBody().getArguments())
      if (info.args[argument.getArgNumber()].pointer &&
          (written.kind == MemoryClass::Unknown || written.which == argument.getAsOpaquePointer()) &&
          !cast<tile::PtrType>(argument.getType()).getIsConst())
        info.args[argument.getArgNumber()].written = true;
  });

  return info;
}

} // namespace tilery::lower
