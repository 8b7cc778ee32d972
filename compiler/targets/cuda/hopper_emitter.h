#pragma once
// The emission of one matrix product on Hopper. hopper_gemm.cpp: the kernel, its producer and its consumers; hopper_order.cpp: which
// program is next; hopper_epilogue.cpp: from the accumulators to memory.
#include "compiler/lower/evaluator.h"
#include "compiler/targets/cuda/hopper_gemm.h"
#include "compiler/targets/cuda/block_machine.h"
#include "compiler/layout/memory.h"

namespace tilery::cuda {

constexpr unsigned barrierBytes = 1024; // full[s] at 16 s, empty[s] at 16 s + 8; the ring starts at a multiple of 1024

/// How an operand's stage lies in shared memory and what the tensor cores are told of it.
struct StageLayout {
  bool kMajor; // k is contiguous
  unsigned rows, k, elementBytes;

  unsigned rowBytes() const { return kMajor ? k * elementBytes : 128; } // of a swizzled row
  unsigned bytes() const { return rows * k * elementBytes; }
  unsigned boxes() const { return kMajor ? 1 : rows / 64; }
  unsigned boxBytes() const { return bytes() / boxes(); }
  unsigned boxInner() const { return rowBytes() / elementBytes; }
  unsigned boxOuter() const { return kMajor ? rows : k; }
  /// Offset -> (row, k): what the copy engine leaves there.
  layout::Layout memory() const {
    auto swizzle = layout::Swizzle(rowBytes());
    return kMajor ? layout::copyBoxes(rows, k, elementBytes, swizzle)
                  : layout::copyBoxes(k, rows, elementBytes, swizzle).transposed();
  }
  layout::MatrixDescriptor descriptor() const { return *layout::matrixDescriptor(memory(), elementBytes); }
  /// Bytes from row 0 to row `row` (a multiple of 64).
  unsigned rowOffset(unsigned row) const { return kMajor ? row * rowBytes() : row / 64 * k * 128; }
};

class HopperGemm {
public:
  HopperGemm(lower::Emitter &e, const GemmKernel &gemm, const GemmSchedule &schedule, BlockMachine &machine);
  GpuInfo emit();

private:
  // -- the kernel
  void makeFunction();
  void initBarriers();
  /// Everything before the loops over tiles. Gives the producer's first work, where it `produces`.
  llvm::SmallVector<llvm::Value *> begin(llvm::Value *produces);
  void producer(llvm::SmallVector<llvm::Value *> start);
  void consumer();
  /// Sets what says where this thread is among the consumers.
  void locate();
  /// The consumer's loop over the stages of a tile: gives the ring's counter behind them, and sets `accumulators`. Emits `meanwhile`
  /// where the tensor cores still work on the last stages.
  llvm::Value *multiply(llvm::Value *ring, llvm::function_ref<void()> meanwhile);
  /// Runs body(i, ring) for i in [0, count); `ring` counts the stages of all tiles, and is returned as it is after the loop.
  llvm::Value *overStages(llvm::Value *count, llvm::Value *ring,
                          llvm::function_ref<void(llvm::Value *i, llvm::Value *ring)> body);
  /// Where a box begins in its tensor: a coordinate for each of its dimensions.
  llvm::SmallVector<llvm::Value *, 5> corner(const Box &box);
  /// What the producer needs to know of a program: both corners, and the number of stages.
  llvm::SmallVector<llvm::Value *> workOf(llvm::Value *number);
  /// `corner` is the first stage's; this one is at depth k.
  void load(bool isB, llvm::ArrayRef<llvm::Value *> corner, llvm::Value *k, llvm::Value *at, llvm::Value *full);
  /// Gives a stage back to the producer, if `condition` holds.
  void release(llvm::Value *ring, llvm::Value *condition);
  llvm::MDNode *neverUnrolled();
  llvm::Value *barrier(llvm::Value *ring, unsigned offset);
  llvm::Value *stageAddress(llvm::Value *ring);
  llvm::Value *parity(llvm::Value *ring);
  llvm::Value *stageCount();
  unsigned stageBytes() const { return layout[0].bytes() + layout[1].bytes(); } // that arrive
  unsigned pitch() const { return stagePitch(problemOf(gemm), schedule); }
  unsigned tilesOfConsumer() const { return gemm.m / 64 / schedule.consumers; }

  // -- the order of programs
  /// Finds out how the numbers of programs run over rows and columns of tiles.
  void findOrder();
  void probeOrder();
  /// Runs body for this block's tiles, with `tile` set; carries i32s.
  void overTiles(llvm::ArrayRef<llvm::Value *> start,
                 llvm::function_ref<llvm::SmallVector<llvm::Value *>(llvm::ArrayRef<llvm::Value *> carried)> body);
  /// Sets the program ids of the tile: a chain of divisions.
  void setTile(llvm::Value *tile);
  void setProgram(llvm::Value *number);
  llvm::Value *grouped(llvm::Value *number);
  /// Quotient and remainder; where it is `latencyBound`, without a division's many cycles where the dividend is the smaller one (for extents of 1).
  std::pair<llvm::Value *, llvm::Value *> divide(llvm::Value *dividend, llvm::Value *divisor);
  llvm::Value *scalar(mlir::Value value);
  /// In 32 bits: coordinates of the copy engine.
  llvm::Value *polynomial(const IndexPolynomial &p) { return polynomial(p, 32); }
  llvm::Value *polynomial(const IndexPolynomial &p, unsigned bits);

  // -- from the accumulators to memory
  void findOutput();
  void epilogue();
  void storeFromRegisters(lower::Evaluator &evaluator);
  void stageOutput(lower::Evaluator &evaluator);
  void stagePiece(lower::Evaluator &evaluator, unsigned tile, unsigned columns, llvm::Value *address);
  lower::Point pointOf(unsigned tile, unsigned j, unsigned half);
  /// The same of the stored tile, which may have more dimensions.
  lower::Point storedPoint(const lower::Point &point);
  llvm::Value *pairAt(lower::Evaluator &evaluator, unsigned tile, unsigned j, unsigned half);
  unsigned outputBytes() const { return gemm.output.getIntOrFloatBitWidth() / 8; }

  // -- helpers
  void when(llvm::Value *condition, llvm::function_ref<void()> then);
  llvm::ConstantInt *i32(int64_t value) { return b.getInt32(value); }
  llvm::BasicBlock *newBlock(const char *name = "") { return llvm::BasicBlock::Create(b.getContext(), name, function); }

  lower::Emitter &e;
  llvm::IRBuilder<> &b;
  BlockMachine &machine;
  GemmKernel gemm;
  const GemmSchedule &schedule;
  StageLayout layout[2]; // of A and B

  llvm::Function *function = nullptr;
  llvm::SmallVector<llvm::Value *> maps; // of A, B, C
  llvm::Value *shared = nullptr;         // where the block's shared memory begins
  llvm::Value *grid[3] = {}, *programs = nullptr;
  llvm::Value *base = nullptr, *thread = nullptr, *warpgroup = nullptr, *block = nullptr, *blocks = nullptr;
  llvm::DenseMap<mlir::Value, llvm::Value *> arguments;
  // order: programs of a plane run `inner` by `inner` along rows of tiles or along columns. Null: in their own order.
  llvm::Value *inner = nullptr, *innerIsRow = nullptr, *plane = nullptr;
  bool latencyBound = false; // branches around divisions are worth it: nothing else happens meanwhile
  // the current tile
  llvm::DenseMap<mlir::Value, llvm::Value *> scalars;
  llvm::Value *program[3] = {}, *tile = nullptr;
  llvm::SmallVector<llvm::Value *, 5> output; // where the copy engine stores
  // consumer
  llvm::Value *me = nullptr, *lane = nullptr, *warp = nullptr, *elected = nullptr, *barrierId = nullptr;
  llvm::SmallVector<llvm::SmallVector<llvm::Value *>> accumulators; // of each 64 x n tile
};

} // namespace tilery::cuda
