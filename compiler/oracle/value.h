#pragma once
// What SSA values hold while the oracle runs.
#include "compiler/oracle/element.h"
#include "compiler/oracle/oracle.h"
#include <variant>

namespace tilery::oracle {

using Shape = llvm::SmallVector<int64_t, 4>;
inline int64_t sizeOf(llvm::ArrayRef<int64_t> shape) {
  int64_t size = 1;
  for (int64_t extent : shape)
    size *= extent;
  return size;
}

/// Where a value came from that nobody wrote: the load, and the address if it lies in an argument.
struct Unwritten {
  mlir::Operation *load = nullptr; ///< null: the value was written
  uint64_t address = 0;
  explicit operator bool() const { return load; }
};

/// A scalar (empty shape) or a tile, row-major.
struct Tile {
  Element element;
  Shape shape;
  llvm::SmallVector<uint64_t, 1> lanes;
  std::vector<Interval> ranges;     ///< shadow of each lane; empty: every lane is exact; lo > hi: this one is
  std::vector<Unwritten> undefined; ///< debug: of each lane; empty: all written

  Tile() = default;
  Tile(Element element, llvm::ArrayRef<int64_t> shape) : element(element), shape(shape) { lanes.resize(sizeOf(shape)); }
  int64_t size() const { return lanes.size(); }
  Interval range(int64_t lane) const;
  void setRange(int64_t lane, Interval range);
  Unwritten undefinedAt(int64_t lane) const { return undefined.empty() ? Unwritten() : undefined[lane]; }
  void setUndefined(int64_t lane, Unwritten from);
};
/// Lane `from` of `source`, with its shadow and its mark.
inline void copyLane(Tile &to, int64_t lane, const Tile &source, int64_t from) {
  to.lanes[lane] = source.lanes[from];
  if (!source.ranges.empty() || !to.ranges.empty())
    to.setRange(lane, source.range(from));
  if (Unwritten mark = source.undefinedAt(from))
    to.setUndefined(lane, mark);
}

/// An access or a view: the address of each lane, and whether it exists.
struct Places {
  Element element;
  Shape shape;
  std::vector<uint64_t> address;
  std::vector<uint8_t> exists;
};

struct Root {
  uint64_t base;
  llvm::SmallVector<int64_t, 4> extents, strides;
};

/// Memory of one tile.alloc.
struct Storage {
  std::vector<uint8_t> bytes;
  std::vector<uint8_t> written;                   ///< one flag a byte; debug mode only
  std::unordered_map<int64_t, Unwritten> origins; ///< by byte: of what was stored there though nobody had written it
  std::unordered_map<int64_t, Interval> ranges;
  size_t loops = 0; ///< debug: so many parallel loops, from the outermost one, have one for each iteration
};
/// A window of a storage: element (i_0, ...) lies at offset + sum i_d * strides[d] bytes if lo[d] <= i_d < hi[d] for all d.
struct Buffer {
  std::shared_ptr<Storage> storage;
  Element element;
  Shape shape;
  int64_t offset = 0;
  llvm::SmallVector<int64_t, 4> strides, lo, hi;
  bool exists = true; ///< false: no element does
};

struct BarrierState {
  int64_t arrivals, pending, bytes = 0, phase = 0;
  void completeIfDue();
};
using BarrierRing = std::shared_ptr<std::vector<BarrierState>>;

// ---- of block IR; the states behind them: block.h

/// A tensor for the copy engine: strides in elements, the innermost is 1.
struct TensorMap {
  uint64_t base;
  llvm::SmallVector<int64_t, 5> extents, strides;
};
struct SharedMemory;
struct RingState;
struct Product;
/// A view of shared memory; of a ring's, for the use `position` of its slot.
struct SharedTile {
  std::shared_ptr<SharedMemory> memory;
  int64_t position = -1;
  bool transposed = false;
};
using Ring = std::shared_ptr<RingState>;
/// A use of a slot; none without a ring.
struct Slot {
  Ring ring;
  int64_t position = -1;
};
using Pending = std::shared_ptr<Product>; // null: none
struct Baton {
  std::shared_ptr<uint64_t> turns; // taken so far
};

using RuntimeValue = std::variant<std::monostate, Tile, Places, Root, Buffer, BarrierRing, HostTensor, TensorMap, SharedTile,
                                  Ring, Slot, Pending, Baton>;

} // namespace tilery::oracle
