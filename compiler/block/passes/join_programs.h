#pragma once
// Rows that are added to tiles can be those of the programs that follow.
#include "compiler/block/passes/pad_dimension.h"

namespace tilery::block {

/// Attribute of a kernel, [axis, count]: each program does what `count` programs of the launch that follow each other on the axis do.
inline constexpr const char *joinedPrograms = "block.joined";

/// Makes the dimension that was found `to` lanes long, where it runs over what the programs of an axis have as their rows, one behind the
/// other. False, and nothing is changed: it does not, or else programs of that axis differ.
bool joinPrograms(tile::KernelOp kernel, DimensionPadding &rows, int64_t to);

} // namespace tilery::block
