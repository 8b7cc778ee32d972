#pragma once
// Emits one nest of the plan: scalar loops over the outer dimensions, vectors along the inner one.
#include "compiler/lower/scopes.h"
#include "compiler/lower/segments.h"

namespace tilery::lower {

/// The value x with combine(x, y) = y for every y, or null.
llvm::Constant *identityOf(Emitter &e, tile::ReduceOp reduce);

/// Reductions along the last dimension while a row runs: 64 partials each, in vectors (TileReduce.td gives the order).
class RowReduction {
public:
  static constexpr int64_t chunk = 64;
  RowReduction(Evaluator &evaluator, tile::ReduceOp op, unsigned lanes);
  tile::ReduceOp op;
  /// Values that carry the partials through the row's loops: operand-major, pieces within.
  llvm::SmallVector<Lanes> start();
  /// Combines lanes `piece * lanes ..` of a chunk of 64 into `partials`. Lanes outside `limit` (null: none) leave them as they are.
  void accumulate(llvm::MutableArrayRef<Lanes> partials, unsigned piece, llvm::ArrayRef<Lanes> values, Lanes limit,
                  llvm::Value *isFirst);
  /// The tree over the partials that exist: one scalar a result.
  llvm::SmallVector<Lanes> finish(llvm::ArrayRef<Lanes> partials);
  unsigned size() { return op.getNumOperands() * pieces; }

private:
  llvm::SmallVector<Lanes> combine(llvm::ArrayRef<Lanes> left, llvm::ArrayRef<Lanes> right);
  Evaluator &evaluator;
  Emitter &e;
  unsigned lanes, pieces;
  int64_t count;                                  // lanes of a row
  llvm::SmallVector<llvm::Constant *> identities; // of each operand, empty if the region is not one known op
};

/// Lines to fetch: `distance` bytes from each element of the access.
struct Prefetch {
  tile::AccessOp access;
  llvm::Value *distance;
  bool write;
};

/// And columns of a square. Each row is a body of code; each column a line of memory, of which all are in the cache at once where their
/// distance is a multiple of its ways' size.
constexpr unsigned mostSquareRows = 16;

/// Two dimensions of a nest, one of which is walked in segments: vectors lie along one, rows of squares along the other.
struct SegmentedSquares {
  unsigned dim, vectors, rows; // dim: the one with segments
  llvm::SmallVector<Steady> values;
  llvm::DenseSet<mlir::Value> counting; // steps along it (RowPlaces)
};

/// What is known of one nest while it is emitted, values of its code among it. The next nest's code may lie where these do not hold.
struct NestState {
  const Nest *nest = nullptr;
  llvm::ArrayRef<int64_t> ofTile; // the shape of tiles whose elements are walked as one row; empty: the nest's
  Point point;
  unsigned innerDim = 0, lanes = 1, sideBySide = 1; // sideBySide: vectors that an inner loop interleaves
  std::vector<RowReduction> reductions;
  llvm::SmallVector<Lanes> partials;    // of all reductions, while a row's loops are emitted
  llvm::Value *there = nullptr;         // i1: what `around` says holds in the current row; null: always
  llvm::SmallVector<KnownBound> around; // bounds of the dimensions around the row
  llvm::Value *firstChunk = nullptr;    // true in the first chunk of a row
  unsigned piece = 0;
  llvm::SmallVector<Prefetch> prefetches;
  llvm::DenseMap<mlir::Value, llvm::Value *> nextScalars; // as the next program has them, while prefetches are chosen
  std::optional<unsigned> down;            // the dimension that columns are reduced along, walked within those of a vector
  llvm::MutableArrayRef<Lanes> columnSums; // of the current vector of columns, for the sinks to come
  std::optional<unsigned> together;        // the dimension of rows that are computed side by side
  unsigned rowsAtMost = 1;                 // of these, at once
  llvm::Value *rowsEnd = nullptr;          // where they end
  llvm::Value *rowsApart = nullptr;        // i1: those of a store do not overlap
  std::optional<unsigned> square;          // the dimension of squares' rows, walked within the other outer ones
  unsigned squareRows = 0;
  const SegmentedSquares *segmented = nullptr;
  bool inSquares = false;                // columns are reduced in squares
  llvm::Value *mayTakeSquares = nullptr; // i1
  llvm::Value *squaresEnd =
      nullptr;               // squares have computed the current row's elements up to here, from the first that surely exists
  bool wholeVectors = false; // vectors begin at multiples of their lanes
  bool indivisible = true;   // updates may meet others
  bool bypass = false;       // the stores of the current body are aligned and not read again
  llvm::Instruction *rowEnd = nullptr; // where values that a row does not change are emitted
};

class NestEmitter : NestState {
public:
  NestEmitter(Evaluator &evaluator) : evaluator(evaluator), e(evaluator.e) {}
  /// Emits the nest at the builder's position. False after an error was reported.
  bool emit(const Nest &nest);

  llvm::Value *streaming = nullptr; // i1: stores of this launch may bypass the cache (TILERY_STREAM)
  bool hasStreamed = false;         // some store does: the kernel ends with a store fence
  llvm::Value *alone = nullptr;     // i1: nobody else updates memory meanwhile (TILERY_ALONE)
  llvm::SmallVector<llvm::Value *, 3>
      nextProgram; // place in the grid of the program that this thread runs next; empty: not known

  using Body = llvm::function_ref<llvm::SmallVector<Lanes>(llvm::Value *counter, llvm::ArrayRef<Lanes> carried)>;
  /// for (i = from; i < to; i += step), or while i + step <= to if `whole`, with values carried. The body is one loop level of the
  /// evaluator. Returns the carried values after the loop; `last`, if given, receives the counter.
  llvm::SmallVector<Lanes> loop(llvm::Value *from, llvm::Value *to, int64_t step, bool whole, llvm::ArrayRef<Lanes> init,
                                Body body, llvm::Value **last = nullptr);
  /// Adds the intervals that bound the accesses an expression (a place) reads (is), as far as they run along nest dimensions: loops[d] is
  /// that of the expression's dimension d, -1: none.
  void collectBounds(mlir::Value value, llvm::ArrayRef<int> loops, llvm::SmallVectorImpl<KnownBound> &bounds,
                     llvm::SmallPtrSetImpl<const void *> &seen) const;
  void collectPlaceBounds(mlir::Value place, llvm::ArrayRef<int> loops, llvm::SmallVectorImpl<KnownBound> &bounds) const;
  /// Lanes of the vectors that a nest computes, and how many of them side by side.
  std::pair<unsigned, unsigned> widthOf(const Nest &nest) const;
  /// The code of both sides, or of the one that is known to be taken.
  void twice(llvm::Value *condition, llvm::function_ref<void(bool holds)> emit);
  /// Ends the current block, so that what the loops to come do not change can be emitted before its end.
  llvm::Instruction *cut();

private:
  struct Range {
    llvm::Value *from, *to;
  };
  bool hasShortRows() const;
  tile::AccessOp storedInRuns() const;
  void withRuns(tile::AccessOp access);
  void inSegmentsOrRuns(tile::AccessOp access);
  // -- vectors along another dimension than the last (stored_across.cpp)
  std::optional<unsigned> storedAcross() const;
  void turned(unsigned along);
  void alongStore();
  std::optional<SegmentedSquares> segmentedSquares() const;
  std::optional<SegmentedSquares> segmentedAlong(tile::AccessOp store, unsigned dim, unsigned other) const;
  void inSegmentedSquares(const SegmentedSquares &found);
  void alongSegments(llvm::function_ref<void(Range segment)> body);
  /// What squares have left of the current row's segment.
  void restOfSegment(Range segment, llvm::ArrayRef<KnownBound> bounds);
  // -- squares of rows and columns (squares.cpp)
  std::optional<unsigned> squareDim();
  /// The dimension along which neighbours in memory lie that vectors read across, and how many rows a square has (`squareRows`).
  std::optional<unsigned> readInSquares();
  /// Whether that is the one that columns are reduced along.
  bool columnsInSquares();
  llvm::Value *apartInSquares();
  void elements();
  void squares();
  /// `segment`: of the dimension that is walked in segments; null: none is.
  void squaresIn(const Range *segment);
  void outer(unsigned dim);
  void inner();
  void collectSinkBounds(llvm::SmallVectorImpl<KnownBound> &bounds, llvm::SmallPtrSetImpl<const void *> &seen) const;
  llvm::Value *surelyThere(llvm::ArrayRef<KnownBound> bounds, llvm::SmallVectorImpl<KnownBound> &around);
  void bodies(llvm::Value *j, int64_t multiple);
  void innerStatic();
  /// `aligned`: the nest's only store, whose main loop then starts at a full vector's alignment and bypasses the cache.
  void innerBounded(llvm::ArrayRef<KnownBound> bounds, const KnownBound *restriction, tile::StoreOp aligned = {});
  // -- rows side by side (rows.cpp)
  std::optional<unsigned> rowsTogether() const;
  void rowsFrom(unsigned dim, Range range);
  void innerRows(llvm::ArrayRef<KnownBound> bounds, llvm::ArrayRef<KnownBound> allBounds, const KnownBound *restriction);
  void rowsAtOnce(llvm::ArrayRef<Index> rows, llvm::ArrayRef<KnownBound> bounds, const KnownBound *restriction);
  // -- rows of flattened indices (segments.cpp)
  struct Stretch {
    Index first;
    llvm::Value *end;
    llvm::Value *holds; // i1: all bounds do, and everything is its chosen operand
  };
  llvm::SmallVector<Steady> steadyInRow(RowPlaces *places = nullptr) const;
  void inSegments(llvm::ArrayRef<Steady> values, llvm::ArrayRef<KnownBound> bounds, Range row,
                  llvm::function_ref<llvm::Value *(Segments &, const Stretch &)> body);
  void innerSegments(llvm::ArrayRef<Steady> values, llvm::ArrayRef<KnownBound> bounds, const KnownBound *restriction);
  void reduceInSegments(llvm::ArrayRef<Steady> values, llvm::ArrayRef<KnownBound> bounds);
  tile::StoreOp streamable() const;
  /// Chooses what the nest fetches ahead; `reached`: the loads it pulls.
  void planPrefetches(const llvm::SmallPtrSetImpl<const void *> &reached);
  /// Fetches ahead for elements [j, j + count).
  void prefetch(llvm::Value *j, int64_t count);
  llvm::Value *scalarAhead(mlir::Value value, bool next);
  llvm::Value *computeAhead(mlir::Value value, bool next);
  llvm::Value *startOf(tile::AccessOp access, bool next);
  void innerReducing(llvm::ArrayRef<KnownBound> bounds);
  void reduceInOrder(llvm::ArrayRef<KnownBound> bounds);
  /// The 64 elements from j on into the partials. `limit`: which lanes of the vector at a place count; null: all.
  void reduceChunk(llvm::Value *j, llvm::function_ref<Lanes(llvm::Value *at)> limit);
  void shortRow(llvm::ArrayRef<KnownBound> bounds);
  llvm::SmallVector<mlir::Value> scalarResults() const;
  /// Every sink at lanes [j, j + lanes); pieces of reductions go to `partials`.
  void body(llvm::Value *j, int64_t multiple, unsigned lanes, Lanes limit);
  std::optional<unsigned> reducedDown() const;
  void innerColumns(llvm::ArrayRef<KnownBound> bounds, llvm::ArrayRef<KnownBound> rowBounds);
  void columns(llvm::Value *j, int64_t multiple, unsigned width, unsigned count, Lanes limit,
               llvm::ArrayRef<KnownBound> rowBounds);
  void accumulateColumns(const Sink &sink, llvm::ArrayRef<Lanes> values);
  void updating();
  void update(tile::AtomicRmwOp op, Lanes values);
  void accumulateOuter(const Sink &sink, llvm::ArrayRef<Lanes> values);
  void commit(const Sink &sink, Lanes value);
  void finishRow(llvm::ArrayRef<Lanes> partials);
  bool restriction(unsigned dim, KnownBound &bound) const;
  Range clamp(const KnownBound &bound, int64_t size);
  /// Where all bounds hold, in a part of the row.
  Range surely(llvm::ArrayRef<KnownBound> bounds, Range part);

  Evaluator &evaluator;
  Emitter &e;
  llvm::DenseSet<mlir::Operation *> walked,
      fetched; // loads of the nests so far; those of the next program that one of them fetches
};

} // namespace tilery::lower
