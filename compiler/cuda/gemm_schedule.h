#pragma once
// How a matrix product runs on Hopper: a value, printed and overridden by name, chosen before any code is made.
#include "compiler/cuda/target.h"
#include <string>

namespace tilery::cuda {

/// What the chooser knows of the product.
struct GemmProblem {
  unsigned m, n, k;        // of the program's tile; k: one step of the contraction
  unsigned elementBytes;   // of the operands
  unsigned outputBytes;    // of an element of the result that shared memory stages, 0: stored from registers
  bool reorder;            // the programs may run in any order over a two-dimensional grid
  unsigned stagesHint = 0; // the user's num_stages
};

struct GemmSchedule {
  unsigned consumers = 2;  // warpgroups that multiply; each has tile rows of its own
  unsigned k = 64;         // depth of a stage
  unsigned stages = 4;     // of the ring
  unsigned group = 8;      // tile rows that are walked together, so that a wave shares operands in L2; 1: the grid's own order
  bool stageOutput = true; // the result goes through shared memory and the copy engine
  bool general = false;    // not on this path at all, but as every other program

  unsigned threads() const { return 128 * (consumers + 1); }
  std::string print() const;
  /// Sets fields from "stages=3 group=1"; throws Error for a name there is not.
  void override(const std::string &text);
};

/// Bytes of shared memory: barriers, ring, staged result.
unsigned sharedBytes(const GemmProblem &problem, const GemmSchedule &schedule);
/// The schedule of the model; TILERY_SCHEDULE overrides fields. Throws Error if nothing fits the target.
GemmSchedule chooseSchedule(const GemmProblem &problem, const CudaTarget &target);

} // namespace tilery::cuda
