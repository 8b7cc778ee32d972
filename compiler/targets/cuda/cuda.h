#pragma once
// The CUDA back end's entry point: tile IR in, PTX out.
#include "compiler/ir/Tile.h"
#include "compiler/targets/cuda/ptx/target.h"
#include "compiler/targets/translation.h"

namespace tilery {
class Backend;
struct CompileOptions;
namespace lower {
struct Emitter;
}
} // namespace tilery

namespace tilery::cuda {
class BlockMachine;

struct Options {
  CudaTarget target;
  /// As in lower::Options.
  bool disjoint = false;
  bool fpContract = true;
  bool plainTile = false, plainLLVM = false; ///< as in CompileOptions
  bool boxes = true;                         ///< as in CompileOptions
  unsigned cluster = 1;
  bool inTurn = false;     ///< as in CompileOptions
  bool lineTables = false; ///< profilers find the source's lines
  bool wantLLVM = false, wantPlan = false, wantBlock = false;
};

/// Those of the back end. Throws Error where there is no such GPU.
Options optionsOf(const CompileOptions &options);

/// Emits every tile.kernel of `module`, each by the path that takes it, into the emitter's module. What is told: the kernels, and the texts of
/// plan and block IR, as wanted. Failure as of compileModule.
mlir::FailureOr<Translation> emitKernels(mlir::ModuleOp module, const Options &options, lower::Emitter &e, BlockMachine &machine);

/// Compiles every tile.kernel of `module` (after the target-independent passes) to PTX. Programs that the GPU cannot run are reported
/// as MLIR diagnostics at the op's location and give failure; schedules that do not fit throw Error.
mlir::FailureOr<Translation> compileModule(mlir::ModuleOp module, const Options &options);

/// This folder's entry in the list of targets.
const Backend &backend();

} // namespace tilery::cuda
