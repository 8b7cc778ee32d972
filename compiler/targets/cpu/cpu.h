#pragma once
// The CPU back end's entry point: tile IR in, machine code out.
#include "compiler/ir/Tile.h"
#include "compiler/targets/cpu/target.h"
#include "compiler/targets/translation.h"

namespace tilery {
class Backend;
}

namespace tilery::cpu {

struct Options {
  CpuTarget target = hostTarget();
  /// As in lower::Options.
  bool disjoint = false;
  bool fpContract = true;
  bool plainTile = false, plainLLVM = false; ///< as in CompileOptions
  bool lineTables = true;
  bool wantLLVM = false, wantAsm = false, wantPlan = false;
};

/// Compiles every tile.kernel of `module` (after the target-independent passes) to ELF (emit_object.h). Programs that the CPU cannot run yet
/// are reported as MLIR diagnostics at the op's location, in one message each, and give failure.
mlir::FailureOr<Translation> compileModule(mlir::ModuleOp module, const Options &options);

/// This folder's entry in the list of targets.
const Backend &backend();

} // namespace tilery::cpu
