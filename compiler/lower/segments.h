#pragma once
// Where the index arithmetic of a row changes, at run time.
#include "compiler/lower/evaluator.h"
#include "compiler/lower/steady.h"

namespace tilery::lower {

/// Elements of the shortest segments of a nest, or a vector's: shorter ones cost more than what they save (notebook, "Flattened indices").
constexpr unsigned leastSegment = 8;

/// A sum of a range and a number of the launch which may leave its type: with none of `least` to `most` added it counts up.
struct CountingSum {
  mlir::Value number;
  int64_t least, most;
};
std::optional<CountingSum> countingSum(mlir::Value sum);

/// The segments of a row along dimension `dim` at `point`, in each of which every one of `values` is a number and a step.
class Segments {
public:
  Segments(Evaluator &evaluator, llvm::ArrayRef<Steady> values, llvm::ArrayRef<Index> point, unsigned dim, int64_t size)
      : evaluator(evaluator), e(evaluator.e), values(values), point(point), dim(dim), size(size) {}
  /// Whether quotients stay for so many elements, or for some vectors of them where places lie side by side anyhow, and no number that
  /// counts up leaves its type (i1).
  llvm::Value *areLong(unsigned shortest);
  /// Elements of the longest segment, at most.
  llvm::Value *longest();
  /// Where the segment that begins at `first` ends, at the latest at `end`.
  llvm::Value *endFrom(const Index &first, llvm::Value *end);
  /// Whether everything in it is its chosen operand (i1).
  llvm::Value *areForeseen(const Index &first);
  /// Says what the values are in it: those that are known only where that holds, or the others.
  void know(Evaluator::Segment &segment, const Index &first, bool foreseen);

private:
  Point pointOf(const Steady &steady, const Index &inRow);
  /// The divisor of a quotient or remainder that changes; null: it is none.
  llvm::Value *divisorOf(const Steady &steady);
  llvm::Value *left(const Steady &steady, const Index &at);
  /// The two numbers that a quotient, a comparison or a choice is of.
  std::pair<llvm::Value *, llvm::Value *> numbersOf(mlir::Operation *op, llvm::ArrayRef<Index> here);

  Evaluator &evaluator;
  Emitter &e;
  llvm::ArrayRef<Steady> values;
  llvm::ArrayRef<Index> point;
  unsigned dim;
  int64_t size;
};

} // namespace tilery::lower
