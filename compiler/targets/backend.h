#pragma once
// What the driver asks of a back end, a folder compiler/targets/X. compiler/backends.cpp lists them all.
#include "compiler/arrange/choose.h"
#include "compiler/ir/Tile.h"
#include "compiler/ir/hints.h"
#include "compiler/targets/translation.h"
#include "tilery/compile.h"
#include <string_view>

namespace tilery {

class Backend {
public:
  virtual ~Backend() = default;
  /// Whether a machine of this name (CompileOptions::target) is for this back end, perhaps to be refused by it.
  virtual bool claims(std::string_view name) const = 0;
  /// The names that it knows, for users' errors.
  virtual std::vector<std::string> names() const = 0;
  /// Whether it runs `tile.threads` by threads of the machine; else they come as tile code.
  virtual bool hasThreads() const = 0;
  /// What code for the machine depends on besides IR and options. Throws Error where there is no such machine.
  virtual std::string key(const std::string &name) const = 0;
  /// Those of hintNames() that may change its code.
  virtual llvm::ArrayRef<llvm::StringLiteral> hints() const { return tile::hintNames(); }
  /// What programs of NineToothed cost on this device (a number; -1: the threads of this process, a usual GPU), by which open block sizes are chosen.
  /// Throws Error where there is no such device.
  virtual arrange::Cost blockCost(int device) const = 0;
  /// Translates every tile.kernel of `module` (after the target-independent passes). Fails after an MLIR error at the op's location; throws
  /// Error where there is no such machine.
  virtual mlir::FailureOr<Translation> compile(mlir::ModuleOp module, const CompileOptions &options) const = 0;
};

} // namespace tilery
