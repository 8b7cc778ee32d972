#pragma once
// One kernel into one LLVM function: steps of the plan in order, control flow, and the ops that are no nests. A target derives its own: how
// the function begins and ends, products, and whatever it does otherwise.
#include "compiler/lower/nest.h"

namespace tilery::lower {

class KernelEmitter {
public:
  KernelEmitter(Emitter &e, tile::KernelOp kernel, const Plan &plan, ThreadModel *threads = nullptr);
  virtual ~KernelEmitter() = default;
  // -- for emitters of single ops
  Emitter &e;
  const Plan &plan;
  Evaluator evaluator;
  NestEmitter nests;
  llvm::Value *programId = nullptr; // i64
  /// Emits all steps of a block (not its scalar terminator operands). False after an error.
  virtual bool block(mlir::Block &block);
  bool steps(const std::vector<Step> &steps);
  /// What the op's initial tiles need before it.
  bool inits(mlir::Operation *op);
  /// body at every element of a box, one lane at a time, in row-major order.
  virtual void forEach(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(llvm::ArrayRef<Index>)> body);
  /// One op that is no nest. False after an error.
  bool single(mlir::Operation *op) { return this->op(op); }
  /// The counter and the scalars of a loop around `body`, with other values carried beside them: `body` gives their next ones. Returns
  /// their last ones.
  llvm::SmallVector<llvm::Value *>
  forLoop(mlir::scf::ForOp op, llvm::ArrayRef<llvm::Value *> init,
          llvm::function_ref<llvm::SmallVector<llvm::Value *>(llvm::ArrayRef<llvm::Value *>)> body);
  /// Runs `then` if `condition` holds (null: always).
  void when(llvm::Value *condition, llvm::function_ref<void()> then);
  llvm::BasicBlock *newBlock(const char *name = "");

protected:
  // -- what targets do, or do otherwise
  /// A dot or contraction into its result's buffer (Plan::products).
  virtual void dotOp(mlir::Operation *op) { refuse(op); }
  virtual void printOp(tile::PrintOp op) { refuse(op); }
  virtual void assertOp(tile::AssertOp op) { refuse(op); }
  /// At the back edge of a loop whose end nothing bounds: where a launch may be interrupted.
  virtual void mayLeave() {}
  /// Ops that not every target has; false: this one has not.
  virtual bool targetOp(mlir::Operation *) { return false; }
  virtual bool nest(const Nest &nest) { return nests.emit(nest); }
  virtual bool op(mlir::Operation *op);
  virtual bool parallelOp(tile::ParallelOp op);
  using Update = llvm::function_ref<llvm::Value *(llvm::Value *pointer, llvm::ArrayRef<Index> point)>;
  /// The op's lanes that exist are updated where they are; its result is what `update` gives, 0 in other lanes.
  virtual void atomically(mlir::Operation *op, llvm::function_ref<Address(llvm::ArrayRef<Index>)> where, Update update);
  /// An update of a buffer's element; a program on a CPU has its buffers for itself.
  virtual void elementUpdateOp(tile::ElementUpdateOp op);
  virtual void scanOp(tile::ScanOp op);
  virtual void histogramOp(tile::HistogramOp op);
  virtual void sortOp(tile::SortOp op);
  /// Whether an element x comes before y in the order that the op asks for.
  llvm::Value *sortsBefore(tile::SortOp op, Lanes x, Lanes y);

  void makeScopes();
  /// Reports that the target cannot run the op.
  void refuse(mlir::Operation *op);

  // control_flow.cpp
  bool forOp(mlir::scf::ForOp op);
  bool ifOp(mlir::scf::IfOp op);
  bool whileOp(mlir::scf::WhileOp op);

  // memory_ops.cpp
  void loadOp(tile::LoadOp op);
  void storeOp(tile::StoreOp op);
  void bufferLoadOp(tile::BufferLoadOp op);
  void bufferStoreOp(tile::BufferStoreOp op);
  void elementLoadOp(tile::ElementLoadOp op);
  void elementStoreOp(tile::ElementStoreOp op);
  void atomicRmwOp(tile::AtomicRmwOp op);
  void atomicCasOp(tile::AtomicCasOp op);
  Address elementAddress(mlir::Value buffer, mlir::OperandRange indices);
  Point elementPoint(mlir::OperandRange indices, llvm::ArrayRef<int64_t> shape, Lanes &inside);

  // tile_ops.cpp
  void extractOp(tile::ExtractOp op);

  tile::KernelOp kernel;
  llvm::DenseMap<mlir::Operation *, llvm::Value *> written; // stores whose place a product has filled where this i1 is true
  llvm::Function *function = nullptr;
  llvm::SmallVector<llvm::Value *, 3> pid, grid;
};

} // namespace tilery::lower
