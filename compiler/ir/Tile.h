#pragma once
// The tile dialect: types, attributes and ops. Formal text of each op: the .td files beside this one and docs/reference/ir.md.
#include "compiler/pch.h"

namespace tilery::tile {
enum class Space : uint32_t;
/// True for what a tile program may hold in a variable: int, index-free float, pointer, or a static ranked tensor of those.
bool isTileValue(mlir::Type type);
/// The shape of a tile value: empty for a scalar.
llvm::ArrayRef<int64_t> shapeOf(mlir::Type type);
/// `shape` x `element` as a tile value: the element itself for an empty shape.
mlir::Type tileOf(llvm::ArrayRef<int64_t> shape, mlir::Type element);
/// True if the two are one type but for encodings of tiles, which the ops of this dialect do not look at.
bool sameTile(mlir::Type a, mlir::Type b);
/// Bytes of an element in memory (booleans one, pointers eight).
unsigned elementBytes(mlir::Type element);
/// Verifies that `value` fits `place` and that no const pointer is written through.
mlir::LogicalResult verifyWritable(mlir::Operation *op, mlir::Value place, mlir::Value value);

// What effects name. Volatile, acquire and release accesses touch all of them.
struct GlobalMemory : mlir::SideEffects::Resource::Base<GlobalMemory> {
  llvm::StringRef getName() final { return "global memory"; }
};
struct BufferMemory : mlir::SideEffects::Resource::Base<BufferMemory> {
  llvm::StringRef getName() final { return "buffers"; }
};
struct Synchronisation : mlir::SideEffects::Resource::Base<Synchronisation> {
  llvm::StringRef getName() final { return "synchronisation"; }
};
struct InputOutput : mlir::SideEffects::Resource::Base<InputOutput> {
  llvm::StringRef getName() final { return "input and output"; }
};
} // namespace tilery::tile

#include "compiler/ir/TileEnums.h.inc"
#include "compiler/ir/TileDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/ir/TileTypes.h.inc"
#define GET_OP_CLASSES
#include "compiler/ir/TileOps.h.inc"
