#pragma once
// One kernel as the CPU runs it: the function of include/tilery/abi.h, products by packed panels, prints and assertions by the runtime.
#include "compiler/lower/codegen.h"
#include "tilery/runtime.h"

namespace tilery::cpu {

class CpuKernel : public lower::KernelEmitter {
public:
  using KernelEmitter::KernelEmitter;
  /// Adds the kernel's function to the module, and what a launch must have ready to `info`. Failure after an error was reported.
  mlir::LogicalResult emit(KernelInfo &info);

protected:
  void dotOp(mlir::Operation *op) override;
  void printOp(tile::PrintOp op) override;
  void assertOp(tile::AssertOp op) override;
  void mayLeave() override;
  /// Rows one after the other, by the runtime.
  void sortOp(tile::SortOp op) override;
  void scanOp(tile::ScanOp op) override;
  bool targetOp(mlir::Operation *op) override;
  /// In vectors, where the points do nothing else than plain accesses and arithmetic (parallel_lanes.cpp).
  bool parallelOp(tile::ParallelOp op) override;

private:
  /// The arguments, the loop over programs, and what ends the function.
  void emitEntry();

  llvm::Value *launch = nullptr; // const TileryLaunch *
};

} // namespace tilery::cpu
