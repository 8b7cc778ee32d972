#pragma once
// The block dialect: types, attributes and ops. Formal text of each op: the .td files beside this one and docs/reference/block.md.
#include "compiler/ir/Tile.h"
#include "compiler/layout/layout.h"
#include "mlir/IR/TensorEncoding.h"

#include "compiler/block/ir/BlockDialect.h.inc"
#include "compiler/block/ir/BlockEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/block/ir/BlockAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/block/ir/BlockTypes.h.inc"
#define GET_OP_CLASSES
#include "compiler/block/ir/BlockOps.h.inc"

namespace tilery::block {

/// The layout of a tile in registers; null if it has none.
LayoutAttr layoutOf(mlir::Type type);
/// Blocks of the clusters that run the kernel around `op` (`block.cluster`, else 1).
int64_t clusterSize(mlir::Operation *op);
/// Bytes of shared memory that the rings and allocations of a kernel take, each at a multiple of 1024; up to and with `last`, if given.
int64_t sharedBytes(tile::KernelOp kernel, mlir::Operation *last = nullptr);
constexpr int64_t sharedLimit = 227 * 1024;

/// The dimension of the map that each dimension of a tile walks (-1: it has size 1); nothing if boxes of the map do not cover such a tile.
std::optional<llvm::SmallVector<int, 5>> walkedDimensions(MapType map, llvm::ArrayRef<int64_t> shape);

/// By how many arrivals an instance of `role` frees a slot of `ring`: 0 if it does not take its slots.
unsigned arrivalsOf(RoleOp role, mlir::Value ring);

} // namespace tilery::block
