#pragma once
// Which memory a module's kernels touch: what must be put back before they run on it once more, and whether they may run once more.
#include "compiler/ir/Tile.h"

namespace tilery::count {

/// A pointer argument, by the name that kernels of the module give it.
struct PointerUse {
  std::string name;
  bool isRead = false; ///< maybe; an update reads, too
  bool isWritten = false;
};

struct MemoryUse {
  std::vector<PointerUse> pointers;
  bool writesByNumber = false; ///< maybe, where a number says that is the address of no argument
  bool signals = false;        ///< updates what other devices or the host may wait for, or are waited for by
  bool prints = false;
};

/// module: after the passes of a CPU.
MemoryUse memoryUseOf(mlir::ModuleOp module);

/// Does the module's kernel read memory, and do nothing that anybody sees?
bool readsInVain(mlir::ModuleOp module);

} // namespace tilery::count
