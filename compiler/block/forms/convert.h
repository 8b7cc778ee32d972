#pragma once
// From one distribution of a tile over registers, lanes and warps to another.
#include "compiler/layout/layout.h"

namespace tilery::layout {

enum class ConversionKind {
  None,         // every register holds what it must
  Registers,    // each lane has what it needs, in other registers (the same ones in all lanes)
  Shuffles,     // each warp has what it needs
  SharedMemory, // some warp needs what only another has
};

/// How a warp moves a tile between registers and shared memory: the widest vectors, or ldmatrix or stmatrix where that takes no longer.
struct Transfer {
  unsigned bytes; // of one access of a lane
  unsigned passes,
      least; // through the banks, of one warp for the whole tile: what it takes, and the least that such accesses can
  bool matrix;
};
/// `registers`: Register, Lane, Warp -> dimensions; `memory`: dimensions -> Offset in elements. Nothing if the two do not compose.
std::optional<Transfer> cheapestTransfer(const Layout &registers, const Layout &memory, unsigned elementBytes);

/// How shared memory carries a tile: its place there and how it is written and read.
struct Exchange {
  Layout memory;                    // dimensions -> Offset in elements
  unsigned storeBytes, loadBytes;   // of one access of a lane
  unsigned storePasses, loadPasses; // through the banks, of one warp for the whole tile
  bool storeMatrix, loadMatrix;     // stmatrix, ldmatrix (16-bit elements)
};

struct Conversion {
  ConversionKind kind;
  /// (Register, Lane, Warp) of `to` -> that of `from`, which holds the same element, in the same warp and lane where it can;
  /// nothing if only the exchange is known.
  std::optional<Layout> source;
  unsigned shuffles = 0; // of one warp: one an element of `to`, times the registers between which lanes must choose
  std::optional<Exchange> exchange;
};

/// The cheapest way from `from` to `to` (Register, Lane, Warp -> the same dimensions), for elements of `elementBytes`: each kind is
/// cheaper than those after it, except that many shuffles cost more than shared memory. Places that hold copies may be used alike.
Conversion cheapestConversion(const Layout &from, const Layout &to, unsigned elementBytes);

/// The arrangement in shared memory that takes the fewest passes of `store` and `load` (tiles of rank 2: rows or columns contiguous, plain,
/// swizzled or with 16 bytes between rows; of other ranks: row-major).
Exchange cheapestExchange(const Layout &store, const Layout &load, unsigned elementBytes);

} // namespace tilery::layout
