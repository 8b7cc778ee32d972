#pragma once
// Where the index arithmetic of a row changes, at run time.
#include "compiler/lower/evaluator.h"

namespace tilery::lower {

/// The segments of a row along dimension `dim` at `point`, in each of which every one of `values` is a number and a step.
class Segments {
public:
  Segments(Evaluator &evaluator, llvm::ArrayRef<Steady> values, llvm::ArrayRef<Index> point, unsigned dim, int64_t size)
      : evaluator(evaluator), e(evaluator.e), values(values), point(point), dim(dim), size(size) {}
  /// Whether quotients stay long enough for vectors of so many lanes (i1).
  llvm::Value *areLong(unsigned lanes);
  /// Where the segment that begins at `first` ends, at the latest at `end`.
  llvm::Value *endFrom(const Index &first, llvm::Value *end);
  /// Whether everything in it is its chosen operand (i1).
  llvm::Value *areForeseen(const Index &first);
  /// Says what the values are in it: those that are known only where that holds, or the others.
  void know(Evaluator::Segment &segment, const Index &first, bool foreseen);

private:
  Point pointOf(const Steady &steady, const Index &inRow);
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
