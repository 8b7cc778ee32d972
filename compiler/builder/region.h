#pragma once
// What the functions on regions share.
#include "tilery/region.h"
#include <exception>
#include <functional>

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

/// What all threads do together, while it lives; nothing where no threads are programmed.
class Together {
public:
  explicit Together(Builder &b) : b(b.inThreads() ? &b : nullptr) {
    if (this->b)
      this->b->beginTogether();
  }
  ~Together() noexcept(false) {
    if (b && std::uncaught_exceptions() == 0)
      b->endTogether({});
  }
  Together(const Together &) = delete;

private:
  Builder *b;
};
/// Each thread does it for itself: threads are programmed, and a region lies in memory that each has for itself.
bool isThreadsOwn(Builder &b, std::initializer_list<const Region *> regions);
/// Element by element: body(indices) for each point of the extents longer than 1, innermost last.
void forEachElement(Builder &b, const Shape &extents, const std::function<void(const std::vector<Operand> &)> &body);
/// One element, the indices counted from the region's start along the extents longer than 1.
Value loadElement(Builder &b, const Region &region, const Shape &extents, const std::vector<Operand> &at);
void storeElement(Builder &b, const Region &region, const Shape &extents, const std::vector<Operand> &at, const Operand &value);
void updateElement(Builder &b, RmwKind kind, const Region &region, const Shape &extents, const std::vector<Operand> &at,
                   const Operand &value, MemoryOrder order);

/// Extents of both sides of a copy; first: src's, second: dst's, each one a dimension of its memory.
std::pair<Shape, Shape> copyExtents(Builder &b, const Region &src, const Region &dst, const char *what);

} // namespace tilery
