#pragma once
#include "compiler/ir/Tile.h"
#include "tilery/module.h"
#include <mutex>

namespace tilery {
/// A context of its own, without locks of its own: modules are built and compiled on any threads at once, each by one at a time.
struct Module::Impl {
  std::mutex mutex; ///< held by who reads or compiles a finished module: each makes new types and attributes in the context
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Impl();
};
} // namespace tilery
