#pragma once
// What the shared lowering asks of a GPU, whose threads each compute vectors of up to 16 bytes.
#include "compiler/lower/target.h"
#include "compiler/targets/cuda/ptx/target.h"

namespace tilery::cuda {

/// How a block of so many threads sorts: runs of `run` elements, `own` of each thread that takes part in one, and so many steps in which they
/// merge.
struct SortSteps {
  SortSteps(tile::SortOp op, unsigned threads);
  int64_t run;
  unsigned own;
  unsigned merges;
};

class GpuLowering : public lower::Target {
public:
  /// `instructions`: with those that only NVIDIA GPUs have. Without them it is code for any machine (the emulator of the tests).
  GpuLowering(const CudaTarget &gpu, bool instructions = true);
  bool updatesInNests() const override { return true; }
  llvm::StringRef syncScope(tile::SyncScope scope) const override;
  bool ordersAtomics(unsigned bits, llvm::AtomicOrdering order) const override;
  llvm::Value *update(lower::Emitter &e, tile::RmwKind kind, mlir::Type element, llvm::Value *pointer, llvm::Value *bits,
                      const lower::AtomicOrder &as) const override;
  unsigned addsTogether(mlir::Type element) const override;
  bool addTogether(lower::Emitter &e, mlir::Type element, llvm::Value *pointer, llvm::Value *bits,
                   tile::SyncScope scope) const override;
  llvm::Value *compareAndSwap(lower::Emitter &e, llvm::Value *pointer, llvm::Value *expected, llvm::Value *desired,
                              const lower::AtomicOrder &as) const override;
  lower::Lanes function(lower::Emitter &e, llvm::StringRef name, llvm::ArrayRef<lower::Lanes> operands) const override;
  lower::Lanes divide(lower::Emitter &e, lower::Lanes x, lower::Lanes y, bool approximately) const override;
  lower::Lanes select(lower::Emitter &e, lower::Lanes condition, lower::Lanes x, lower::Lanes y) const override;
  lower::Lanes widenBF16(lower::Emitter &e, lower::Lanes bits) const override;
  lower::Lanes narrowBF16(lower::Emitter &e, lower::Lanes value) const override;
  lower::Lanes widenFloat8(lower::Emitter &e, lower::Lanes bits, mlir::Type element, bool keepsNaNSign) const override;
  lower::Lanes float8ToHalf(lower::Emitter &e, lower::Lanes bits, mlir::Type element) const override;
  lower::Lanes narrowFloat8(lower::Emitter &e, lower::Lanes value, mlir::Type element) const override;

  /// The runs of a sort while they merge.
  llvm::SmallVector<mlir::Type> temporaries(mlir::Operation *op) const override;

private:
  const unsigned sm;
  const bool approximates;   // ex2.approx, div.full, saturation, atom
  const bool narrowsBF16;    // by one instruction that rounds to nearest even and keeps denormals
  const bool convertsFloat8; // pairs, by an instruction, or by what does as it does
  llvm::Value *halvesOf(lower::Emitter &e, lower::Lanes bytes, mlir::Type element) const;
  llvm::Value *bytesOf(lower::Emitter &e, llvm::Value *low, llvm::Value *high, mlir::Type element) const;
};

} // namespace tilery::cuda
