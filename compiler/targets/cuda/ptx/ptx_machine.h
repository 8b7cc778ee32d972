#pragma once
// The block machine that writes PTX. ptx_machine.cpp: the kernel, its threads, global memory; ptx_async.cpp: barriers and the copy engine;
// ptx_wgmma.cpp, mma_ptx.cpp: matrix products.
#include "compiler/targets/cuda/ptx/block_machine.h"
#include "compiler/targets/cuda/ptx/target.h"

namespace tilery::cuda {

/// LLVM's intrinsics where reordering around them is harmless. Barriers, copies and products of a warpgroup are inline assembly with a
/// memory clobber: what LLVM knows of their intrinsics lets it move ordinary accesses over them.
class PtxMachine : public BlockMachine {
public:
  /// target: the oldest GPU that the code runs on.
  explicit PtxMachine(const CudaTarget &target = {}) : isHopper(target.hopper()) {}
  BlockEntry begin(lower::Emitter &e, tile::KernelOp kernel, const BlockNeeds &needs) override;
  void barrier(lower::Emitter &e) override;
  void namedBarrier(lower::Emitter &e, Value *id, unsigned threads) override;
  void warpBarrier(lower::Emitter &e, Value *mask) override;
  void arriveNamed(lower::Emitter &e, Value *id, unsigned threads) override;
  Value *shuffleDown(lower::Emitter &e, Value *value, unsigned distance) override;
  Value *shuffleFrom(lower::Emitter &e, Value *value, Value *lane, Value *mask) override;
  Value *elect(lower::Emitter &e) override;
  Value *threadNow(lower::Emitter &e) override;
  Value *clock(lower::Emitter &e) override;
  Value *processor(lower::Emitter &e) override;
  Value *here(lower::Emitter &e, Value *value) override;
  void setRegisters(lower::Emitter &e, unsigned count, bool more) override;
  void role(lower::Emitter &, llvm::StringRef) override {}

  Value *clusterRank(lower::Emitter &e) override;
  void clusterBarrier(lower::Emitter &e) override;
  Value *peerAddress(lower::Emitter &e, Value *address, Value *rank) override;
  void waitForLaunch(lower::Emitter &e) override;
  void letLaunchFollow(lower::Emitter &e) override;

  void initBarrier(lower::Emitter &e, Value *barrier, unsigned arrivals) override;
  void fenceBarrierInit(lower::Emitter &e) override;
  void arrive(lower::Emitter &e, Value *barrier) override;
  void arrivePeer(lower::Emitter &e, Value *barrier) override;
  void arriveExpect(lower::Emitter &e, Value *barrier, Value *bytes) override;
  void expectBytes(lower::Emitter &e, Value *barrier, Value *bytes) override;
  void waitBarrier(lower::Emitter &e, Value *barrier, Value *parity) override;

  void prefetchMap(lower::Emitter &e, Value *map) override;
  void makeMap(lower::Emitter &e, Value *place, Value *map, Value *base, Values extents, Values strides) override;
  void loadBox(lower::Emitter &e, Value *shared, Value *map, Values coordinates, Value *barrier) override;
  void loadBytes(lower::Emitter &e, Value *shared, Value *global, Value *bytes, Value *barrier) override;
  void storeBox(lower::Emitter &e, Value *map, Values coordinates, Value *shared, bool add) override;
  void storeBytes(lower::Emitter &e, Value *global, Value *shared, Value *bytes) override;
  void commitStores(lower::Emitter &e) override;
  void waitStores(lower::Emitter &e, bool read, unsigned pending) override;
  void fenceProxy(lower::Emitter &e) override;

  Value *loadShared(lower::Emitter &e, llvm::Type *type, Value *address, bool peer) override;
  void storeShared(lower::Emitter &e, Value *address, Value *value, bool peer) override;
  llvm::SmallVector<Value *, 4> loadMatrices(lower::Emitter &e, Value *row, unsigned count, bool transposed,
                                             unsigned offset) override;
  void storeMatrices(lower::Emitter &e, Value *row, Values matrices, bool transposed) override;
  Value *permuteBytes(lower::Emitter &e, Value *low, Value *high, Value *which) override;

  void multiply(lower::Emitter &e, const MmaForm &form, Tied accumulators, Values a, Values b) override;
  Value *roundTF32(lower::Emitter &e, Value *bits) override;
  void wgmmaFence(lower::Emitter &e, Tied sums, Values kept) override;
  void wgmma(lower::Emitter &e, const WgmmaForm &form, Tied sums, llvm::ArrayRef<WgmmaStep> steps, Value *scale) override;
  void wgmmaCommit(lower::Emitter &e) override;
  void wgmmaWait(lower::Emitter &e, unsigned pending, Tied values, Values kept) override;
  void copyRegisters(lower::Emitter &e, Tied values) override;

  void copyAsync(lower::Emitter &e, Value *to, Value *from, Value *bytes) override;
  void commitCopies(lower::Emitter &e) override;
  void arriveCopies(lower::Emitter &e, Value *barrier) override;
  void waitCopies(lower::Emitter &e, unsigned pending) override;
  Value *load(lower::Emitter &e, const lower::Address &where, llvm::Type *type, Value *exists, Value *other) override;
  void store(lower::Emitter &e, const lower::Address &where, Value *bits, Value *exists) override;

private:
  bool isHopper;              ///< else there is no copy engine that fences are for, nor do waits for barriers sleep
  bool readsConstants = true; ///< memory that the kernel does not write; the launch before may, while this one waits for it
};

} // namespace tilery::cuda
