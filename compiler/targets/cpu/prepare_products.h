#pragma once
// Products as packing and stores like them best.
#include "compiler/ir/Tile.h"

namespace tilery::cpu {

/// A B, stored so that the elements of a column are neighbours and those of a row are not, becomes (B^T A^T)^T: results go to memory in
/// vectors, and the factor whose elements run along memory is packed in the long slivers.
void prepareProducts(tile::KernelOp kernel);

} // namespace tilery::cpu
