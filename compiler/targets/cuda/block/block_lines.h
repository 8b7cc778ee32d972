#pragma once
// Lines of a tile in registers: the elements along one of its dimensions, which registers, lanes and warps hold.
#include "compiler/block/ir/Block.h"
#include "compiler/layout/layout.h"

namespace tilery::cuda {

/// Places of an axis that hold neighbours along the line, `step` elements apart: number / place % extent.
struct LineDigit {
  layout::Axis axis;
  int64_t place, extent, step;
};

/// Those of dimension `dim`, neighbours first; copies are none of them. Nothing where bits are flipped along it, where a digit moves along
/// other dimensions, too, where blocks of a cluster share it, where lanes are no powers of two, or where elements are missing.
std::optional<llvm::SmallVector<LineDigit>> digitsAlong(const layout::Layout &layout, unsigned dim);

/// There is code for the reduction or scan.
bool isCombined(mlir::Operation *op);

/// How many values, each of a warp, the threads of a role show each other where they combine or scan along `dim`.
int64_t valuesBetweenWarps(const layout::Layout &layout, unsigned dim, bool scans);

/// Bytes of shared memory through which the role's threads do so, of one instance.
unsigned bytesBetweenWarps(block::RoleOp role);

} // namespace tilery::cuda
