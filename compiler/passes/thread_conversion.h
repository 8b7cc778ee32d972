#pragma once
// The body of tile.threads for all threads at once; its parts are in thread_flow.cpp, thread_elements.cpp,
// thread_exchange.cpp, thread_scalars.cpp.
#include "compiler/passes/lockstep.h"

namespace tilery {

class ThreadConversion : public Lockstep {
public:
  /// strides[d]: how many threads further the next place along box[d] is; the last dimension is 1.
  ThreadConversion(tile::ThreadsOp op, llvm::ArrayRef<int64_t> box, llvm::ArrayRef<int64_t> strides);
  /// Puts the tile form in place of the op. Fails after an error at what has none. In a role, others wait for its threads at barriers
  /// only, so that some of them may begin a tile operation for all.
  mlir::LogicalResult run();

private:
  void findVarying() override;
  using Lockstep::convert;
  bool convert(mlir::Operation &inner) override;
  std::optional<Position> position(mlir::TypedValue<tile::BufferType> buffer, mlir::ValueRange indices,
                                   mlir::Location loc) override;
  /// An address for each thread.
  bool scatters(bool) const override { return true; }
  bool takesLines() const override { return true; }
  bool storeOnce(mlir::Operation &store);
  bool refuse(mlir::Operation *at, const llvm::Twine &what);

  // Memory of a thread's own: one buffer of all threads', their dimensions first.
  bool convertAlloc(tile::AllocOp alloc);
  /// Thread 0's part.
  mlir::Value firstPart(mlir::Value expanded, tile::BufferType own, mlir::Location loc);

  // thread_flow.cpp
  bool convertTogether(tile::TogetherOp together);
  bool convertUniformIf(mlir::scf::IfOp branch);
  /// A branch that threads take at one place of some dimensions only: the box is smaller in it.
  bool convertNarrowIf(mlir::scf::IfOp branch, llvm::ArrayRef<std::pair<unsigned, int64_t>> places);
  /// The places along dimensions at which a condition holds: `t % 32 == 0`. Empty: it says something else.
  llvm::SmallVector<std::pair<unsigned, int64_t>> placesOf(mlir::Value condition);
  /// All that come arrive, or wait, once together.
  bool convertArrive(tile::BarrierArriveOp arrive);
  bool convertWait(tile::BarrierWaitOp wait);
  /// Thread after thread, those that come: what it is done to differs.
  bool convertForEach(mlir::Operation &inner);
  bool convertLoop(mlir::scf::ForOp loop);
  bool convertUnequalFor(mlir::scf::ForOp loop);
  bool convertWhile(mlir::scf::WhileOp loop);
  /// Iterations of a loop that touch different elements become one more dimension of the box.
  bool convertBox(mlir::scf::ForOp loop, int64_t extent);
  mlir::Value largest(mlir::Value tile, tile::RmwKind kind);

  // thread_elements.cpp
  bool isIndependent(mlir::scf::ForOp loop);
  /// The box's last dimension walks memory in steps of one, where it moves these indices (of a buffer; of a tensor).
  /// `line`: the elements of a buffer of one dimension, else 0.
  bool isPlain(mlir::ValueRange indices, bool global, int64_t line = 0);
  /// Short loops over elements of a thread's own, or that others follow, one iteration after another without a loop. `ahead`: values that
  /// are computed for all of them before.
  bool isShort(mlir::scf::ForOp loop, int64_t trips);
  bool readsOwn(mlir::scf::ForOp loop);
  bool convertUnrolled(mlir::scf::ForOp loop, int64_t from, int64_t trips, int64_t step, llvm::ArrayRef<mlir::Value> ahead);
  /// Values of the body that all iterations compute at once, before the chain of what they carry.
  llvm::SmallVector<mlir::Value> computedAhead(mlir::scf::ForOp loop, int64_t trips);
  using ValueMap = llvm::MapVector<mlir::Value, mlir::Value>;
  bool convertAhead(mlir::scf::ForOp loop, int64_t trips, llvm::ArrayRef<mlir::Value> ahead, ValueMap &buffers);
  struct Turns;
  /// The threads' n-th elements of such a buffer.
  mlir::Value elementsAt(mlir::Value buffer, int64_t n);

  // thread_exchange.cpp
  /// Finds the chains x = x op shuffle(xor n/2) x, ..., x = x op shuffle(xor 1) x: sums of n neighbours, in each of them.
  void findFolds();
  bool convertFold(mlir::Operation &last);
  bool convertShuffle(tile::ShuffleOp shuffle);
  bool convertVote(tile::VoteOp vote);
  bool convertWarpDot(tile::WarpDotOp op);
  /// Elements anywhere in a buffer.
  bool gatherElements(tile::ElementLoadOp load);
  /// A value of all threads as groups of `width`: [groups, width], and back.
  mlir::Value grouped(mlir::Value value, int64_t width);
  mlir::Value ungrouped(mlir::Value groups, mlir::Location loc);

  // thread_scalars.cpp
  /// An op that has no tile form, thread after thread.
  bool serialise(mlir::Operation &inner);

  mlir::Block &body;
  unsigned threadDims;
  llvm::SmallVector<int64_t> strides;
  struct Fold {
    mlir::Value value;
    int64_t group;
  };
  llvm::DenseMap<mlir::Operation *, Fold> folds; // by the last op of the chain
  llvm::DenseSet<mlir::Operation *> folded;      // the others
  llvm::DenseMap<mlir::Value, mlir::Value> own;  // an allocation of the body -> the buffer of all threads'
};

} // namespace tilery
