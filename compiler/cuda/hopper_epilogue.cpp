// From the accumulators to memory: elementwise work by the evaluator, then copy-engine stores from shared memory, or plain ones.
#include "compiler/cuda/hopper_emitter.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
constexpr unsigned pieceBytes = 64 * 128; // of the result: 64 rows of 128 bytes, swizzled as the copy engine wants them
}

// Where a thread's accumulators 4 j + 2 half and the next one are in the program's tile: neighbours of one row.
cpu::Point HopperGemm::pointOf(unsigned tile, unsigned j, unsigned half) {
  llvm::Value *row = b.CreateAdd(b.CreateLShr(lane, 2), b.CreateShl(warp, 4));
  row = b.CreateAdd(row, b.CreateMul(me, i32(64 * tilesOfConsumer())));
  row = b.CreateAdd(row, i32(64 * tile + 8 * half));
  llvm::Value *column = b.CreateAdd(b.CreateShl(b.CreateAnd(lane, i32(3)), 1), i32(8 * j));
  auto index = [&](llvm::Value *at, int64_t step) {
    cpu::Index result;
    result.base = b.CreateZExt(at, b.getInt64Ty());
    result.step = step;
    result.multiple = step ? 2 : 1;
    return result;
  };
  return {index(row, 0), index(column, 1)};
}

// The stored value there.
llvm::Value *HopperGemm::pairAt(cpu::Evaluator &evaluator, unsigned tile, unsigned j, unsigned half) {
  cpu::Point point = pointOf(tile, j, half);
  llvm::Type *type = accumulators[tile][0]->getType();
  llvm::Value *pair = llvm::PoisonValue::get(llvm::FixedVectorType::get(type, 2));
  for (unsigned i = 0; i < 2; ++i)
    pair = b.CreateInsertElement(pair, accumulators[tile][4 * j + 2 * half + i], uint64_t(i));
  evaluator.lanes = 2;
  evaluator.provide(gemm.product->getResult(0), point, pair);
  return e.splat(evaluator.value(gemm.store.getValue(), point), 2);
}

// Divisions by the grid's extents are many cycles: here, not where stores wait for them.
void HopperGemm::findOutput() {
  if (schedule.stageOutput)
    for (unsigned d = 0; d < 2; ++d)
      output[d] = ptx.here(polynomial(gemm.c->start[d]));
}

void HopperGemm::epilogue() {
  cpu::Plan plan; // nothing is stored: every value is computed where it is used
  cpu::Evaluator evaluator(e, plan);
  for (auto [value, emitted] : arguments)
    evaluator.scalars[value] = emitted;
  // Scalars that the stored value and its place are computed from.
  for (Operation &op : *gemm.product->getBlock())
    if (op.getNumResults() == 1 && !isa<RankedTensorType>(op.getResult(0).getType()) &&
        (cpu::isElementwise(&op) || isa<tile::ProgramIdOp, tile::NumProgramsOp>(op)))
      evaluator.scalars[op.getResult(0)] = scalar(op.getResult(0));
  schedule.stageOutput ? stageOutput(evaluator) : storeFromRegisters(evaluator);
}

void HopperGemm::storeFromRegisters(cpu::Evaluator &evaluator) {
  for (unsigned t = 0; t < tilesOfConsumer(); ++t)
    for (unsigned j = 0; j < gemm.n / 8; ++j)
      for (unsigned half = 0; half < 2; ++half) {
        llvm::Value *value = pairAt(evaluator, t, j, half);
        evaluator.store(evaluator.address(gemm.store.getPlace(), pointOf(t, j, half)), value);
      }
}

// The 16-byte chunks of a row are numbered xor the row. 16-bit results go four matrices at a time; of 32 bits a thread's two neighbours.
void HopperGemm::stagePiece(cpu::Evaluator &evaluator, unsigned tile, unsigned columns, llvm::Value *address) {
  llvm::Value *low = b.CreateAnd(lane, i32(7)), *warpRow = b.CreateShl(warp, 4);
  if (outputBytes() == 2) {
    llvm::Value *row = b.CreateAdd(b.CreateAdd(warpRow, b.CreateAnd(lane, i32(8))), low);
    llvm::Value *rowAddress = b.CreateAdd(address, b.CreateShl(row, 7));
    for (unsigned j = 0; j < 8; j += 2) {
      SmallVector<llvm::Value *> registers;
      for (unsigned r = 0; r < 4; ++r)
        registers.push_back(b.CreateBitCast(pairAt(evaluator, tile, columns / 8 + j + r / 2, r % 2), b.getInt32Ty()));
      llvm::Value *chunk = b.CreateXor(b.CreateAdd(b.CreateLShr(lane, 4), i32(j)), low);
      ptx.storeMatrices(b.CreateAdd(rowAddress, b.CreateShl(chunk, 4)), registers);
    }
    return;
  }
  llvm::Value *row = b.CreateLShr(lane, 2), *pair = b.CreateAnd(lane, i32(3));
  llvm::Value *rowAddress =
      b.CreateAdd(b.CreateAdd(address, b.CreateShl(b.CreateAdd(warpRow, row), 7)), b.CreateShl(b.CreateAnd(pair, i32(1)), 3));
  for (unsigned j = 0; j < 4; ++j) {
    llvm::Value *chunk = b.CreateXor(b.CreateAdd(b.CreateLShr(pair, 1), i32(2 * j)), row);
    llvm::Value *at = b.CreateAdd(rowAddress, b.CreateShl(chunk, 4));
    for (unsigned half = 0; half < 2; ++half)
      ptx.storePair(b.CreateAdd(at, i32(half * 8 * 128)), pairAt(evaluator, tile, columns / 8 + j, half));
  }
}

// Where shared memory holds only a part of the result, the two halves of that part are used by turns: one is written while the copy
// engine reads the other. Their number of uses a tile is even, so that the turns go on in the next tile.
void HopperGemm::stageOutput(cpu::Evaluator &evaluator) {
  unsigned perPiece = 128 / outputBytes(), perTile = gemm.n / perPiece, pieces = tilesOfConsumer() * perTile;
  unsigned held = schedule.stageOutput, turn = held == pieces ? pieces : held / 2;
  unsigned ringEnd = barrierBytes + schedule.stages * stageBytes();
  llvm::Value *buffer = b.CreateAdd(base, b.CreateAdd(b.CreateMul(me, i32(held * pieceBytes)), i32(ringEnd)));
  llvm::Value *row = b.CreateAdd(output[0], b.CreateMul(me, i32(64 * tilesOfConsumer()))), *column = output[1];
  auto place = [&](unsigned piece) { return b.CreateAdd(buffer, i32(piece % held * pieceBytes)); };
  for (unsigned first = 0; first < pieces; first += turn) {
    when(elected, [&] { ptx.waitStores(true, held == pieces ? 0 : 1); }); // the last stores from here have left this memory
    ptx.namedBarrier(barrierId, 128);
    for (unsigned piece = first; piece < first + turn; ++piece)
      stagePiece(evaluator, piece / perTile, piece % perTile * perPiece, place(piece));
    ptx.fenceProxy();
    ptx.namedBarrier(barrierId, 128);
    when(elected, [&] {
      for (unsigned piece = first; piece < first + turn; ++piece)
        ptx.storeBox(maps[2], b.CreateAdd(column, i32(piece % perTile * perPiece)), b.CreateAdd(row, i32(piece / perTile * 64)),
                     place(piece));
      ptx.commitStores();
    });
  }
}

} // namespace tilery::cuda
