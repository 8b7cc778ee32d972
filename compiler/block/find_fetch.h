#pragma once
// Factors of products that are no boxes: tiles that threads compute element by element and write into a ring's slots.
#include "compiler/ir/Tile.h"

namespace tilery::block {

struct FetchedFactor {
  mlir::Value tile;    // of the op
  bool turned = false; // the factor is its transpose
  unsigned line = 0;   // the factor's dimension whose elements lie side by side in shared memory
  std::string noBox;   // why it is none
};

/// True if any thread can compute any element of the tile: elementwise work on loads, numbers and what shape ops show of them. Else `why`
/// says what it is.
bool canBeFetched(mlir::Value tile, std::string &why);
/// The dimension of a tile of rank 2 along which most of what it is loaded from has neighbours in memory; 1 where there is no such.
unsigned lineOf(mlir::Value tile);
/// Neighbours along a dimension that a thread best computes at a time, so that it loads and writes them at once.
unsigned widthOf(mlir::Value tile, unsigned line);

/// What fetching the tile once takes: accesses of a warp to memory and to shared memory, elements that are computed.
struct FetchAccesses {
  double loads = 0, stores = 0, lanes = 0;
};
FetchAccesses accessesOf(const FetchedFactor &factor);

} // namespace tilery::block
