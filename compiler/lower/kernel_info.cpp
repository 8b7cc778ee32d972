#include "compiler/lower/kernel_info.h"
#include "compiler/lower/aliasing.h"
#include "compiler/ir/dtype_of.h"
#include "compiler/ir/hints.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tilery::lower {

static std::optional<DType> slotType(Type type) {
  if (auto pointer = dyn_cast<tile::PtrType>(type))
    type = pointer.getPointee();
  return isa<tile::PtrType>(type) ? DType::I64 : dtypeOf(type);
}

SmallVector<BlockArgument> writtenArguments(tile::KernelOp kernel) {
  llvm::SmallSetVector<BlockArgument, 8> found;
  kernel.walk([&](Operation *op) {
    if (!isa<tile::StoreOp, tile::AtomicRmwOp, tile::AtomicCasOp>(op))
      return;
    MemoryClass written = classOfPlace(op->getOperand(0));
    for (BlockArgument argument : kernel.getBody().getArguments()) {
      auto type = dyn_cast<tile::PtrType>(argument.getType());
      if (type && !type.getIsConst() && (written.kind == MemoryClass::Unknown || written.which == argument.getAsOpaquePointer()))
        found.insert(argument);
    }
  });
  return found.takeVector();
}

bool writesNone(ModuleOp module, ArrayRef<std::pair<std::string, std::string>> pairs) {
  llvm::StringMap<bool> written; // by name
  module.walk([&](tile::KernelOp kernel) {
    SmallVector<BlockArgument> stored = writtenArguments(kernel);
    for (BlockArgument argument : kernel.getBody().getArguments())
      if (auto name = kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tile.name"))
        written[name] |= llvm::is_contained(stored, argument);
  });
  auto isRead = [&](StringRef name) { return written.contains(name) && !written.lookup(name); };
  return llvm::all_of(pairs, [&](auto &pair) { return isRead(pair.first) && isRead(pair.second); });
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
  for (BlockArgument argument : writtenArguments(kernel))
    info.args[argument.getArgNumber()].written = true;
  return info;
}

} // namespace tilery::lower
