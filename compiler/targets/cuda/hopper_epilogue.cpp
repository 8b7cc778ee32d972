// From the accumulators to memory: elementwise work by the evaluator, then copy-engine stores from shared memory, or plain ones.
#include "compiler/targets/cuda/emit_layout.h"
#include "compiler/targets/cuda/hopper_emitter.h"
#include "compiler/layout/fragments.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
constexpr unsigned pieceBytes = 64 * 128; // of the result: 64 rows of 128 bytes, swizzled as the copy engine wants them
}

// Where a thread's accumulators 4 j + 2 half and the next one are in the program's tile: neighbours of one row.
lower::Point HopperGemm::pointOf(unsigned tile, unsigned j, unsigned half) {
  auto inTile = emitLayout(b, layout::wgmmaAccumulator(gemm.n),
                           {{layout::Register, i32(4 * j + 2 * half)}, {layout::Lane, lane}, {layout::Warp, warp}});
  llvm::Value *row = b.CreateAdd(inTile[0], b.CreateMul(me, i32(64 * tilesOfConsumer())));
  row = b.CreateAdd(row, i32(64 * tile));
  auto index = [&](llvm::Value *at, int64_t step) {
    lower::Index result;
    result.base = b.CreateZExt(at, b.getInt64Ty());
    result.step = step;
    result.multiple = step ? 2 : 1;
    return result;
  };
  return {index(row, 0), index(inTile[1], 1)};
}

lower::Point HopperGemm::storedPoint(const lower::Point &point) {
  lower::Index none;
  none.base = b.getInt64(0);
  none.multiple = 0;
  lower::Point result;
  for (int dimension : gemm.stored)
    result.push_back(dimension < 0 ? none : point[dimension]);
  return result;
}

// The stored value there.
llvm::Value *HopperGemm::pairAt(lower::Evaluator &evaluator, unsigned tile, unsigned j, unsigned half) {
  lower::Point point = pointOf(tile, j, half);
  llvm::Type *type = accumulators[tile][0]->getType();
  llvm::Value *pair = llvm::PoisonValue::get(llvm::FixedVectorType::get(type, 2));
  for (unsigned i = 0; i < 2; ++i)
    pair = b.CreateInsertElement(pair, accumulators[tile][4 * j + 2 * half + i], uint64_t(i));
  evaluator.provide(gemm.product->getResult(0), point, pair);
  return e.splat(evaluator.value(gemm.store.getValue(), storedPoint(point)), 2);
}

// Divisions by the grid's extents are many cycles: here, not where stores wait for them.
void HopperGemm::findOutput() {
  if (schedule.stageOutput)
    for (llvm::Value *&coordinate : output = corner(*gemm.c))
      coordinate = machine.here(e, coordinate);
}

void HopperGemm::epilogue() {
  lower::Plan plan; // nothing is stored: every value is computed where it is used
  lower::Evaluator evaluator(e, plan);
  evaluator.arena = shared; // read in place of elements that do not exist
  for (auto [value, emitted] : arguments)
    evaluator.scalars[value] = emitted;
  // Scalars that the stored value and its place are computed from.
  for (Operation &op : *gemm.product->getBlock()) {
    if (op.getNumResults() != 1 || isa<RankedTensorType>(op.getResult(0).getType()))
      continue;
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      lower::Address where = evaluator.address(load.getPlace(), {});
      llvm::Value *other = load.getOther() && where.exists ? evaluator.scalar(load.getOther()) : nullptr;
      scalars[load] = evaluator.scalars[load] = evaluator.load(where, other);
    } else if (lower::isElementwise(&op) || isa<tile::ProgramIdOp, tile::NumProgramsOp>(op)) {
      evaluator.scalars[op.getResult(0)] = scalar(op.getResult(0));
    }
  }
  lower::Evaluator::Vector pairs(evaluator, 2);
  schedule.stageOutput ? stageOutput(evaluator) : storeFromRegisters(evaluator);
}

void HopperGemm::storeFromRegisters(lower::Evaluator &evaluator) {
  for (unsigned t = 0; t < tilesOfConsumer(); ++t)
    for (unsigned j = 0; j < gemm.n / 8; ++j)
      for (unsigned half = 0; half < 2; ++half) {
        llvm::Value *value = pairAt(evaluator, t, j, half);
        evaluator.store(evaluator.address(gemm.store.getPlace(), storedPoint(pointOf(t, j, half))), value);
      }
}

// 16-bit results go four matrices at a time; of 32 bits a thread's two neighbours.
void HopperGemm::stagePiece(lower::Evaluator &evaluator, unsigned tile, unsigned columns, llvm::Value *address) {
  unsigned bytes = outputBytes(), across = 128 / bytes;
  layout::Layout registers = layout::wgmmaAccumulator(across),
                 memory = *layout::invert(layout::copyBox(64, across, bytes, layout::Swizzle::B128));
  auto emitAddress = [&](const layout::Layout &places, unsigned number) {
    llvm::Value *element = emitLayout(b, *layout::compose(memory, places),
                                      {{layout::Register, i32(number)}, {layout::Lane, lane}, {layout::Warp, warp}})[0];
    return b.CreateAdd(address, b.CreateMul(element, i32(bytes)));
  };
  if (bytes == 2) {
    layout::MatrixMove move = *layout::matrixMove(registers, memory);
    for (unsigned j = 0; j < 8; j += 2) {
      SmallVector<llvm::Value *> four;
      for (unsigned r = 0; r < 4; ++r)
        four.push_back(b.CreateBitCast(pairAt(evaluator, tile, columns / 8 + j + r / 2, r % 2), b.getInt32Ty()));
      machine.storeMatrices(e, emitAddress(move.addresses, j / 2), four, move.transposed);
    }
    return;
  }
  for (unsigned j = 0; j < 4; ++j)
    for (unsigned half = 0; half < 2; ++half)
      machine.storeShared(e, emitAddress(registers, 4 * j + 2 * half), pairAt(evaluator, tile, columns / 8 + j, half),
                          /*peer=*/false);
}

// Where shared memory holds only a part of the result, the two halves of that part are used by turns: one is written while the copy
// engine reads the other. Their number of uses a tile is even, so that the turns go on in the next tile.
void HopperGemm::stageOutput(lower::Evaluator &evaluator) {
  unsigned perPiece = 128 / outputBytes(), perTile = gemm.n / perPiece, pieces = tilesOfConsumer() * perTile;
  unsigned held = schedule.stageOutput, turn = held == pieces ? pieces : held / 2;
  unsigned ringEnd = barrierBytes + schedule.stages * pitch();
  llvm::Value *buffer = b.CreateAdd(base, b.CreateAdd(b.CreateMul(me, i32(held * pieceBytes)), i32(ringEnd)));
  llvm::Value *row = b.CreateMul(me, i32(64 * tilesOfConsumer()));
  auto place = [&](unsigned piece) { return b.CreateAdd(buffer, i32(piece % held * pieceBytes)); };
  for (unsigned first = 0; first < pieces; first += turn) {
    when(elected,
         [&] { machine.waitStores(e, true, held == pieces ? 0 : 1); }); // the last stores from here have left this memory
    machine.namedBarrier(e, barrierId, 128);
    for (unsigned piece = first; piece < first + turn; ++piece)
      stagePiece(evaluator, piece / perTile, piece % perTile * perPiece, place(piece));
    machine.fenceProxy(e);
    machine.namedBarrier(e, barrierId, 128);
    when(elected, [&] {
      for (unsigned piece = first; piece < first + turn; ++piece) {
        SmallVector<llvm::Value *, 5> coordinates(output);
        for (auto [coordinate, dimension] : llvm::zip(coordinates, gemm.c->dimensions))
          if (dimension.tile >= 0)
            coordinate = b.CreateAdd(coordinate, dimension.tile ? i32(piece % perTile * perPiece)
                                                                : b.CreateAdd(row, i32(piece / perTile * 64)));
        machine.storeBox(e, maps[2], coordinates, place(piece), /*add=*/false);
      }
      machine.commitStores(e);
    });
  }
}

} // namespace tilery::cuda
