#pragma once
// What passes and verifiers ask of an instruction that multiplies tiles, whatever it is called.
#include "compiler/block/forms/fragments.h"

namespace tilery::layout {

/// Of a product of m x n x k: multiples of these, and how its tiles lie in the registers of the warps that multiply together.
struct ProductForm {
  unsigned rows, columns, depthBytes;
  llvm::ArrayRef<Rows> orders; // of the rows of a tile that it has
  /// The sums, once they are waited for: rows x n.
  Layout (*sums)(unsigned n, Rows order);
  /// The first factor: rows x depthBytes of elements of so many bits.
  Layout (*factor)(unsigned bits, Rows order);
  /// Whether it reads a factor of (m or n, k) where it lies in shared memory.
  bool (*reads)(const Layout &memory, unsigned elementBytes);

  /// The order of rows with which the sums, the first factor in registers, are such tiles side by side; nothing: they lie otherwise.
  std::optional<Rows> orderOfSums(const Layout &layout) const;
  std::optional<Rows> orderOfFactor(const Layout &layout, unsigned bits) const;
};

/// wgmma: a warpgroup's, of shared memory as descriptors say it.
const ProductForm &warpgroupForm();
/// mma.sync: each warp's, with the rows of a warpgroup for all of its warps; of shared memory as ldmatrix reads it.
const ProductForm &warpForm();

} // namespace tilery::layout
