#pragma once
// What the threads of a warp do together in matrix products (PTX ISA, "Matrix Fragments"), computed for one of them from all their operands.
#include "compiler/targets/cuda/ptx/mma_form.h"
#include <cstdint>

namespace tilery::emulator {

/// An instruction as one number, and the operands and results of a thread. Words are of four bytes; doubles take two.
struct WarpOperation {
  enum Kind : uint32_t {
    LoadMatrices,
    LoadTransposed,
    StoreMatrices,
    StoreTransposed,
    RoundTF32,
    Multiply
  }; // Multiply + MmaForm::Kind, + 16 * unsignedA + 32 * unsignedB
  uint32_t kind;
  uint32_t count;   // of matrices
  void *row;        // of matrices; null: at `address` of shared memory
  uint32_t address; // likewise
  uint32_t a[4], b[2];
  uint32_t sums[8];    // Multiply: also the result
  uint32_t results[4]; // of others; StoreMatrices: what is stored
};

/// The results of thread `lane`. `all`: what the 32 threads gave.
void emulate(unsigned lane, WarpOperation *const all[32]);

} // namespace tilery::emulator
