#pragma once
// Barriers of a program that is one thread of control: numbers in its memory.
#include "compiler/ir/Tile.h"

namespace tilery {

/// What barriers become where nothing runs side by side: copies have ended when they return, so that arrivals alone complete a phase.
class BarrierCounts {
public:
  /// Makes the numbers of a ring, where its op stands.
  void allocate(tile::BarrierAllocOp ring);
  /// Counts arrivals; more than the phase lacks stop the launch.
  void arrive(mlir::OpBuilder &b, tile::BarrierArriveOp op, mlir::IRMapping &values);
  /// True if the wait is over.
  mlir::Value isOver(mlir::OpBuilder &b, tile::BarrierWaitOp op, mlir::IRMapping &values);

private:
  struct Ring {
    mlir::Value phases, pending; // buffers of i32
    llvm::SmallVector<int64_t> arrivals;
  };
  llvm::DenseMap<mlir::Value, Ring> rings;
};

} // namespace tilery
