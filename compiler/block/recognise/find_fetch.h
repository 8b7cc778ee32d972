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
/// says what it is. `regroups`: its elements may also be those of a tile of another shape (halves of bytes side by side).
bool canBeFetched(mlir::Value tile, std::string &why, bool regroups = false);
/// How many different elements of memory a load takes, as far as constants say.
int64_t differentElements(tile::LoadOp load);
/// How the threads of a role share a fetched tile of rank 2.
struct FetchShape {
  unsigned line = 1;  // the dimension along which
  unsigned width = 1; // a thread has so many neighbours at a time,
  unsigned lanes = 1; // and so many lanes lie side by side
  /// Along the other dimension a thread has so many neighbours, which it loads at once and turns in its registers.
  unsigned across = 1;
  double cycles = 0;  // of an SM, by the model
  unsigned words = 0; // registers of what its loads bring, of a thread of one warpgroup: as many bytes as an access has
};
/// The cheapest, by where its loads' elements lie (as far as constants say), how many accesses they take and what places cost to compute.
/// `line`: it is given.
FetchShape shapeOf(mlir::Value tile, std::optional<unsigned> line = {});

/// Cycles of an SM that elementwise work on the tile's elements takes at least, one instruction an op (functions and divisions: some).
double workOf(mlir::Value tile);
/// The dimension along which 16 bytes of a tile of rank 2 are a piece of memory that threads copy at once, but for what lies behind a bound:
/// the tile is loaded, and lanes that do not exist are 0. Nothing: it is otherwise.
std::optional<unsigned> copiedLine(mlir::Value tile);

} // namespace tilery::block
