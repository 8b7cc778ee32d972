#pragma once
// What every back end tells the shared lowering.
#include "compiler/targets/cpu/target.h"
#include "compiler/ir/Tile.h"
#include "tilery/runtime.h"

namespace tilery::lower {

struct Options {
  cpu::CpuTarget target = cpu::hostTarget();
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

} // namespace tilery::lower
