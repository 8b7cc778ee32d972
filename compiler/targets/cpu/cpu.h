#pragma once
// The CPU back end's entry point: tile IR in, machine code out.
#include "compiler/ir/Tile.h"
#include "compiler/targets/cpu/target.h"
#include "tilery/runtime.h"

namespace tilery {
class Backend;
}

namespace tilery::cpu {

struct Options {
  CpuTarget target = hostTarget();
  /// As in lower::Options.
  bool disjoint = false;
  bool fpContract = true;
  bool lineTables = true;
  bool wantLLVM = false, wantAsm = false, wantPlan = false;
};

struct CompiledObject {
  std::string object;                      // ELF, see emit_object.h
  std::vector<KernelInfo> kernels;         // runtime.h: symbol, scratch bytes, argument slots
  std::string llvmText, asmText, planText; // as wanted
};

/// Compiles every tile.kernel of `module` (after the target-independent passes). Programs that the CPU cannot run yet are reported as
/// MLIR diagnostics at the op's location, in one message each, and give failure.
mlir::FailureOr<CompiledObject> compileModule(mlir::ModuleOp module, const Options &options);

/// This folder's entry in the list of targets.
const Backend &backend();

} // namespace tilery::cpu
