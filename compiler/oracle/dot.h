#pragma once
// Products of tiles.
#include "compiler/oracle/interpreter.h"

namespace tilery::oracle {

/// acc + a * b, or a * b, as tile.dot defines it.
Tile dot(Interpreter &in, const Tile &a, const Tile &b, const Tile &acc, bool clear, tile::Precision precision, bool aUnsigned,
         bool bUnsigned);

} // namespace tilery::oracle
