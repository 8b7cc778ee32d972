#pragma once
// Lanes whose places follow each other, though not as neighbours: of windows flattened as (channel, row, column), every ninth lane is the
// next channel, which lies beside it in an image of channels last.
#include "compiler/ir/Tile.h"

namespace tilery::analysis {

/// Numbers that count up by one, in one piece between multiples of what they are divided by: known at run time only.
struct Undivided {
  mlir::Value numbers; // a tile of one line
  mlir::Value divisor;
  bool operator==(const Undivided &other) const { return numbers == other.numbers && divisor == other.divisor; }
};

/// In each group of `group` lanes, those that are `period` apart follow each other, where `undivided` holds.
struct LaneStrands {
  int64_t group = 0, period = 1;
  llvm::SmallVector<Undivided, 0> undivided;
};

/// How much more the integer is `distance` lanes on along a dimension, where that is the same for all lanes that have such a one; of
/// conditions 0 where they are alike. Nothing where it is not known. `undivided`: what may be taken for granted is added here.
std::optional<int64_t> growthOver(mlir::Value value, int dim, int64_t distance,
                                  llvm::SmallVectorImpl<Undivided> *undivided = nullptr);

/// A condition (or an integer) with the dimension that lanes go along.
struct Condition {
  mlir::Value value;
  int dim;
};

/// The strands of places of rank 1 with the shortest period, of which each has two lanes or more, and along which the conditions are alike.
/// Nothing where they are not seen.
std::optional<LaneStrands> laneStrands(mlir::Value places, llvm::ArrayRef<Condition> conditions = {});

} // namespace tilery::analysis
