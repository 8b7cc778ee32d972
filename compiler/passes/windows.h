// Windows of buffers at constant offsets, for passes that take buffers apart.
#pragma once
#include "compiler/ir/Tile.h"
#include <optional>

namespace tilery::tile {

/// A box of a buffer's elements: one offset and one length for each of its dimensions.
struct Window {
  llvm::SmallVector<int64_t> offsets, lengths;

  bool operator==(const Window &other) const { return offsets == other.offsets && lengths == other.lengths; }
  bool meets(const Window &other) const;
};

/// What the subview covers; nothing if its offsets are no constants, or it reaches out of its buffer.
std::optional<Window> constantWindow(SubviewOp view);

} // namespace tilery::tile
