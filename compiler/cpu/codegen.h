#pragma once
// One kernel into one LLVM function: steps of the plan in order, control flow, and the ops that are no nests.
#include "compiler/cpu/nest.h"

namespace tilery::cpu {

class KernelEmitter {
public:
  KernelEmitter(Emitter &e, tile::KernelOp kernel, const Plan &plan);
  /// Adds the kernel's function (include/tilery/abi.h) to the module. Failure after an error was reported.
  mlir::FailureOr<KernelInfo> emit();

  // -- for emitters of single ops
  Emitter &e;
  const Plan &plan;
  Evaluator evaluator;
  NestEmitter nests;
  llvm::Value *launch = nullptr, *programId = nullptr;
  /// Emits all steps of a block (not its scalar terminator operands). False after an error.
  bool block(mlir::Block &block);
  bool steps(const std::vector<Step> &steps);
  /// What the op's initial tiles need before it.
  bool inits(mlir::Operation *op);
  /// body at every element of a box, one lane at a time, in row-major order.
  void forEach(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(llvm::ArrayRef<Index>)> body);
  /// Runs `then` if `condition` holds (null: always).
  void when(llvm::Value *condition, llvm::function_ref<void()> then);
  llvm::BasicBlock *newBlock(const char *name = "");

private:
  void emitEntry();
  void makeScopes();
  bool op(mlir::Operation *op);

  // control_flow.cpp
  bool forOp(mlir::scf::ForOp op);
  bool ifOp(mlir::scf::IfOp op);
  bool whileOp(mlir::scf::WhileOp op);
  bool parallelOp(tile::ParallelOp op);

  // memory_ops.cpp
  void loadOp(tile::LoadOp op);
  void storeOp(tile::StoreOp op);
  void bufferLoadOp(tile::BufferLoadOp op);
  void bufferStoreOp(tile::BufferStoreOp op);
  void elementLoadOp(tile::ElementLoadOp op);
  void elementStoreOp(tile::ElementStoreOp op);
  void atomicRmwOp(tile::AtomicRmwOp op);
  void atomicCasOp(tile::AtomicCasOp op);
  Point elementPoint(mlir::OperandRange indices, llvm::ArrayRef<int64_t> shape, Lanes &inside);
  void atomically(mlir::Operation *op, mlir::Value place,
                  llvm::function_ref<llvm::Value *(llvm::Value *pointer, llvm::ArrayRef<Index> point)> update);

  // tile_ops.cpp
  void extractOp(tile::ExtractOp op);
  void scanOp(tile::ScanOp op);
  void sortOp(tile::SortOp op);
  void histogramOp(tile::HistogramOp op);
  void printOp(tile::PrintOp op);
  void assertOp(tile::AssertOp op);

  tile::KernelOp kernel;
  llvm::Function *function = nullptr;
  llvm::SmallVector<llvm::Value *, 3> pid, grid;
};

} // namespace tilery::cpu
