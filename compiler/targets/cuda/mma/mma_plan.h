#pragma once
// How one dot or contraction of the general path runs: instruction, warps, staging of the operands. A value, printed with the plan.
#include "compiler/layout/layout.h"
#include "compiler/lower/product.h"
#include "compiler/targets/cuda/ptx/mma_form.h"
#include "compiler/targets/cuda/ptx/target.h"
#include "compiler/ir/Tile.h"

namespace tilery::cuda {

/// An operand in shared memory, one stage of it: rows of m (of n for the second one) or, if not `kMajor`, rows of k. Rows are padded so
/// that what the lanes of a warp load together lies in different banks: to an odd number of 16 bytes where ldmatrix takes eight rows, to 32
/// bytes beyond a multiple of 128 where lanes load single elements of four rows of k.
struct MmaOperand {
  mlir::Value tile;
  bool isA = true, isUnsigned = false;
  bool lanesAlongK = true; // neighbours in memory
  bool kMajor = true;
  unsigned lanes = 1;                                 // elements that a thread moves at once, along k or along the rows
  int64_t total = 0, rows = 0, paddedRows = 0, k = 0; // of the tile; of a pass; those that fragments reach; of a stage
  unsigned elementBytes = 0;
  bool inRegisters = false; // not staged: its elements are where a product's result of this shape would be (ThreadMap)
  int64_t stride() const {  // bytes
    int64_t row = (kMajor ? k : paddedRows) * elementBytes;
    return kMajor || elementBytes == 2 ? (row + 15) / 16 * 16 | 16 : (row + 127) / 128 * 128 + 32;
  }
  /// (rows, k) -> Offset in elements.
  layout::Layout layout() const {
    int64_t line = stride() / elementBytes;
    layout::Layout result({{layout::Offset, line * (kMajor ? paddedRows : k)}});
    return result.add(layout::dim(0), paddedRows, {kMajor ? line : 1}).add(layout::dim(1), k, {kMajor ? 1 : line});
  }
  int64_t bytes() const { return inRegisters ? 0 : stride() * (kMajor ? paddedRows : k); }
};

struct MmaPlan : lower::ProductPlan {
  MmaForm form;
  int64_t batch = 1, m = 0, n = 0, k = 0; // k: of one step
  unsigned warpRows = 1, warpColumns = 1; // warps side by side; further warps repeat what these do
  unsigned tilesM = 1, tilesN = 1;        // 16 x 8 tiles of a warp
  int64_t passRows = 0, passColumns = 0;  // of the result, computed at once
  int64_t chunks = 1;                     // stages of one step
  unsigned stages = 1;                    // in flight
  MmaOperand a, b;
  bool wholeRows =
      false; // each warp has whole rows, and the tiles are the result's exactly: other nests can share elements like that

  int64_t passesM() const { return (m + passRows - 1) / passRows; }
  int64_t passesN() const { return (n + passColumns - 1) / passColumns; }
  int64_t stageBytes() const { return a.bytes() + b.bytes(); }
  /// Register, Warp -> tiles of 16 x 8 of a pass.
  layout::Layout tiles() const {
    layout::Layout result({{layout::dim(0), warpRows * tilesM}, {layout::dim(1), warpColumns * tilesN}});
    result.add(layout::Register, tilesN, {0, 1}).add(layout::Register, tilesM, {1, 0});
    return result.add(layout::Warp, warpColumns, {0, tilesN}).add(layout::Warp, warpRows, {tilesM, 0});
  }
  /// The result is read at once before and written at once after: its memory can hold the stages meanwhile.
  bool atOnce() const { return batch * passesM() * passesN() == 1; }
  void print(llvm::raw_ostream &stream) const override;
};

/// Threads for a kernel with dots: the user's num_warps, more where a thread could not hold its part of a result. 0 without dots.
unsigned mmaThreads(tile::KernelOp kernel);
/// `maxStages`: no more stages than that. `wholeRows`: wanted where it can be.
MmaPlan planMma(mlir::Operation *op, unsigned threads, unsigned maxStages, bool wholeRows = false);

} // namespace tilery::cuda
