#pragma once
// Which layouts the operands and results of an op may have.
#include "compiler/block/ir/Block.h"
#include "compiler/block/forms/fragments.h"

namespace tilery::block {

/// The result's layout where it follows from the operands': expand_dims, permute, reduce, scan, reshape (where each dimension is a
/// digit or several of a place). Nothing for other ops.
std::optional<layout::Layout> resultLayout(mlir::Operation *op, const layout::Layout &operand);
/// The operand's layout where it follows from the result's: expand_dims, broadcast, permute, scan, both joins, reshape. Nothing for other ops.
std::optional<layout::Layout> operandLayout(mlir::Operation *op, const layout::Layout &result);
/// True if `op` gives or takes tiles of any layouts: splats, ranges, constants, what moves tiles, control flow.
bool takesAnyLayout(mlir::Operation *op);

/// Computed from what is stored nowhere by ops that any thread can do again.
bool canBeComputedAnywhere(mlir::Value tile);

/// The dimension of a stored tile along which a role's warpgroups deal its boxes out, each a part as large: the first that can be divided so;
/// the tile's rank if none can, and one warpgroup stores all.
unsigned storedAlong(SharedType shared, MapType map, unsigned warpgroups);

/// How the 64 rows of a product of a warpgroup lie among those of the sum's tile: a first factor of bytes that lie across k comes from shared
/// memory in pairs of rows.
layout::Rows rowsOf(MmaStartOp start);

/// Elementwise ops have tiles of one layout; ops that add, repeat, exchange or drop dimensions have the layouts that follow. Errors name
/// the op. A tile without a layout has another one than those with.
mlir::LogicalResult verifyLayouts(mlir::Operation *root);

} // namespace tilery::block
