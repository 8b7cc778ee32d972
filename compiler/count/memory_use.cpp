#include "compiler/count/memory_use.h"
#include "compiler/lower/aliasing.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tilery::count {

MemoryUse memoryUseOf(ModuleOp module) {
  MemoryUse use;
  llvm::MapVector<StringAttr, PointerUse> named;
  module.walk([&](tile::KernelOp kernel) {
    bool hasNumbers = false, writesAnywhere = false;
    auto touch = [&](Value place, bool reads, bool writes) {
      lower::MemoryClass touched = lower::classOfPlace(place);
      bool isAny = touched.kind == lower::MemoryClass::Unknown;
      writesAnywhere |= isAny && writes;
      for (BlockArgument argument : kernel.getBody().getArguments())
        if (auto name = kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tile.name");
            name && isa<tile::PtrType>(argument.getType()) && (isAny || touched.which == argument.getAsOpaquePointer())) {
          named[name].isRead |= reads;
          named[name].isWritten |= writes;
        }
    };
    for (BlockArgument argument : kernel.getBody().getArguments())
      if (auto name = kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tile.name");
          name && isa<tile::PtrType>(argument.getType()))
        named[name].name = name.str();
    kernel.walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case([&](tile::LoadOp load) { touch(load.getPlace(), true, false); })
          .Case([&](tile::StoreOp store) { touch(store.getPlace(), false, true); })
          .Case<tile::AtomicRmwOp, tile::AtomicCasOp>([&](auto update) {
            touch(update.getPlace(), true, true);
            use.signals |= update.getScope() == tile::SyncScope::sys;
          })
          .Case([&](tile::IntToPtrOp) { hasNumbers = true; })
          .Case([&](tile::PrintOp) { use.prints = true; });
    });
    use.writesByNumber |= hasNumbers && writesAnywhere;
  });
  for (auto &[name, pointer] : named)
    use.pointers.push_back(std::move(pointer));
  return use;
}

bool readsInVain(ModuleOp module) {
  bool reads = false;
  auto isSeen = [](Operation *op) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects) // regions are walked; what ends them does nothing
      return !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() && !op->hasTrait<OpTrait::IsTerminator>();
    SmallVector<MemoryEffects::EffectInstance> found;
    effects.getEffects(found);
    return llvm::any_of(found, [](const MemoryEffects::EffectInstance &effect) {
      return isa<MemoryEffects::Write>(effect.getEffect()) && effect.getResource() != tile::BufferMemory::get();
    });
  };
  auto walk = [&](Operation *op) {
    reads |= isa<tile::LoadOp>(op);
    return isSeen(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  bool seen = llvm::any_of(module.getOps<tile::KernelOp>(),
                           [&](tile::KernelOp kernel) { return kernel.getBody().walk(walk).wasInterrupted(); });
  return reads && !seen;
}

} // namespace tilery::count
