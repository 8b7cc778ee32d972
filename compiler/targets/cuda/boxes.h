#pragma once
// Accesses that the tensor copy engine can make: a box of a two-dimensional tensor whose extents the host knows.
#include "compiler/analysis/index_polynomial.h"
#include "tilery/runtime.h"

namespace tilery::cuda {
using analysis::IndexPolynomial;

/// A rank-2 access as a box of a tensor: element (i_0, i_1) of the tile is element (start[0] + i_0, start[1] + i_1) of the tensor, which
/// reads 0 and ignores writes outside [0, extent).
struct Box {
  mlir::Value base;        // the kernel's pointer argument
  unsigned contiguous = 1; // the tile dimension whose elements are neighbours in memory
  IndexPolynomial stride;  // elements from one to the next along the other dimension
  IndexPolynomial start[2], extent[2];
};

/// The box that `access` is; nothing if it has none that `kernel`'s host can describe: base, stride or extents depend on more than the
/// kernel's arguments, bounds or alignment do not allow it. live[d], if given: lanes from there on may hold anything, so that rows
/// numbered `(start + i) % rows` are those from start on, with zeros behind the last.
std::optional<Box> boxOf(tile::AccessOp access, tile::KernelOp kernel, llvm::ArrayRef<mlir::Value> live = {});
/// The host's part of it (runtime.h): boxes of `outer` rows of `inner` contiguous elements (32, 64 or 128 bytes, swizzled).
/// Adds it to the kernel's maps, with the conditions under which it is the access: the copy engine knows no empty tensor.
void describeBox(const Box &box, unsigned inner, unsigned outer, DType dtype, GpuInfo &kernel);

} // namespace tilery::cuda
