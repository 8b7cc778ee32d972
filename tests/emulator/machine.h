#pragma once
// The block machine whose instructions are calls of the emulator.
#include "compiler/targets/cuda/ptx/block_machine.h"

namespace tilery::emulator {

class EmulatedMachine : public cuda::BlockMachine {
public:
  cuda::BlockEntry begin(lower::Emitter &e, tile::KernelOp kernel, const cuda::BlockNeeds &needs) override;
  void barrier(lower::Emitter &e) override;
  void namedBarrier(lower::Emitter &e, Value *id, unsigned threads) override;
  void arriveNamed(lower::Emitter &e, Value *id, unsigned threads) override;
  void warpBarrier(lower::Emitter &e, Value *mask) override;
  Value *shuffleDown(lower::Emitter &e, Value *value, unsigned distance) override;
  Value *shuffleFrom(lower::Emitter &e, Value *value, Value *lane, Value *mask) override;
  Value *elect(lower::Emitter &e) override;
  Value *threadNow(lower::Emitter &e) override;
  Value *clock(lower::Emitter &e) override;
  Value *processor(lower::Emitter &e) override { return e.b.getInt32(0); }
  Value *here(lower::Emitter &, Value *value) override { return value; }
  void copyRegisters(lower::Emitter &, Tied) override {}
  void setRegisters(lower::Emitter &e, unsigned count, bool more) override;
  void role(lower::Emitter &e, llvm::StringRef name) override;

  Value *clusterRank(lower::Emitter &e) override;
  void clusterBarrier(lower::Emitter &e) override;
  Value *peerAddress(lower::Emitter &e, Value *address, Value *rank) override;
  void waitForLaunch(lower::Emitter &) override {}   // launches run one after the other here
  void letLaunchFollow(lower::Emitter &) override {} // likewise

  void initBarrier(lower::Emitter &e, Value *barrier, unsigned arrivals) override;
  void fenceBarrierInit(lower::Emitter &e) override;
  void arrive(lower::Emitter &e, Value *barrier) override;
  void arrivePeer(lower::Emitter &e, Value *barrier) override;
  void arriveExpect(lower::Emitter &e, Value *barrier, Value *bytes) override;
  void expectBytes(lower::Emitter &e, Value *barrier, Value *bytes) override;
  void waitBarrier(lower::Emitter &e, Value *barrier, Value *parity) override;

  void prefetchMap(lower::Emitter &, Value *) override {}
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

  void multiply(lower::Emitter &e, const cuda::MmaForm &form, Tied accumulators, Values a, Values b) override;
  Value *roundTF32(lower::Emitter &e, Value *bits) override;
  void wgmmaFence(lower::Emitter &e, Tied sums, Values kept) override;
  void wgmma(lower::Emitter &e, const cuda::WgmmaForm &form, Tied sums, llvm::ArrayRef<WgmmaStep> steps, Value *scale) override;
  void wgmmaCommit(lower::Emitter &e) override;
  void wgmmaWait(lower::Emitter &e, unsigned pending, Tied values, Values kept) override;

  void copyAsync(lower::Emitter &e, Value *to, Value *from, Value *bytes) override;
  void commitCopies(lower::Emitter &e) override;
  void arriveCopies(lower::Emitter &e, Value *barrier) override;
  void waitCopies(lower::Emitter &e, unsigned pending) override;
  Value *load(lower::Emitter &e, const lower::Address &where, llvm::Type *type, Value *exists, Value *other) override;
  void store(lower::Emitter &e, const lower::Address &where, Value *bits, Value *exists) override;

private:
  Value *field(lower::Emitter &e, llvm::Type *type, uint64_t offset);
  Value *part(lower::Emitter &e, uint64_t offset);
  void put(lower::Emitter &e, uint64_t offset, Value *value);
  Value *get(lower::Emitter &e, uint64_t offset, llvm::Type *type);
  /// The variable with these words in it.
  Value *words(lower::Emitter &e, Values values);
  void perform(lower::Emitter &e, uint32_t kind);
  void putRow(lower::Emitter &e, Value *row, unsigned count);

  Value *self = nullptr;
  Value *functions = nullptr; // where those of the emulator are
  Value *operation = nullptr; // a variable: what a warp, a warpgroup or a copy is given
};

} // namespace tilery::emulator
