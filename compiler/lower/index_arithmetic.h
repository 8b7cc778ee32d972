#pragma once
// Arithmetic on the places of lanes: sums, multiples, and what ops that move elements make of a point. Each is emitted at the loop that
// moves it.
#include "compiler/lower/loop_levels.h"

namespace tilery::lower {

/// Lanes at distances from a common place that are known here and now.
struct Spread {
  llvm::Value *base; // i64
  int64_t multiple;  // known divisor of base (0: base is 0)
  llvm::SmallVector<int64_t, 16> lanes;
};

class IndexArithmetic {
public:
  /// `lanes`: how many are computed at the moment; `spreads`: lanes at known distances stay known as such (spread.cpp).
  IndexArithmetic(Emitter &e, LoopLevels &levels, const unsigned &lanes, bool spreads)
      : e(e), levels(levels), width(lanes), spreads(spreads) {}
  Index constant(int64_t value) { return {e.i64(value), 0, nullptr, 0, value}; }
  Index scaled(const Index &index, int64_t factor);
  Index plus(const Index &a, const Index &b);
  /// The point at which a shape op (expand_dims, broadcast, permute, reshape) reads its operand.
  Point operandPoint(mlir::Operation *op, llvm::ArrayRef<Index> point);
  /// The point of a tile's element of this number, row by row.
  Point pointOf(const Index &number, llvm::ArrayRef<int64_t> shape);
  /// Indices as a vector (or scalar if uniform).
  llvm::Value *vectorOf(const Index &index);
  /// base + step * l.
  Lanes counting(llvm::Value *base, int64_t step);
  Linear sum(const Linear &x, const Linear &y, bool subtract);
  /// Of an x that is the same in all lanes.
  Linear product(const Linear &x, const Linear &y);
  /// low <= base + lane < high.
  Lanes lanesBetween(llvm::Value *base, int64_t low, int64_t high);
  std::optional<Spread> spreadOf(const Index &index) const;

private:
  /// How far lanes are from the base; null: nowhere else.
  llvm::Value *distances(const Linear &l);
  Point reshaped(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to, llvm::ArrayRef<Index> point);
  void split(const Index &linear, llvm::ArrayRef<int64_t> sizes, llvm::MutableArrayRef<Index> result);
  Index indexOf(const Spread &spread, unsigned level);
  /// The parts of `number` in each dimension, where each is such lanes again.
  bool splitSpread(const Index &number, llvm::ArrayRef<int64_t> sizes, llvm::MutableArrayRef<Index> result);

  Emitter &e;
  LoopLevels &levels;
  const unsigned &width;
  bool spreads;
  llvm::DenseMap<llvm::Value *, Spread> known; // what vectors of indices are made of
};

} // namespace tilery::lower
