#pragma once
// The CPU back end's entry point: tile IR in, machine code out.
#include "compiler/cpu/target.h"
#include "compiler/ir/Tile.h"
#include "tilery/runtime.h"
#include <functional>

namespace tilery::cpu {

struct Options {
  CpuTarget target = hostTarget();
  /// The launch promises TILERY_DISJOINT: no written argument overlaps another one. Loads may then move across stores to other
  /// arguments. Code compiled with `disjoint` must only be launched with that flag.
  bool disjoint = false;
  /// a * b + c may round once. Off: bit for bit what the oracle computes element by element.
  bool fpContract = true;
  bool lineTables = true;
  bool wantLLVM = false, wantAsm = false, wantPlan = false;
  uint64_t arenaLimit = UINT64_MAX;    ///< bytes of scratch; what does not fit lies in a workspace (Plan)
  const char *noun = "the CPU target"; ///< the subject of what is refused
  /// Bytes that the buffer of a dot's result must have at least; null: those of the result.
  std::function<int64_t(mlir::Operation *dot)> dotBytes;
};

struct CompiledObject {
  std::string object;                      // ELF, see emit_object.h
  std::vector<KernelInfo> kernels;         // runtime.h: symbol, scratch bytes, argument slots
  std::string llvmText, asmText, planText; // as wanted
};

/// Compiles every tile.kernel of `module` (after the target-independent passes). Programs that the CPU cannot run yet are reported as
/// MLIR diagnostics at the op's location, in one message each, and give failure.
mlir::FailureOr<CompiledObject> compileModule(mlir::ModuleOp module, const Options &options);

} // namespace tilery::cpu
