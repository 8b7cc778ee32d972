#pragma once
// Emits lanes of tile values by pulling: the value at a point is computed from its operands at the points they are read at, down to
// loads, stored tiles and scalars. What depends on outer loops only is emitted there, once.
#include "compiler/lower/addresses.h"
#include "compiler/lower/index_arithmetic.h"
#include "compiler/lower/known.h"
#include "compiler/lower/lane_memory.h"
#include "compiler/lower/segment_values.h"

namespace tilery::lower {

class Evaluator {
  Known state; // of the code at the moment: scopes change it

public:
  Evaluator(Emitter &e, const Plan &plan, ThreadModel *threads = nullptr)
      : e(e), plan(plan), threads(threads), levels(e.b), indices(e, levels, state.lanes, !threads),
        memory(e, plan, threads, state.lanes), addresses(*this), segment(*this) {}

  Emitter &e;
  const Plan &plan;
  ThreadModel *const threads; // of the target; null: a thread runs a program by itself
  // -- the parts, each with a job of its own
  LoopLevels levels;
  IndexArithmetic indices;
  LaneMemory memory;
  Addresses addresses;
  SegmentValues segment;

  llvm::DenseMap<mlir::Value, llvm::Value *> scalars; // of rank 0, defined so far
  bool failed = false;                                // an op had no code; the error has been reported

  // -- values
  llvm::Value *scalar(mlir::Value value);
  /// Some value of that element type, the same wherever it is used.
  llvm::Value *anything(mlir::Type type);
  /// A scalar integer in i64, with index arithmetic (nsw) redone in i64.
  llvm::Value *wide(mlir::Value value);
  /// Lanes of a tile: vector of `lanes`, or a scalar when all lanes are equal.
  Lanes value(mlir::Value tile, llvm::ArrayRef<Index> point);
  /// The value's own expression, also if the tile is stored; remembered as its value at this point.
  Lanes define(mlir::Value tile, llvm::ArrayRef<Index> point);
  /// The value at this point is what the caller computed.
  void provide(mlir::Value tile, llvm::ArrayRef<Index> point, Lanes lanes) { levels.memoAt(point)[keyOf(tile, point)] = lanes; }
  Linear linear(mlir::Value integers, llvm::ArrayRef<Index> point);
  /// An element of a stored tile, wherever it lies.
  Lanes readStored(int buffer, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Index> point);
  void writeStored(int buffer, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Index> point, Lanes value);

  // -- the code that values are computed for: scopes of those who emit it (scopes.h)
  class Region;
  class Body;
  class Vector;
  class Assumption;
  class Square;
  class Segment;
  class AssumedRuns;
  class AssumedNumbers;
  class OwnedScope;
  const Known &known() const { return state; }
  unsigned width() const { return state.lanes; }
  /// For the rest of the body: lane i of a stored index tile of rank 1 is i + `first` (i64), for every i.
  void assumeConsecutive(mlir::Value indices, llvm::Value *first) { state.consecutive[indices] = first; }
  /// For the rest of the body: accesses with these steps (of a dimension along which lanes go) have their lanes in few runs, in every vector.
  /// `table`: where those are, lanes without that do not exist.
  void assumeRuns(mlir::Value steps, RunTable table = {}) { state.inRuns[steps] = table; }
  /// The body defines stored tiles and has not written them yet, until allWritten. What else it computes reads only the same element of them.
  void defined(mlir::Value tile, Lanes value) { state.unwritten[tile] = value; }
  void allWritten() { state.unwritten.clear(); }
  /// What is assumed holds at this point: in the innermost loop. Values of the loops around it are computed, and remembered, where that
  /// loop may not run. (What threads assume holds for all that they do.)
  bool assumes(llvm::ArrayRef<Index> point) const { return threads || levelOf(point) == levels.current(); }
  /// tile < bound in all lanes, by what is assumed.
  bool surelyBelow(mlir::Value tile, mlir::Value bound, llvm::ArrayRef<Index> point);

private:
  Lanes expression(mlir::Value tile, llvm::ArrayRef<Index> point);
  Lanes constantTile(mlir::DenseElementsAttr attr, llvm::ArrayRef<Index> point);
  Lanes rangeLanes(tile::RangeOp range, const Index &index);
  Lanes loaded(tile::LoadOp load, llvm::ArrayRef<Index> point);
  Lanes joined(tile::JoinOp join, llvm::ArrayRef<Index> point);
  Lanes concatenated(tile::CatOp cat, llvm::ArrayRef<Index> point);
  Lanes taken(tile::TakeOp take, llvm::ArrayRef<Index> point);
  /// Where lanes take neighbours in memory (a shuffle by a number that all share): one access, in which what is not there does not exist.
  std::optional<Address> takenRow(tile::TakeOp take, llvm::ArrayRef<Index> point);
  /// What an op computes elementwise, by what is known of the current segment where that says it.
  Lanes elementwise(mlir::Operation *op, mlir::Value tile, llvm::ArrayRef<Index> point);
};

} // namespace tilery::lower
