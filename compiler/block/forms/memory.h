#pragma once
// Tiles in shared memory: the copy engine's swizzles, the tensor cores' descriptors of them, banks and vectors.
#include "compiler/layout/layout.h"

namespace tilery::layout {

/// Chunks of 16 bytes, numbered within a row of this many bytes, are at the place (chunk xor row): tensor maps and wgmma know these.
enum class Swizzle : unsigned { None = 16, B32 = 32, B64 = 64, B128 = 128 };

/// What a box of the copy engine leaves in memory (starting at a multiple of 1024 bytes): Offset -> (outer, inner). `inner` is at most the
/// swizzle's row of bytes, `elementBytes` 1, 2, 4 or 8.
Layout copyBox(int64_t outer, int64_t inner, unsigned elementBytes, Swizzle swizzle);
/// Boxes one after the other along the inner dimension, `inner` elements in all: how a tile wider than the swizzle's row is held.
Layout copyBoxes(int64_t outer, int64_t inner, unsigned elementBytes, Swizzle swizzle);
/// The swizzle for which `memory` (Offset -> (outer, inner)) is what copyBoxes gives; nothing if there is none.
std::optional<Swizzle> swizzleOf(const Layout &memory, unsigned elementBytes);

/// What wgmma is told of an operand in shared memory, beside its address.
struct MatrixDescriptor {
  bool kMajor; // k is contiguous
  Swizzle swizzle;
  unsigned leading; // bytes between blocks of a swizzle's row along m or n; without meaning (16) where k is contiguous
  unsigned stride;  // bytes between groups of eight rows
  unsigned kStep;   // bytes from one group of 32 bytes of k (k-major), or of 16 k, to the next

  /// The descriptor's bits without those of the address (PTX ISA, "Matrix Descriptor").
  uint64_t bits() const;
};
/// For an operand `memory`: Offset -> (m or n, k) of elements of `elementBytes`, which starts at a multiple of 1024 bytes; nothing if the
/// tensor cores cannot read it so.
std::optional<MatrixDescriptor> matrixDescriptor(const Layout &memory, unsigned elementBytes);

/// How many elements along `axis`, from each multiple of this power of two on, are neighbours in memory (`memory`: dimensions -> Offset).
int64_t contiguous(const Layout &memory, Axis axis);
/// Elements that one load or store of at most `maxBytes` moves: the first registers of each lane are neighbours and aligned.
/// `access`: Register, Lane, ... -> Offset in elements.
unsigned widestVector(const Layout &access, unsigned elementBytes, unsigned maxBytes = 16);

/// Passes that an access of one warp takes through the 32 banks of 4 bytes: what it needs, and the least that its bytes allow.
struct BankUse {
  unsigned passes, least;
};
/// `access`: Lane -> Offset in bytes of the lane's `bytes` (1 to 16). Also for ldmatrix and stmatrix, whose rows are 16 bytes a lane.
BankUse bankUse(const Layout &access, unsigned bytes);

} // namespace tilery::layout
