#pragma once
// The register micro-kernel of `dot`: one sliver of A times one sliver of B, accumulators in registers, K loop outside, no masks inside.
#include "compiler/targets/cpu/target.h"
#include "compiler/pch.h"

namespace tilery::cpu {

/// How a dimension of `size` elements is cut: `wide` slivers of `width` elements, then slivers of `width - unit` (the last one may be cut short).
struct Cut {
  unsigned size = 0, unit = 1, width = 0, wide = 0, slivers = 0;
  /// First element of sliver `i`, which may equal `slivers`.
  unsigned start(unsigned i) const { return i * width - (i > wide ? (i - wide) * unit : 0); }
  /// The width that all slivers have; 0: they differ.
  unsigned onlyWidth() const { return slivers == 1 ? size : size == slivers * width ? width : 0; }
};

/// What an instruction multiplies: single elements, or several neighbours along K, which an element of a panel (a word of 32 bits) then holds.
enum class Multiply {
  single,
  bf16Pairs,  ///< vdpbf16ps: two bf16 values, the first in the high half
  int16Pairs, ///< vpmaddwd: two 16-bit integers, the first in the low half, as in all that follow
  int8Quads, ///< vpdpbusd: four bytes, one operand's signed, the other's not (`alike`: sdot, udot); else B's have the highest bit flipped
  bf16Tiles, ///< tdpbf16ps of AMX
  int8Tiles, ///< tdpb??d of AMX: four bytes
};
/// Values of K in a word.
unsigned packOf(Multiply multiply);
inline bool inTiles(Multiply multiply) { return multiply == Multiply::bf16Tiles || multiply == Multiply::int8Tiles; }

/// Register blocking of one dot for one instruction set: every kernel computes rows x (vectors * lanes) elements.
struct DotBlocking {
  unsigned lanes = 1;                        ///< of a vector of the compute type
  Cut rows;                                  ///< of M, unit 1
  Cut columns;                               ///< of N, unit `lanes`; padded to whole vectors
  unsigned unroll = 1;                       ///< steps of K per iteration; K is a multiple of it
  Multiply multiply = Multiply::single;      ///< k counts words
  bool aUnsigned = false, bUnsigned = false; ///< int8Tiles, int8Quads: what the bytes are
  bool alike = false;                        ///< int8Quads: the instruction takes bytes of one kind
  bool flipsB() const { return multiply == Multiply::int8Quads && (aUnsigned == bUnsigned) != alike; }
  /// Words of K that lie side by side in a row of A's panels, 0: one. A sliver of A then is [k / rowDepth][rows][rowDepth]: as AMX's tile
  /// registers are loaded; and what lies along K is copied, where it would be transposed.
  unsigned rowDepth = 0;
  /// One sliver of A times all slivers of B, then the next: else one sliver of B times all of A. The 2 MiB of L2 and the prefetcher of a
  /// Xeon want the former (243 of 247 GFLOP/s against 239), the 512 KiB of a Zen 3 the latter.
  bool rowsOuter = false;
  /// Elements of a packed panel of A or B with `k` steps: slivers one after another, each [k][sliver width].
  int64_t panelA(int64_t k) const { return int64_t(rows.size) * k; }
  int64_t panelB(int64_t k) const { return int64_t(columns.start(columns.slivers)) * k; }
};

/// Of steps of `words`: the largest power of two that divides them, at most `most` (also a power of two; of AMX's tile registers).
unsigned rowDepth(unsigned words, unsigned most = 16);

/// Blocking for an M x N tile whose K is a multiple of `kMultiple` words. `elementBits`: of the compute type.
DotBlocking chooseBlocking(const CpuTarget &target, unsigned m, unsigned n, unsigned kMultiple, unsigned elementBits,
                           Multiply multiply = Multiply::single, bool aUnsigned = false, bool bUnsigned = false);

/// A's rows lie along K in panels from now on (DotBlocking::rowDepth), of steps of `words`, where the kernel can read them so.
void layRows(DotBlocking &blocking, const CpuTarget &target, unsigned words);

/// The kernel function for `rows` rows and `columns` elements (<= vectors * lanes) of a row-major C with `ldc` elements a row:
///   void (const T *a, const T *b, int64_t k, T *c, int64_t ldc, bool accumulate): c = (accumulate ? c : 0) + a * b, products added in increasing k.
/// a: [k][pitch], of which the first `rows` are used (or as DotBlocking::rowDepth says), b: [k][vectors * lanes]. T is f32, f64, i32 or i64; pairs and tiles of bf16 need f32, those of integers and quads i32,
/// all need what they are named after; tiles are configured (dot_tiles.h) around calls. One function per shape: found in `module` if it exists already.
llvm::Function *dotKernel(llvm::Module &module, const DotBlocking &blocking, llvm::Type *compute, unsigned rows, unsigned columns,
                          unsigned pitch);

} // namespace tilery::cpu
