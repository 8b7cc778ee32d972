#pragma once
// The CUDA back end's entry point: tile IR in, PTX out.
#include "compiler/ir/Tile.h"
#include "compiler/targets/cuda/target.h"
#include "compiler/targets/translation.h"

namespace tilery {
class Backend;
}

namespace tilery::cuda {

struct Options {
  CudaTarget target;
  /// As in lower::Options.
  bool disjoint = false;
  bool fpContract = true;
  bool boxes = true; ///< as in CompileOptions
  unsigned cluster = 1;
  bool wantLLVM = false, wantPlan = false, wantBlock = false;
};

/// Compiles every tile.kernel of `module` (after the target-independent passes) to PTX. Programs that the GPU cannot run are reported
/// as MLIR diagnostics at the op's location and give failure; schedules that do not fit throw Error.
mlir::FailureOr<Translation> compileModule(mlir::ModuleOp module, const Options &options);

/// This folder's entry in the list of targets.
const Backend &backend();

} // namespace tilery::cuda
