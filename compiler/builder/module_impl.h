#pragma once
#include "compiler/ir/Tile.h"
#include "tilery/module.h"
#include <mutex>

namespace tilery {
/// A context of its own, without locks of its own: modules are built and compiled on any threads at once, each by one at a time.
struct Module::Impl {
  /// Held by who reads, runs or compiles a finished module: each makes new types and attributes in the context. Between two steps of theirs a
  /// signal's handler may do so, too, on the same thread.
  std::recursive_mutex mutex;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Impl();
};
} // namespace tilery
