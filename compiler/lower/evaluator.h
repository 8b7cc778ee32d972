#pragma once
// Emits lanes of tile values by pulling: the value at a point is computed from its operands at the points they are read at, down to
// loads, stored tiles and scalars. What depends on outer loops only is emitted there, once.
#include "compiler/analysis/index_polynomial.h"
#include "compiler/analysis/lane_groups.h"
#include "compiler/lower/emitter.h"
#include "compiler/lower/plan.h"
#include "compiler/lower/steady.h"
#include <deque>
#include <map>

namespace tilery::lower {

/// Position along one tile dimension. Lane l is at base + step * l, or at lanes[l].
struct Index {
  llvm::Value *base = nullptr; // i64, the same for all lanes; unused with `lanes`
  int64_t step = 0;
  llvm::Value *lanes = nullptr; // <L x i64>
  unsigned level = 0;           // the innermost loop that moves it
  int64_t multiple = 1;         // known divisor of base (0: base is 0)
  int loop = -1;                // the nest dimension it is exactly the counter of, -1: none
  bool owned = false;     // of an element that this thread has in every nest: what is computed there stays known (OwnedScope)
  bool ofThreads = false; // neighbouring threads have neighbours along it, one element each
  int16_t behind = -1;    // of rows side by side: so many behind the first of them; -1: it is of none
  bool uniform() const { return step == 0 && !lanes; }
};
using Point = llvm::SmallVector<Index, 4>;

/// Lanes at distances from a common place that are known here and now.
struct Spread {
  llvm::Value *base; // i64
  int64_t multiple;  // known divisor of base (0: base is 0)
  llvm::SmallVector<int64_t, 16> lanes;
};

/// Lanes whose places follow each other: those of `mask` are at `pointer + offset + lane`.
struct LaneRun {
  llvm::Value *mask, *offset;
};

/// The runs of each vector of `lanes` along a dimension, in memory: three masks (integers of as many bits) and three offsets each.
struct RunTable {
  llvm::Value *masks = nullptr, *offsets = nullptr;
};

/// Where the lanes of an access are.
struct Address {
  mlir::Type element;
  llvm::Value *pointer = nullptr;     // of lane 0
  unsigned level = 0;                 // the innermost loop that moves `pointer`
  int64_t step = 0;                   // elements from lane to lane, if `offsets` is null
  llvm::Value *offsets = nullptr;     // <L x i64> elements from `pointer`
  llvm::Value *apart = nullptr;       // offsets are so many (i64) from lane to lane; null: they may be any
  llvm::SmallVector<LaneRun, 3> runs; // all that `offsets` says; empty: lanes may lie anywhere
  Lanes exists = nullptr;             // null: all lanes
  unsigned alignment = 1;
  bool isVolatile = false, global = false; // global: a kernel argument's memory
  bool constant = false;                   // nothing in the kernel writes it
  llvm::StringRef cache, eviction;         // what the program asks of caches (".cg", "evict_last"), for targets that can be asked
  llvm::MDNode *scope = nullptr, *noalias = nullptr;
  llvm::Value *row = nullptr; // of buffers, where all lanes are at one place `place` of rows: the row of lane 0
  int64_t place = 0;
  /// Says of an access what it may alias.
  void annotate(llvm::Instruction *instruction) const;
};

/// An integer tile (or scalar) at a point, in i64: base + step * l, or base + lanes[l]. For chains that do not wrap.
struct Linear {
  llvm::Value *base = nullptr;
  int64_t step = 0;
  llvm::Value *lanes = nullptr;
  unsigned level = 0;
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

/// How a target moves lanes of global memory whose existence is one question, where it has better means than LLVM's masked accesses, and
/// how much of it the alignment of the address allows at once.
class MemoryPort {
public:
  virtual ~MemoryPort() = default;
  /// One element or (`type` is a vector) neighbouring ones from `where.pointer`. Where `exists` (i1, null: true) does not hold nothing is
  /// read and the result is `other`.
  virtual llvm::Value *load(Emitter &e, const Address &where, llvm::Type *type, llvm::Value *exists, llvm::Value *other) = 0;
  virtual void store(Emitter &e, const Address &where, llvm::Value *bits, llvm::Value *exists) = 0;
};

/// What a target adds whose threads share a program. Without it, stored tiles lie in scratch memory, and LLVM's instructions read and write
/// all memory.
class ThreadModel {
public:
  virtual ~ThreadModel() = default;
  virtual MemoryPort &memory() = 0;
  /// Whether something in the kernel may write to the place of a load.
  virtual bool mayBeWritten(mlir::Value place) const = 0;
  /// The variable of this thread that holds a stored tile's elements at the point; null: they lie in scratch memory.
  virtual llvm::AllocaInst *variableOf(int buffer, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Index> point) const = 0;
  /// Lanes of a stored tile that are no neighbours in scratch memory, where they are better read together with others; null: they are not.
  virtual Lanes readAcross(int, llvm::ArrayRef<int64_t>, llvm::ArrayRef<Index>, unsigned) { return nullptr; }
  /// What this thread has copied of a load's tile at the point, in as many lanes; null: nothing, it is loaded.
  virtual Lanes copied(tile::LoadOp, llvm::ArrayRef<Index>, unsigned) { return nullptr; }
  /// Whether the launch may be asked for these scalars to be positive. It then is.
  virtual bool asksForPositive(llvm::ArrayRef<mlir::Value>) { return false; }
  /// Where a buffer lies that this thread has for itself; null: the block has it.
  virtual llvm::Value *privateBuffer(mlir::Operation *alloc) const = 0;
};

class Evaluator {
public:
  Evaluator(Emitter &e, const Plan &plan, ThreadModel *threads = nullptr) : e(e), plan(plan), threads(threads) {
    levels.emplace_back();
  }

  // -- what surrounds the current nest
  llvm::DenseMap<mlir::Value, llvm::Value *> scalars; // of rank 0, defined so far
  struct Ahead {
    llvm::Value *bytes = nullptr;   // i64; null: nothing
    bool near = true;               // in the first-level cache, else in the second
  } fetchAhead;                     // what is asked for, so far in front of what is loaded of global memory
  llvm::Value *arena = nullptr;     // scratch memory of this thread
  llvm::Value *workspace = nullptr; // of what is outside the arena
  llvm::DenseMap<const void *, std::pair<llvm::MDNode *, llvm::MDNode *>> aliasScopes; // per kernel argument, null: the arena

  // -- the code that values are computed for: scopes of those who emit it
  /// Code that shares no values with what is around it, for it may not run, or run again. It begins and ends in one loop.
  class Region {
  public:
    explicit Region(Evaluator &evaluator) : evaluator(evaluator) { evaluator.forget(); }
    ~Region() { evaluator.forget(); }
    Region(const Region &) = delete;

  protected:
    Evaluator &evaluator;
  };
  /// A region of which nothing is known yet: one lane, which exists, and no bounds. What was known before is known again at its end.
  class Body;
  /// Code that computes `lanes` at once. `limit`: those that exist; null: all; an i1 where lanes are no vector, or all exist or none.
  class Vector;
  /// Code where bounds hold.
  class Assumption;
  /// Code of the rows of a square, whose columns are the lanes: places along one dimension that follow each other. What is read across is
  /// loaded for all of them at once.
  class Square;
  /// Code for elements of a row, from one on, among which quotients do not change and remainders count up.
  class Segment;
  /// Whether squares help: where lanes of memory are loaded by LLVM's instructions.
  bool readsSquares() const { return !threads; }
  /// Code after which what was assumed of runs in it is forgotten.
  class AssumedRuns;
  /// Code where numbers of the launch that lanes' places are multiplied by are what they were found to be. What is the same in all lanes
  /// is computed of the numbers themselves, for it may be computed outside of that code.
  class AssumedNumbers;
  /// Code after which values at owned elements (Index::owned) need not dominate anything.
  class OwnedScope;

  unsigned width() const { return state.lanes; }
  /// For the rest of the body: lane i of a stored index tile of rank 1 is i + `first` (i64), for every i.
  void assumeConsecutive(mlir::Value indices, llvm::Value *first) { state.consecutive[indices] = first; }
  /// For the rest of the body: accesses with these steps (of a dimension along which lanes go) have their lanes in few runs, in every vector.
  /// `table`: where those are, lanes without that do not exist.
  void assumeRuns(mlir::Value steps, RunTable table = {}) { state.inRuns[steps] = table; }
  /// Whether they do in the vector at `index` (i1).
  llvm::Value *inRuns(mlir::Value steps, const Index &index);
  /// The same for the steps along `dim` of an access; fills the table's row.
  llvm::Value *inRuns(tile::AccessOp access, unsigned dim, const Index &index, const RunTable &table);
  /// Whether it is worth asking: lanes count up in runs, by the looks of it, and the target moves elements of a type in such.
  bool mayRun(mlir::Value steps, mlir::Type element, unsigned lanes) const;
  /// The body defines stored tiles and has not written them yet, until allWritten. What else it computes reads only the same element of them.
  void defined(mlir::Value tile, Lanes value) { state.unwritten[tile] = value; }
  void allWritten() { state.unwritten.clear(); }

  /// Enters a loop whose preheader ends with `preheaderEnd`: what is fixed outside the loop is emitted before it.
  void enterLoop(llvm::Instruction *preheaderEnd);
  void leaveLoop();
  unsigned level() const { return levels.size() - 1; }

  // -- values
  llvm::Value *scalar(mlir::Value value);
  /// Some value of that element type, the same wherever it is used.
  llvm::Value *anything(mlir::Type type);
  /// A scalar integer in i64, with index arithmetic (nsw) redone in i64.
  llvm::Value *wide(mlir::Value value);
  /// Lanes of a tile: vector of `lanes`, or a scalar when all lanes are equal.
  Lanes value(mlir::Value tile, llvm::ArrayRef<Index> point);
  /// What threads' lanes at the index have to do with each other, which are whole groups; nothing is known of others.
  analysis::LaneGroups groupsOf(mlir::Value integers, int dim, const Index &index) const;
  /// A quotient or remainder that is the same in all lanes, or counts up by one: its first lane, and 0 or 1.
  std::optional<std::pair<Lanes, int64_t>> dividedInGroups(mlir::Operation *op, llvm::ArrayRef<Index> point);
  /// The value's own expression, also if the tile is stored; remembered as its value at this point.
  Lanes define(mlir::Value tile, llvm::ArrayRef<Index> point);
  /// The value at this point is what the caller computed.
  void provide(mlir::Value tile, llvm::ArrayRef<Index> point, Lanes lanes);
  Linear linear(mlir::Value integers, llvm::ArrayRef<Index> point);

  // -- memory
  /// `zeros`: these lanes alone are read, and 0 where they do not exist. A row that does not exist is then one of zeros.
  Address address(mlir::Value place, llvm::ArrayRef<Index> point, bool zeros = false);
  /// One pointer a lane, also to those that do not exist.
  llvm::Value *lanePointers(const Address &address);
  /// That of a tile.load's or tile.store's place, with what the op says of the access.
  template <typename Access> Address addressOf(Access op, llvm::ArrayRef<Index> point, bool zeros = false) {
    Address where = address(op.getPlace(), point, zeros);
    where.isVolatile = op.getIsVolatile();
    where.cache = op.getCache().value_or("");
    where.eviction = op.getEviction().value_or("");
    return where;
  }
  Address bufferAddress(mlir::Value buffer, llvm::ArrayRef<Index> point);
  Address scratchAddress(int buffer, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Index> point);
  llvm::Value *scratchPointer(int buffer);
  /// An element of a stored tile, wherever it lies.
  Lanes readStored(int buffer, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Index> point);
  void writeStored(int buffer, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Index> point, Lanes value);
  /// Loads; lanes that do not exist are `other` (null: 0).
  Lanes load(const Address &address, Lanes other = nullptr);
  /// Stores the lanes that exist.
  void store(const Address &address, Lanes value, bool streaming = false);

  Index constant(int64_t value) { return {e.i64(value), 0, nullptr, 0, value}; }
  Index scaled(const Index &index, int64_t factor);
  Index plus(const Index &a, const Index &b);
  /// The point at which a shape op (expand_dims, broadcast, permute, reshape) reads its operand.
  Point operandPoint(mlir::Operation *op, llvm::ArrayRef<Index> point);
  /// The point of a tile's element of this number, row by row.
  Point pointOf(const Index &number, llvm::ArrayRef<int64_t> shape);
  /// Indices as a vector (or scalar if uniform).
  llvm::Value *vectorOf(const Index &index);
  /// A value at a point, told apart from all others.
  using Key = std::pair<const void *, llvm::SmallVector<std::tuple<llvm::Value *, int64_t, llvm::Value *>, 4>>;
  static Key keyOf(mlir::Value tile, llvm::ArrayRef<Index> point);
  bool failed = false; // an op had no code; the error has been reported

  Emitter &e;
  const Plan &plan;

private:
  using Memo = std::map<Key, Lanes>;
  /// What is computed at the moment, and what is known of it.
  struct State {
    unsigned lanes = 1;
    Lanes limit = nullptr;
    llvm::SmallVector<KnownBound> known;
    llvm::DenseMap<mlir::Value, llvm::Value *> consecutive;
    llvm::SmallDenseMap<mlir::Value, RunTable, 2> inRuns;
    llvm::SmallDenseMap<mlir::Value, int64_t, 2> numbers;
    llvm::SmallDenseMap<mlir::Value, Lanes> unwritten;
    llvm::ArrayRef<llvm::Value *> square;
    const llvm::DenseSet<mlir::Value> *counting = nullptr;
    llvm::SmallVector<InSegment, 0> segment;
  };
  /// Forgets the values of this level.
  void forget() { levels.back().memo.clear(); }
  struct Level {
    llvm::Instruction *preheaderEnd = nullptr; // of the loop entered from here
    Memo memo;
  };
  Memo &memoAt(llvm::ArrayRef<Index> point);
  /// Moves the builder to the end of an outer loop's body so far, for its lifetime. Blocks may be split meanwhile.
  class AtLevel {
  public:
    AtLevel(Evaluator &evaluator, unsigned level);
    ~AtLevel();
    AtLevel(const AtLevel &) = delete;

  private:
    llvm::IRBuilder<> &b;
    bool moved;
    llvm::BasicBlock *block = nullptr;        // where it was: the end of this block, or
    llvm::Instruction *instruction = nullptr; // before this instruction
  };
  static unsigned levelOf(llvm::ArrayRef<Index> point);
  /// What is assumed holds at this point: in the innermost loop. Values of the loops around it are computed, and remembered, where that
  /// loop may not run. (What threads assume holds for all that they do.)
  bool assumes(llvm::ArrayRef<Index> point) const;
  /// What is known of a tile in the current segment, with its index along the row and that of the segment's first element.
  const InSegment *segmentOf(mlir::Value tile, llvm::ArrayRef<Index> point, const Index *&moved, const Index *&first) const;
  mlir::Value chosenInSegment(mlir::Value tile, llvm::ArrayRef<Index> point) const;
  std::optional<Linear> inSegment(mlir::Value tile, llvm::ArrayRef<Index> point);
  Lanes expression(mlir::Value tile, llvm::ArrayRef<Index> point);
  Lanes constantTile(mlir::DenseElementsAttr attr, llvm::ArrayRef<Index> point);
  /// base + step * l.
  Lanes counting(llvm::Value *base, int64_t step);
  Lanes rangeLanes(tile::RangeOp range, const Index &index);
  /// The lanes of a tile whose neighbours in memory lie along `dim`, if that is where the rows of the current square are and those exist; null
  /// else. Those of the other rows are remembered.
  Lanes fromSquare(mlir::Value tile, llvm::ArrayRef<Index> point, unsigned dim,
                   llvm::function_ref<Address(llvm::ArrayRef<Index>)> addressAt);
  Lanes loadedFromSquare(tile::LoadOp load, llvm::ArrayRef<Index> point);
  Lanes storedFromSquare(int buffer, mlir::Value tile, llvm::ArrayRef<Index> point);
  Lanes joined(tile::JoinOp join, llvm::ArrayRef<Index> point);
  Lanes concatenated(tile::CatOp cat, llvm::ArrayRef<Index> point);
  Lanes taken(tile::TakeOp take, llvm::ArrayRef<Index> point);
  /// low <= base + lane < high.
  Lanes lanesBetween(llvm::Value *base, int64_t low, int64_t high);
  /// Where lanes take neighbours in memory (a shuffle by a number that all share): one access, in which what is not there does not exist.
  std::optional<Address> takenRow(tile::TakeOp take, llvm::ArrayRef<Index> point);
  /// A comparison of 64-bit indices in a segment, of which each counts up by a constant: as one of lane numbers. Null: it is no such one.
  Lanes comparedInSegment(mlir::arith::CmpIOp compare, llvm::ArrayRef<Index> point);
  // -- conditions that hold between two places of the current segment's row (segment_masks.cpp)
  struct Held;
  /// Without which no lane exists of a row (i1; null: nothing), and the loop level at which that is known.
  struct RowCondition {
    llvm::Value *exists = nullptr;
    unsigned level = 0;
  };
  const Index *startOfSegment() const;
  bool isKnownAhead(mlir::Value number, llvm::ArrayRef<Index> point, llvm::SmallPtrSetImpl<const void *> &seen);
  bool heldByComparison(mlir::arith::CmpIOp compare, llvm::ArrayRef<Index> point, const Index &start, Held &held);
  /// Adds what `condition` asks for.
  void holdTogether(mlir::Value condition, llvm::ArrayRef<Index> point, const Index &start, Held &held);
  /// A comparison, or what an `and` joins, as a question of the lanes' positions. Null: it is no such one.
  Lanes heldInSegment(mlir::Operation *op, llvm::ArrayRef<Index> point, RowCondition *row = nullptr);
  /// A mask without what holds of its row as a whole, which becomes `row`.
  Lanes withinRow(mlir::Value mask, llvm::ArrayRef<Index> point, RowCondition &row);
  bool surelyBelow(mlir::Value tile, mlir::Value bound, llvm::ArrayRef<Index> point);
  Point reshaped(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to, llvm::ArrayRef<Index> point);
  void split(const Index &linear, llvm::ArrayRef<int64_t> sizes, llvm::MutableArrayRef<Index> result);
  Index exchanged(const Exchange &exchange, llvm::ArrayRef<Index> point);
  /// `limit` at points that this body moves, else null.
  Lanes limitAt(llvm::ArrayRef<Index> point) const;
  Lanes within(const Index &index, mlir::Value low, mlir::Value high, unsigned elementBits, Lanes exists);
  Lanes loadThroughPort(const Address &address, Lanes other);
  void storeThroughPort(const Address &address, llvm::Value *bits);
  void addOffsets(Address &address, llvm::Value *offsets);
  void addTerm(Address &address, const Index &index, llvm::Value *step);
  // -- lanes at known distances (spread.cpp)
  std::optional<Spread> spreadOf(const Index &index) const;
  Index indexOf(const Spread &spread, unsigned level);
  /// The parts of `number` in each dimension, where each is such lanes again.
  bool splitSpread(const Index &number, llvm::ArrayRef<int64_t> sizes, llvm::MutableArrayRef<Index> result);
  /// One or two vectors, shuffled; null where that is not enough.
  Lanes loadSpread(const Address &address);
  /// Lanes of scratch memory that lie near each other; null where single loads are better.
  Lanes loadNear(const Address &address);
  /// An access's first place, with what rows side by side lie behind the first of them: equal sums are one value.
  llvm::Value *offsetAt(tile::AccessOp access, llvm::ArrayRef<Index> point);
  void addPointers(Address &address, mlir::Value pointers, llvm::ArrayRef<Index> point);
  void addLinear(Address &address, const Linear &linear);
  /// `integers` at the point in two parts: what is known where the current segment begins, and how far lanes have gone on from there.
  std::pair<Linear, Linear> fromStart(mlir::Value integers, const Index &index);
  void setScope(Address &address, mlir::Value pointer);
  Lanes everyStepth(const Address &address);
  /// The lanes as few runs, and those that are in none of them.
  llvm::SmallVector<LaneRun, 3> runsOf(llvm::Value *offsets, llvm::Value *&rest);
  /// Pointers to the masks and offsets of the vector at `index`.
  std::pair<llvm::Value *, llvm::Value *> rowOf(const RunTable &table, const Index &index);

  ThreadModel *threads;
  State state;
  Memo owned;                                    // values at owned elements
  llvm::DenseMap<llvm::Value *, Spread> spreads; // what vectors of indices are made of
  std::vector<Level> levels;
  std::deque<analysis::IndexPolynomial> offsets; // that offsetAt has met
  void addCondition(RowCondition &row, Lanes mask, unsigned level);
  llvm::DenseMap<llvm::Value *, RowCondition> conditions; // of masks of segments
  /// An element with so many zeros around it: `before` it, and `behind`.
  llvm::Value *zerosAround(mlir::Type element, int64_t before, int64_t behind);
};

class Evaluator::Body : Region {
public:
  explicit Body(Evaluator &evaluator) : Region(evaluator), before(std::exchange(evaluator.state, State())) {}
  ~Body() { evaluator.state = std::move(before); }

private:
  State before;
};

class Evaluator::Vector {
public:
  Vector(Evaluator &evaluator, unsigned lanes, Lanes limit = nullptr)
      : evaluator(evaluator), lanes(std::exchange(evaluator.state.lanes, lanes)),
        limit(std::exchange(evaluator.state.limit, limit)) {}
  ~Vector() {
    evaluator.state.lanes = lanes;
    evaluator.state.limit = limit;
  }
  Vector(const Vector &) = delete;
  unsigned outside() const { return lanes; }

private:
  Evaluator &evaluator;
  unsigned lanes;
  Lanes limit;
};

class Evaluator::Square {
public:
  /// `counting`: steps of accesses that count up by one in the current segment, where rows lie along it.
  Square(Evaluator &evaluator, llvm::ArrayRef<llvm::Value *> rows, const llvm::DenseSet<mlir::Value> *counting = nullptr)
      : evaluator(evaluator) {
    evaluator.state.square = rows;
    evaluator.state.counting = counting;
  }
  ~Square() {
    evaluator.state.square = {};
    evaluator.state.counting = nullptr;
  }
  Square(const Square &) = delete;

private:
  Evaluator &evaluator;
};

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

class Evaluator::Assumption {
public:
  Assumption(Evaluator &evaluator, llvm::ArrayRef<KnownBound> bounds)
      : evaluator(evaluator), before(evaluator.state.known.size()) {
    evaluator.state.known.append(bounds.begin(), bounds.end());
  }
  ~Assumption() { evaluator.state.known.truncate(before); }
  Assumption(const Assumption &) = delete;

private:
  Evaluator &evaluator;
  size_t before;
};

class Evaluator::AssumedRuns {
public:
  explicit AssumedRuns(Evaluator &evaluator) : evaluator(evaluator), before(evaluator.state.inRuns) {}
  ~AssumedRuns() { evaluator.state.inRuns = std::move(before); }
  AssumedRuns(const AssumedRuns &) = delete;

private:
  Evaluator &evaluator;
  decltype(State::inRuns) before;
};

class Evaluator::AssumedNumbers {
public:
  AssumedNumbers(Evaluator &evaluator, llvm::ArrayRef<mlir::Value> scalars, int64_t number)
      : evaluator(evaluator), before(evaluator.state.numbers) {
    for (mlir::Value scalar : scalars)
      evaluator.state.numbers[scalar] = number;
  }
  ~AssumedNumbers() { evaluator.state.numbers = std::move(before); }
  AssumedNumbers(const AssumedNumbers &) = delete;

private:
  Evaluator &evaluator;
  decltype(State::numbers) before;
};

class Evaluator::OwnedScope {
public:
  explicit OwnedScope(Evaluator &evaluator) : evaluator(evaluator), before(evaluator.owned) {}
  ~OwnedScope() { evaluator.owned = std::move(before); }
  OwnedScope(const OwnedScope &) = delete;

private:
  Evaluator &evaluator;
  Memo before;
};

} // namespace tilery::lower
