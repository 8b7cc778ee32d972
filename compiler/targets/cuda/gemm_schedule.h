#pragma once
// How a matrix product runs on Hopper: a value, printed and overridden by name, chosen before any code is made.
#include "compiler/targets/cuda/target.h"
#include <string>

namespace tilery::cuda {

/// What the chooser knows of the product.
struct GemmProblem {
  unsigned m, n, k;        // of the program's tile; k: one step of the contraction
  unsigned elementBytes;   // of the operands
  unsigned outputBytes;    // of an element of the result if the copy engine can store it, 0: it cannot
  bool reorder;            // the order of the grid's tiles is known, or can be found at run time
  unsigned stagesHint = 0; // the user's num_stages
};

struct GemmSchedule {
  unsigned consumers = 2; // warpgroups that multiply; each has tile rows of its own
  unsigned k = 64;        // depth of a stage
  unsigned stages = 4;    // of the ring
  unsigned group = 8;     // tile rows that are walked together, so that a wave shares operands in L2; 1: the grid's own order
  /// Pieces of 64 rows x 128 bytes of the result that a consumer's part of shared memory holds on the way to the copy engine: all of
  /// them, or an even number that is used in halves by turns. 0: the result is stored from registers.
  unsigned stageOutput = 8;
  unsigned general = 0; // 1: not on this path at all, but as every other program

  unsigned threads() const { return 128 * (consumers + 1); }
  std::string print() const;
  /// Sets fields from "stages=3 group=1"; throws Error for a name there is not.
  void override(const std::string &text);
};

/// Pieces of the result that a consumer computes.
unsigned outputPieces(const GemmProblem &problem, const GemmSchedule &schedule);
/// Bytes from one stage of the ring to the next: a multiple of 1024, for swizzled operands begin there.
unsigned stagePitch(const GemmProblem &problem, const GemmSchedule &schedule);
/// Bytes of shared memory: barriers, ring, staged result.
unsigned sharedBytes(const GemmProblem &problem, const GemmSchedule &schedule);
/// The schedule of the model; TILERY_SCHEDULE overrides fields. Throws Error if nothing fits the target.
GemmSchedule chooseSchedule(const GemmProblem &problem, const CudaTarget &target);

} // namespace tilery::cuda
