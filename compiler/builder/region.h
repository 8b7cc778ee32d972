#pragma once
// What the functions on regions share.
#include "tilery/region.h"

namespace tilery {

/// The extents longer than 1.
Shape longExtents(const Shape &extents);
std::string regionShapeText(const Shape &shape);
/// Reads or writes the tile of shape longExtents(extents) at the region's start; `what` names the operation in messages.
Value loadRegion(Builder &b, const Region &region, const Shape &extents, const char *what,
                 const std::optional<Operand> &outside = {});
void storeRegion(Builder &b, const Region &region, const Shape &extents, const Value &value, const char *what);
/// The region as a place, for tensors only.
Place placeOf(Builder &b, const Region &region, const Shape &extents);
/// Own extents, all known at compile time.
const Shape &knownExtents(Builder &b, const Region &region, const char *what);

/// Extents of both sides of a copy; first: src's, second: dst's, each one a dimension of its memory.
std::pair<Shape, Shape> copyExtents(Builder &b, const Region &src, const Region &dst, const char *what);

} // namespace tilery
