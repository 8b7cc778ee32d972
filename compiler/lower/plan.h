#pragma once
// The plan of a kernel: where every tile value lives and which loop nests run in which order. Computed apart from emission, printable.
#include "compiler/lower/options.h"

namespace tilery::lower {

/// Something that makes elements of a tile happen.
struct Sink {
  enum Kind {
    Store,       // tile.store
    BufferStore, // tile.buffer_store
    Update,      // tile.atomic_rmw whose old values nobody reads (Target::updatesInNests)
    Define,      // the value's own expression into its scratch buffer
    Copy,        // a value into the buffer of a carried or merged one
    Reduce       // tile.reduce
  };
  Kind kind;
  mlir::Operation *op;
  mlir::Value value;              // Define, Copy: what is evaluated
  llvm::SmallVector<int> buffers; // Define, Copy: one; Reduce: one an operand when the results are tiles
  int source = -1;                // Copy: from this buffer if not negative
};

/// One loop nest over a box: every element of every sink, in row-major order.
struct Nest {
  llvm::SmallVector<int64_t> shape;
  std::vector<Sink> sinks;
};

/// A nest, or an op that is emitted by itself (scalar code, control flow, sorts, dots, atomics, ...).
struct Step {
  mlir::Operation *op = nullptr; // null: `nest`
  Nest nest;
};

/// A tile that is written along one dimension and read along another keeps vectors of both apart in shared memory's banks: at row i along
/// `dim`, pieces of `unit` elements of the last dimension are exchanged, piece p with p xor (i / unit mod units).
struct Exchange {
  unsigned dim = 0;
  int64_t unit = 1, units = 1; // powers of two; units 1: elements lie in order
};

/// A piece of the scratch arena, row-major but for its exchange; booleans one byte an element.
struct ScratchBuffer {
  mlir::Type element;
  int64_t elements = 0;
  uint64_t bytes = 0, offset = 0;
  int64_t first = 0, last = 0; // positions between which it holds something
  bool outside = false;        // in the workspace rather than in the arena
  Exchange exchange;
};

struct Plan {
  llvm::DenseMap<mlir::Block *, std::vector<Step>> steps;
  llvm::DenseMap<mlir::Block *, std::vector<Step>> copies;    // what a block's terminator still has to move, after `steps`
  llvm::DenseMap<mlir::Operation *, std::vector<Step>> inits; // before a loop: its initial tiles into their buffers
  llvm::DenseMap<mlir::Value, int> storage;                   // buffer of every tile value that is not virtual
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int>> temporaries; // buffers an op needs for itself (Target::temporaries)
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<ProductPlan>> products;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> straight; // a scan whose elements go straight to memory: by this store
  llvm::DenseMap<mlir::Operation *, unsigned> elementLoops;      // loops that run for so many vectors of elements at a time
  std::vector<ScratchBuffer> buffers;
  uint64_t arenaBytes = 0, workspaceBytes = 0;

  bool isVirtual(mlir::Value value) const { return !storage.count(value); }
  void print(llvm::raw_ostream &stream, mlir::Operation *kernel) const;
};

/// `options` are not used any more once the plan is made. All buffers are in the arena (placeBuffers).
Plan planKernel(tile::KernelOp kernel, const Options &options);

/// Gives every buffer its place in the arena, or in the workspace where that would take more than `arenaLimit` bytes; again after a change
/// of their sizes.
void placeBuffers(Plan &plan, uint64_t arenaLimit);

/// True if elements of the op's results can be recomputed wherever they are used (loads included, where memory allows).
bool canBeVirtual(mlir::Operation *op);
/// Whether single threads run this op, each for itself (in `threads` or `parallel`, not in what threads carry out together).
bool runsInThreads(mlir::Operation *op);
/// Whether each thread has the buffer of this allocation for itself.
bool isThreadsOwn(mlir::Operation *alloc);

} // namespace tilery::lower
