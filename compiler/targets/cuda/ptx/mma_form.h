#pragma once
// The products that a warp can start: 16 x 8 sums.

namespace tilery::cuda {

/// What multiplies 16 x 8 elements. A thread of a warp holds four of them: rows lane / 4 and that + 8, columns 2 * (lane % 4) and the
/// next. The Fused kinds are no tensor cores' but a thread's own multiply-adds, in increasing k.
struct MmaForm {
  enum Kind { F16, BF16, TF32, F64, I8, FusedF32, FusedI32, FusedI64 } kind = FusedF32;
  bool unsignedA = false, unsignedB = false; // I8
  bool fused() const { return kind >= FusedF32; }
  unsigned elementBytes() const; // of an operand in shared memory
  unsigned depth() const;        // elements of k of one instruction
  const char *name() const;
};

} // namespace tilery::cuda
