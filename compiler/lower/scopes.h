#pragma once
// The code that values are computed for, as scopes of those who emit it: what is known in one is forgotten at its end.
#include "compiler/lower/evaluator.h"
#include "compiler/lower/steady.h"
#include "llvm/Support/SaveAndRestore.h"

namespace tilery::lower {

/// Code that shares no values with what is around it, for it may not run, or run again. It begins and ends in one loop.
class Evaluator::Region {
public:
  explicit Region(Evaluator &evaluator) : evaluator(evaluator) { evaluator.levels.forget(); }
  ~Region() { evaluator.levels.forget(); }
  Region(const Region &) = delete;

private:
  Evaluator &evaluator;
};

/// A region of which nothing is known yet: one lane, which exists, and no bounds. What was known before is known again at its end.
class Evaluator::Body : Region {
public:
  explicit Body(Evaluator &evaluator) : Region(evaluator), before(evaluator.state, Known()) {}

private:
  llvm::SaveAndRestore<Known> before;
};

/// Code that computes `lanes` at once, of which those in `limit` exist.
class Evaluator::Vector {
public:
  Vector(Evaluator &evaluator, unsigned lanes, Lanes limit = nullptr)
      : lanes(evaluator.state.lanes, lanes), limit(evaluator.state.limit, limit) {}
  unsigned outside() { return lanes.get(); }

private:
  llvm::SaveAndRestore<unsigned> lanes;
  llvm::SaveAndRestore<Lanes> limit;
};

/// Code of the rows of a square, whose columns are the lanes: places along one dimension that follow each other. What is read across is
/// loaded for all of them at once.
class Evaluator::Square {
public:
  /// `counting`: steps of accesses that count up by one in the current segment, where rows lie along it.
  Square(Evaluator &evaluator, llvm::ArrayRef<llvm::Value *> rows, const llvm::DenseSet<mlir::Value> *counting = nullptr)
      : rows(evaluator.state.square, rows), counting(evaluator.state.counting, counting) {}

private:
  llvm::SaveAndRestore<llvm::ArrayRef<llvm::Value *>> rows;
  llvm::SaveAndRestore<const llvm::DenseSet<mlir::Value> *> counting;
};

/// Code for elements of a row, from one on, among which quotients do not change and remainders count up.
class Evaluator::Segment {
public:
  Segment(Evaluator &evaluator, int loop) : evaluator(evaluator), loop(loop), before(evaluator.state.segment.size()) {}
  ~Segment() { evaluator.state.segment.truncate(before); }
  Segment(const Segment &) = delete;
  /// The tile is its chosen operand, or what it is at `first` plus its step for each element that follows.
  void add(const Steady &steady, const Point &first);

private:
  Evaluator &evaluator;
  int loop;
  size_t before;
};

/// Code where bounds hold.
class Evaluator::Assumption {
public:
  Assumption(Evaluator &evaluator, llvm::ArrayRef<KnownBound> bounds)
      : evaluator(evaluator), before(evaluator.state.bounds.size()) {
    evaluator.state.bounds.append(bounds.begin(), bounds.end());
  }
  ~Assumption() { evaluator.state.bounds.truncate(before); }
  Assumption(const Assumption &) = delete;

private:
  Evaluator &evaluator;
  size_t before;
};

/// Code after which what was assumed of runs in it is forgotten.
class Evaluator::AssumedRuns {
public:
  explicit AssumedRuns(Evaluator &evaluator) : before(evaluator.state.inRuns) {}

private:
  llvm::SaveAndRestore<decltype(Known::inRuns)> before;
};

/// Code where numbers of the launch that lanes' places are multiplied by are what they were found to be. What is the same in all lanes
/// is computed of the numbers themselves, for it may be computed outside of that code.
class Evaluator::AssumedNumbers {
public:
  AssumedNumbers(Evaluator &evaluator, llvm::ArrayRef<mlir::Value> scalars, int64_t number) : before(evaluator.state.numbers) {
    for (mlir::Value scalar : scalars)
      evaluator.state.numbers[scalar] = number;
  }

private:
  llvm::SaveAndRestore<decltype(Known::numbers)> before;
};

/// Code after which values at owned elements (Index::owned) need not dominate anything.
class Evaluator::OwnedScope {
public:
  explicit OwnedScope(Evaluator &evaluator) : before(evaluator.levels.owned) {}

private:
  llvm::SaveAndRestore<LoopLevels::Memo> before;
};

} // namespace tilery::lower
