#pragma once
// What a block of threads is to generated code. One implementation writes PTX; tests have another, whose threads are fibers of the CPU.
#include "compiler/targets/cuda/ptx/thread_machine.h"
#include "compiler/targets/cuda/ptx/wgmma_form.h"

namespace tilery::cuda {

/// And what the block level has besides. A barrier is eight bytes of shared memory, at a multiple of eight.
class BlockMachine : public ThreadMachine {
public:
  // -- threads
  /// Counts as one of the threads of a named barrier without waiting.
  virtual void arriveNamed(lower::Emitter &e, Value *id, unsigned threads) = 0;
  /// An i1 that holds in one thread of the warp, all of whose threads take part.
  virtual Value *elect(lower::Emitter &e) = 0;
  /// The thread's number (i32), read here and now: what depends on it is not computed ahead.
  virtual Value *threadNow(lower::Emitter &e) = 0;
  /// The same i32, computed before what follows here.
  virtual Value *here(lower::Emitter &e, Value *value) = 0;
  /// From here on the thread's warpgroup has `count` registers a thread (a multiple of 8, 24 to 256): waits until there are so many.
  virtual void setRegisters(lower::Emitter &e, unsigned count, bool more) = 0;
  /// What this thread is from here on, in the words of reports.
  virtual void role(lower::Emitter &e, llvm::StringRef name) = 0;

  // -- barriers in shared memory that count arrivals and bytes (mbarrier)
  virtual void initBarrier(lower::Emitter &e, Value *barrier, unsigned arrivals) = 0;
  /// Shows barriers that this thread made to the copy engine and to other blocks.
  virtual void fenceBarrierInit(lower::Emitter &e) = 0;
  virtual void arrive(lower::Emitter &e, Value *barrier) = 0;
  /// The same at a peer's.
  virtual void arrivePeer(lower::Emitter &e, Value *barrier) = 0;
  /// Arrives; the phase then waits for `bytes` (i32) more.
  virtual void arriveExpect(lower::Emitter &e, Value *barrier, Value *bytes) = 0;
  virtual void expectBytes(lower::Emitter &e, Value *barrier, Value *bytes) = 0;
  /// Waits until the phase of that parity (i32, 0 or 1; the first phase has 0) is complete.
  virtual void waitBarrier(lower::Emitter &e, Value *barrier, Value *parity) = 0;

  // -- the copy engine. Addresses of shared memory are multiples of 128, those of swizzled boxes of eight of their rows.
  virtual void prefetchMap(lower::Emitter &e, Value *map) = 0;
  /// Makes a map in 128 bytes of global memory (a multiple of 128): that of the launch, over another tensor. `base`: a generic pointer, a
  /// multiple of 16; extents (i64, the innermost first) and strides (i64, bytes, those of all others). This thread's copies may use it at once.
  virtual void makeMap(lower::Emitter &e, Value *place, Value *map, Value *base, Values extents, Values strides) = 0;
  /// Copies the box at these coordinates (i32, the innermost dimension first) into shared memory; `barrier` counts the bytes.
  virtual void loadBox(lower::Emitter &e, Value *shared, Value *map, Values coordinates, Value *barrier) = 0;
  /// Copies `bytes` (i32, a multiple of 16) from a generic pointer to global memory (a multiple of 16).
  virtual void loadBytes(lower::Emitter &e, Value *shared, Value *global, Value *bytes, Value *barrier) = 0;
  /// Stores a box, or adds it to what is there (f32). Done when waited for.
  virtual void storeBox(lower::Emitter &e, Value *map, Values coordinates, Value *shared, bool add) = 0;
  virtual void storeBytes(lower::Emitter &e, Value *global, Value *shared, Value *bytes) = 0;
  /// The thread's stores since the last commit are a group.
  virtual void commitStores(lower::Emitter &e) = 0;
  /// Waits until all but the last `pending` groups of this thread's stores have read their shared memory (`read`) or are complete.
  virtual void waitStores(lower::Emitter &e, bool read, unsigned pending) = 0;
  /// Makes this thread's ordinary writes to shared memory visible to the copy engine and the tensor cores.
  virtual void fenceProxy(lower::Emitter &e) = 0;

  /// The way back from loadMatrices: 1, 2 or 4 matrices, an i32 of each, to the rows at these addresses.
  virtual void storeMatrices(lower::Emitter &e, Value *row, Values matrices, bool transposed) = 0;

  // -- products of a warpgroup, all of whose threads take part
  /// Before the first product, and whenever registers were written that the next one takes: its sums and the registers of its factor are there
  /// when the fence is passed, so that nothing is moved between it and the product.
  virtual void wgmmaFence(lower::Emitter &e, Tied sums, Values a) = 0;
  /// The factors of a product of 64 x n x k. a: one i64, the descriptor of shared memory (layout::MatrixDescriptor with the address / 16 in its
  /// low 14 bits), or four i32 (layout::wgmmaOperandA); b: a descriptor. sums: the first of those that it adds to.
  struct WgmmaStep {
    llvm::SmallVector<Value *, 4> a;
    Value *b;
    unsigned sums = 0;
  };
  /// For one step after the other: form.sums() of the sums = themselves + A * B; layout::wgmmaAccumulator says who has which. The first step
  /// that adds to a sum takes it for 0 where `scale` (i32) is. Sums and registers of A belong to the tensor cores until a wait has named them.
  virtual void wgmma(lower::Emitter &e, const WgmmaForm &form, Tied sums, llvm::ArrayRef<WgmmaStep> steps, Value *scale) = 0;
  /// The products since the last commit are a group.
  virtual void wgmmaCommit(lower::Emitter &e) = 0;
  /// Waits until at most `pending` groups run and delivers `sums` of products that are done; nothing takes the registers of their factors `a`
  /// before.
  virtual void wgmmaWait(lower::Emitter &e, unsigned pending, Tied sums, Values a) = 0;

  /// Copies i32 values: none lies in the register of what it comes of, nor is one made before this.
  virtual void copyRegisters(lower::Emitter &e, Tied values) = 0;

  /// This thread's copies so far arrive at a barrier, once, when they are done: one of the arrivals that it was made for.
  virtual void arriveCopies(lower::Emitter &e, Value *barrier) = 0;
};

} // namespace tilery::cuda
