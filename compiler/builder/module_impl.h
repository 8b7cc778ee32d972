#pragma once
#include "compiler/ir/Tile.h"
#include "tilery/module.h"

namespace tilery {
/// A context of its own: modules are built and compiled on any thread, one at a time.
struct Module::Impl {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Impl();
};
} // namespace tilery
