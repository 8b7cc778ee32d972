#pragma once
// Emits lanes of tile values by pulling: the value at a point is computed from its operands at the points they are read at, down to
// loads, stored tiles and scalars. What depends on outer loops only is emitted there, once.
#include "compiler/lower/emitter.h"
#include "compiler/lower/plan.h"
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
  bool kept = false;            // what is computed at it stays known (Evaluator::kept)
  bool uniform() const { return step == 0 && !lanes; }
};
using Point = llvm::SmallVector<Index, 4>;

/// Where the lanes of an access are.
struct Address {
  mlir::Type element;
  llvm::Value *pointer = nullptr; // of lane 0
  unsigned level = 0;             // the innermost loop that moves `pointer`
  int64_t step = 0;               // elements from lane to lane, if `offsets` is null
  llvm::Value *offsets = nullptr; // <L x i64> elements from `pointer`
  Lanes exists = nullptr;         // null: all lanes
  unsigned alignment = 1;
  bool isVolatile = false, global = false; // global: a kernel argument's memory
  bool constant = false;                   // nothing in the kernel writes it
  llvm::MDNode *scope = nullptr, *noalias = nullptr;
};

/// An integer tile (or scalar) at a point, in i64: base + step * l, or base + lanes[l]. For chains that do not wrap.
struct Linear {
  llvm::Value *base = nullptr;
  int64_t step = 0;
  llvm::Value *lanes = nullptr;
  unsigned level = 0;
};

/// `lo <= i < hi` holds for every index of the current body along a nest dimension.
struct KnownBound {
  mlir::Value lo, hi;
  int loop;
};

/// How a target moves lanes of global memory whose existence is one question, where it has better means than LLVM's masked accesses.
class MemoryPort {
public:
  virtual ~MemoryPort() = default;
  /// One element or (`type` is a vector) neighbouring ones from `where.pointer`. Where `exists` (i1, null: true) does not hold nothing is
  /// read and the result is `other`.
  virtual llvm::Value *load(Emitter &e, const Address &where, llvm::Type *type, llvm::Value *exists, llvm::Value *other) = 0;
  virtual void store(Emitter &e, const Address &where, llvm::Value *bits, llvm::Value *exists) = 0;
};

class Evaluator {
public:
  Evaluator(Emitter &e, const Plan &plan) : e(e), plan(plan) { levels.emplace_back(); }

  // -- what surrounds the current nest
  llvm::DenseMap<mlir::Value, llvm::Value *> scalars;                                  // of rank 0, defined so far
  llvm::Value *arena = nullptr;                                                        // scratch memory of this thread
  llvm::Value *workspace = nullptr;                                                    // of what is outside the arena
  llvm::DenseMap<const void *, std::pair<llvm::MDNode *, llvm::MDNode *>> aliasScopes; // per kernel argument, null: the arena

  llvm::DenseMap<mlir::Operation *, llvm::Value *> done; // stores that need not run where this i1 is true

  // -- what targets with threads add
  MemoryPort *port = nullptr;                     // accesses then know their alignment, too
  std::function<bool(mlir::Value place)> written; // with a port: something in the kernel may write there
  using Memo = std::map<std::pair<const void *, llvm::SmallVector<std::tuple<llvm::Value *, int64_t, llvm::Value *>, 4>>, Lanes>;
  Memo kept; // values at indices that are `kept`; whoever makes such indices clears what does not dominate the code to come
  /// A stored tile that lies in variables of the thread instead of the arena: which one by the indices' bases, dimensions of size 1 left
  /// out.
  struct Held {
    llvm::SmallVector<llvm::Value *> parts;
    const std::map<llvm::SmallVector<llvm::Value *, 2>, unsigned> *slots = nullptr;
  };
  llvm::DenseMap<int, Held> held; // by buffer

  // -- the current body
  unsigned lanes = 1;
  Lanes limit = nullptr; // lanes that exist in this body; null: all. An i1 where lanes are no vector or all exist or none
  llvm::SmallVector<KnownBound> known;
  llvm::DenseMap<mlir::Value, llvm::Value *>
      consecutive; // stored index tiles of rank 1: lane i is i + this i64, for every i of this body
  /// Stored tiles that this body defines and has not written yet. What else it computes reads only the same element of them.
  llvm::SmallDenseMap<mlir::Value, Lanes> unwritten;

  /// Enters a loop whose preheader ends with `preheaderEnd`: what is fixed outside the loop is emitted before it.
  void enterLoop(llvm::Instruction *preheaderEnd);
  void leaveLoop();
  unsigned level() const { return levels.size() - 1; }
  /// Forgets the values computed so far (they need not dominate what follows). Only outside loops.
  void forget();
  void forgetBody() { levels.back().memo.clear(); }

  // -- values
  llvm::Value *scalar(mlir::Value value);
  /// A scalar integer in i64, with index arithmetic (nsw) redone in i64.
  llvm::Value *wide(mlir::Value value);
  /// Lanes of a tile: vector of `lanes`, or a scalar when all lanes are equal.
  Lanes value(mlir::Value tile, llvm::ArrayRef<Index> point);
  /// The value's own expression, also if the tile is stored; remembered as its value at this point.
  Lanes define(mlir::Value tile, llvm::ArrayRef<Index> point);
  /// The value at this point is what the caller computed.
  void provide(mlir::Value tile, llvm::ArrayRef<Index> point, Lanes lanes);
  Linear linear(mlir::Value integers, llvm::ArrayRef<Index> point);

  // -- memory
  Address address(mlir::Value place, llvm::ArrayRef<Index> point);
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
  /// Indices as a vector (or scalar if uniform).
  llvm::Value *vectorOf(const Index &index);
  bool failed = false; // an op had no code; the error has been reported

  Emitter &e;
  const Plan &plan;

private:
  using Key = Memo::key_type;
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
  static Key keyOf(mlir::Value tile, llvm::ArrayRef<Index> point);
  Lanes expression(mlir::Value tile, llvm::ArrayRef<Index> point);
  Lanes constantTile(mlir::DenseElementsAttr attr, llvm::ArrayRef<Index> point);
  Lanes rangeLanes(tile::RangeOp range, const Index &index);
  Lanes joined(tile::JoinOp join, llvm::ArrayRef<Index> point);
  Lanes concatenated(tile::CatOp cat, llvm::ArrayRef<Index> point);
  Lanes taken(tile::TakeOp take, llvm::ArrayRef<Index> point);
  bool surelyBelow(mlir::Value tile, mlir::Value bound, llvm::ArrayRef<Index> point);
  Point reshaped(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to, llvm::ArrayRef<Index> point);
  void split(const Index &linear, llvm::ArrayRef<int64_t> sizes, llvm::MutableArrayRef<Index> result);
  /// `limit` at points that this body moves, else null.
  Lanes limitAt(llvm::ArrayRef<Index> point) const;
  Lanes within(const Index &index, mlir::Value low, mlir::Value high, unsigned elementBits);
  Lanes loadThroughPort(const Address &address, Lanes other);
  void storeThroughPort(const Address &address, llvm::Value *bits);
  llvm::Value **heldPart(int buffer, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Index> point);
  void addTerm(Address &address, const Index &index, llvm::Value *step);
  void addPointers(Address &address, mlir::Value pointers, llvm::ArrayRef<Index> point);
  void addLinear(Address &address, const Linear &linear);
  void setScope(Address &address, mlir::Value pointer);
  llvm::Value *lanePointers(const Address &address);

  std::vector<Level> levels;
};

} // namespace tilery::lower
