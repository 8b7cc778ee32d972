#pragma once
// Which memory loads and stores may touch, and whether they may meet.
#include "compiler/ir/Tile.h"

namespace tilery::lower {

/// What memory an access may touch.
struct MemoryClass {
  enum Kind { Argument, Unknown, Buffer } kind;
  const void *which = nullptr; // kernel argument or tile.alloc
};
MemoryClass classOfPlace(mlir::Value place); // of a load's or store's access
MemoryClass classOfPointer(mlir::Value pointer);
MemoryClass classOfBuffer(mlir::Value buffer); // of a buffer value
bool mayAlias(MemoryClass a, MemoryClass b, bool disjoint);

/// True if two accesses surely put each element at the same address, and no two elements at one address.
bool samePattern(mlir::Value place, mlir::Value other);

/// A load of a tile, from an access or a buffer. Null: no.
bool isLoad(mlir::Operation *op);
/// Of such a load.
MemoryClass classOfLoad(mlir::Operation *load);
/// What an op with a write effect may change; false if it changes no memory that tiles are loaded from.
bool classOfWrite(mlir::Operation *op, MemoryClass &result);
/// An atomic update that releases: whoever sees it may then overwrite what was read before it. Tiles of which no order or scope is said (which
/// have both orders, among the GPU's programs) are taken for sums, which nobody waits for.
bool isSignal(mlir::Operation *write);
/// The load reads, element by element, exactly what the write overwrites.
bool sameElements(mlir::Operation *load, mlir::Operation *write);

} // namespace tilery::lower
