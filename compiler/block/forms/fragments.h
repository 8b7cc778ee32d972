#pragma once
// How matrix instructions hold tiles in registers, and which of their loads and stores a layout can use.
#include "compiler/layout/layout.h"

namespace tilery::layout {

/// The 8x8 matrix of 16-bit elements that ldmatrix and stmatrix move: each lane holds two neighbours of a row (of a column, transposed).
Layout matrixTile(bool transposed = false);

/// The first operand and the result of mma.sync.m16n8 whose k extends over 32 bytes (m16n8k16 of 16-bit elements, m16n8k8 of tf32, m16n8k32
/// of 8-bit ones): a 16 x k, accumulator 16 x 8. `bits`: of an element, 8 to 32.
Layout mmaOperandA(unsigned bits);
Layout mmaAccumulator();

/// Which row of a tile is which of the 64 of a product of a warpgroup. Paired: of each 16, rows 2r and 2r + 1 are those that one lane holds
/// (r and r + 8), as elements of a byte come from shared memory in pairs where they lie across k.
enum class Rows { InOrder, Paired };
/// The accumulator of wgmma in the four warps of a warpgroup: 64 x n, n a multiple of 8.
Layout wgmmaAccumulator(unsigned n, Rows rows = Rows::InOrder);
/// The a operand of wgmma from registers: 64 x k, k of 32 bytes.
Layout wgmmaOperandA(unsigned bits, Rows rows = Rows::InOrder);

/// How ldmatrix or stmatrix moves a tile.
struct MatrixMove {
  unsigned matrices; // 1, 2 or 4 of an instruction
  bool transposed;   // .trans
  /// The coordinates of the first of the 8 neighbours that a lane's address names. Lane: 8 * matrices of them; Register: the number of the
  /// instruction, which moves the next 2 * matrices elements of each lane; other axes as they were.
  Layout addresses;
};
/// The instruction that moves 16-bit elements between `registers` (Register, Lane, ... -> dimensions) and `memory` (dimensions -> Offset,
/// in elements, which starts at a multiple of 16 bytes); nothing if there is none.
std::optional<MatrixMove> matrixMove(const Layout &registers, const Layout &memory);

/// The instruction that brings bytes which lie across k to `registers` that hold them as wgmmaOperandA(8, Paired) does: four transposed
/// matrices of 8 rows of memory each, which are of 8 numbers of k. A lane gets pairs of rows, of two numbers of k each: with t = lane % 4, the
/// first and the second word are of k = 4t and 4t + 1, and 4t + 2 and 4t + 3, for t = 2 and 3 the other way round (so that eight rows lie in
/// different banks of swizzled memory); the third and the fourth of those 16 further on. Register: the number of the instruction; Lane, Warp:
/// the element whose 16 bytes the lane's address names. Nothing if memory (dimensions -> Offset, in bytes) has no 16 neighbours along the rows.
std::optional<Layout> turnedBytes(const Layout &registers, const Layout &memory);

} // namespace tilery::layout
