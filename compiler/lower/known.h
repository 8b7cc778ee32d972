#pragma once
// What is computed at the moment, and what is known of it: a value that scopes change and restore (scopes.h).
#include "compiler/lower/lane_index.h"

namespace tilery::lower {

/// The runs of each vector of `lanes` along a dimension, in memory: three masks (integers of as many bits) and three offsets each.
struct RunTable {
  llvm::Value *masks = nullptr, *offsets = nullptr;
};

/// What a tile is in the current segment of a row: `at` at the point `first`, from where the dimension `loop` goes on.
struct InSegment {
  mlir::Value tile;
  Point first;
  int loop;
  Linear at;
  mlir::Value chosen; // it is this operand; null: it is `at`
  bool foreseen;      // holds only where everything is its chosen operand
};

/// `lo <= i < hi` holds for every index of the current body along a nest dimension.
struct KnownBound {
  mlir::Value lo, hi;
  int loop;
};

struct Known {
  unsigned lanes = 1;    // that are computed at once
  Lanes limit = nullptr; // those that exist; null: all; an i1 where lanes are no vector, or all exist or none
  llvm::SmallVector<KnownBound> bounds;
  llvm::DenseMap<mlir::Value, llvm::Value *> consecutive; // index tiles that count up from a number
  llvm::SmallDenseMap<mlir::Value, RunTable, 2> inRuns;   // steps whose lanes lie in few runs
  llvm::SmallDenseMap<mlir::Value, int64_t, 2> numbers;   // of the launch
  llvm::SmallDenseMap<mlir::Value, Lanes> unwritten;      // stored tiles that the body has defined
  llvm::ArrayRef<llvm::Value *> square;                   // places of the current square's rows
  const llvm::DenseSet<mlir::Value> *counting = nullptr;  // steps that count up by one along these (RowPlaces)
  llvm::SmallVector<InSegment, 0> segment;
};

} // namespace tilery::lower
