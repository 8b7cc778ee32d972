#pragma once
// What is known in the current segment of a row (segments.h): tiles that count up or are one of their operands, and masks that hold between
// two places of the row.
#include "compiler/lower/known.h"

namespace tilery::lower {

class Evaluator;

/// Without which no lane exists of a row (i1; null: nothing), and the loop level at which that is known.
struct RowCondition {
  llvm::Value *exists = nullptr;
  unsigned level = 0;
};

class SegmentValues {
public:
  explicit SegmentValues(Evaluator &ev);
  /// The first element of the current segment; null: there is none, or what is known in it need not hold where it begins.
  const Index *start() const;
  /// The operand that a tile is here; null: nothing is known of it, or another thing.
  mlir::Value chosen(mlir::Value tile, llvm::ArrayRef<Index> point) const;
  std::optional<Linear> linear(mlir::Value tile, llvm::ArrayRef<Index> point);
  /// A comparison, or what an `and` joins, as a question of the lanes' positions. Null: it is no such one.
  Lanes held(mlir::Operation *op, llvm::ArrayRef<Index> point, RowCondition *row = nullptr);
  /// A comparison of 64-bit indices of which each counts up by a constant: as one of lane numbers. Null: it is no such one.
  Lanes compared(mlir::arith::CmpIOp compare, llvm::ArrayRef<Index> point);
  /// A mask without what holds of its row as a whole, which becomes `row`.
  Lanes withinRow(mlir::Value mask, llvm::ArrayRef<Index> point, RowCondition &row);
  /// Adds what a mask says of the row as a whole.
  void add(RowCondition &row, Lanes mask, unsigned level);

private:
  struct Held;
  /// What is known of a tile, with its index along the row and that of the segment's first element.
  const InSegment *find(mlir::Value tile, llvm::ArrayRef<Index> point, const Index *&moved, const Index *&first) const;
  bool isKnownAhead(mlir::Value number, llvm::ArrayRef<Index> point, llvm::SmallPtrSetImpl<const void *> &seen);
  bool heldByComparison(mlir::arith::CmpIOp compare, llvm::ArrayRef<Index> point, const Index &start, Held &held);
  /// Adds what `condition` asks for.
  void holdTogether(mlir::Value condition, llvm::ArrayRef<Index> point, const Index &start, Held &held);

  Evaluator &ev;
  Emitter &e;
  llvm::DenseMap<llvm::Value *, RowCondition> conditions; // of masks that `held` has made
};

} // namespace tilery::lower
