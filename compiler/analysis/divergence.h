#pragma once
// What may differ between the threads of a `tile.threads`.
#include "compiler/ir/Tile.h"

namespace tilery::analysis {

class Divergence {
public:
  /// ownAlike: a buffer that each thread has for itself may hold the same in all; else what is read from one always counts as different.
  Divergence(tile::ThreadsOp threads, bool ownAlike) : threads(threads), ownAlike(ownAlike) {}

  /// Adds to `varying` until nothing changes.
  void run();
  bool varies(mlir::Value value) const { return varying.contains(value); }
  bool anyVaries(mlir::ValueRange values) const {
    return llvm::any_of(values, [&](mlir::Value value) { return varies(value); });
  }
  /// Whether only some threads may take a branch of the op, or some take more turns of it than others.
  bool splits(mlir::Operation *flow) const;
  /// Whether only some threads may come to the op.
  bool isUnderSplit(mlir::Operation *op) const;
  /// A buffer that each thread has for itself.
  bool isOwn(mlir::Value buffer) const;

  llvm::DenseSet<mlir::Value> varying; ///< more may be put in before run()

private:
  void visit(mlir::Operation *op);
  void visitFor(mlir::scf::ForOp loop);
  void visitWhile(mlir::scf::WhileOp loop);
  void markAll(mlir::ValueRange values) { varying.insert(values.begin(), values.end()); }

  tile::ThreadsOp threads;
  bool ownAlike;
};

} // namespace tilery::analysis
