#pragma once
#include "compiler/ir/Tile.h"

namespace tilery::block {

/// The access of rank 2 with its dimensions exchanged, at the builder's place.
tile::AccessOp exchanged(mlir::OpBuilder &builder, tile::AccessOp access);

} // namespace tilery::block
