// Extents of the two sides of a copy, and how a region is read and written.
#include "compiler/builder/region.h"
#include "tilery/counted.h"
#include <algorithm>

namespace tilery {

using Kind = Diagnostic::Kind;

std::string regionShapeText(const Shape &shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + (shape[i] < 0 ? std::string("?") : std::to_string(shape[i]));
  return text + (shape.size() == 1 ? ",)" : ")");
}

Shape longExtents(const Shape &extents) {
  Shape result;
  std::copy_if(extents.begin(), extents.end(), std::back_inserter(result), [](int64_t n) { return n != 1; });
  return result;
}

static std::vector<int64_t> longDims(const Shape &extents) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < extents.size(); ++i)
    if (extents[i] != 1)
      dims.push_back(i);
  return dims;
}

static std::optional<int64_t> constantStart(const Operand &start) {
  auto *literal = std::get_if<Literal>(&start);
  auto *number = literal ? std::get_if<int64_t>(literal) : nullptr;
  return number ? std::optional(*number) : std::nullopt;
}

/// Refuses what lies outside for certain: of a buffer any element, of a tensor the whole rectangle.
static void checkRange(Builder &b, const Region &region, const Shape &extents, const char *what) {
  for (size_t i = 0; i < extents.size(); ++i) {
    auto start = constantStart(region.starts[i]);
    if (!start || region.shape[i] < 0)
      continue;
    bool outside = region.isGlobal() ? *start >= std::max<int64_t>(region.shape[i], 1) || *start + extents[i] <= 0
                                     : *start < 0 || *start + extents[i] > region.shape[i];
    if (outside)
      b.fail(Kind::Value, std::string(what) + " is out of range: elements " + std::to_string(*start) + " to " +
                              std::to_string(*start + extents[i] - 1) + " of dimension " + std::to_string(i) + " of `" +
                              region.name + "`, whose shape is " + regionShapeText(region.shape));
  }
}

static bool isWholeBuffer(const Region &region, const Shape &extents) {
  return extents == region.shape &&
         std::all_of(region.starts.begin(), region.starts.end(), [](const Operand &s) { return constantStart(s) == 0; });
}

Place placeOf(Builder &b, const Region &region, const Shape &extents) {
  return b.view(std::get<Root>(region.memory), region.starts, longExtents(extents), longDims(extents));
}

Value loadRegion(Builder &b, const Region &region, const Shape &extents, const char *what,
                 const std::optional<Operand> &outside) {
  checkRange(b, region, extents, what);
  if (region.isGlobal())
    return b.load(placeOf(b, region, extents), outside, {false, "", region.eviction});
  const Buffer &buffer = std::get<Buffer>(region.memory);
  Shape shape = longExtents(extents);
  if (!isWholeBuffer(region, extents))
    return b.bufferLoad(b.subview(buffer, region.starts, shape, longDims(extents)));
  Value value = b.bufferLoad(buffer);
  return shape == buffer.shape ? value : b.reshape(value, shape);
}

void storeRegion(Builder &b, const Region &region, const Shape &extents, const Value &value, const char *what) {
  checkRange(b, region, extents, what);
  Value converted = b.castFinite(value, region.dtype());
  if (region.isGlobal())
    return b.store(placeOf(b, region, extents), converted, {false, "", region.eviction});
  const Buffer &buffer = std::get<Buffer>(region.memory);
  if (!isWholeBuffer(region, extents))
    return b.bufferStore(b.subview(buffer, region.starts, longExtents(extents), longDims(extents)), converted);
  b.bufferStore(buffer, converted.shape() == buffer.shape ? converted : b.reshape(converted, buffer.shape));
}

const Shape &knownExtents(Builder &b, const Region &region, const char *what) {
  for (int64_t n : region.extents)
    if (n < 0)
      b.fail(Kind::Value, std::string(what) + ": the extents of `" + region.name + "` must be known at compile time",
             "slice it as [start:start + length]");
  return region.extents;
}

/// Extents for a memory of `rank` dimensions: leading ones are added or dropped.
static Shape fit(Builder &b, const Shape &extents, const Region &region, const char *what) {
  size_t rank = region.shape.size();
  Shape result(rank > extents.size() ? rank - extents.size() : 0, 1);
  for (size_t i = 0; i < extents.size(); ++i) {
    if (extents.size() - i <= rank)
      result.push_back(extents[i]);
    else if (extents[i] != 1)
      b.fail(Kind::Assertion, std::string(what) + ": extents " + regionShapeText(extents) + " do not fit `" + region.name +
                                  "`, which has " + counted(rank, "dimension"));
  }
  return result;
}

/// 0: registers, 1: shared, 2: global. The lower level says what is iterated over.
static int level(const Region &region) {
  if (region.isGlobal())
    return 2;
  Space space = std::get<Buffer>(region.memory).space;
  return space == Space::Shared ? 1 : space == Space::Global ? 2 : 0;
}

std::pair<Shape, Shape> copyExtents(Builder &b, const Region &src, const Region &dst, const char *what) {
  if (src.isWhole && dst.isWhole && src.shape != dst.shape)
    b.fail(Kind::Assertion,
           std::string(what) + ": `" + src.name + "` has shape " + regionShapeText(src.shape) + " but `" + dst.name +
               "` has shape " + regionShapeText(dst.shape),
           "copy regions of equal extents, or start one side at an element");
  Shape from = src.extents.empty() ? Shape(dst.extents.size(), 1) : src.extents;
  Shape to = dst.extents.empty() ? Shape(src.extents.size(), 1) : dst.extents;
  if (longExtents(from).size() != longExtents(to).size()) {
    size_t rank = std::max(from.size(), to.size());
    from.insert(from.begin(), rank - from.size(), 1);
    to.insert(to.begin(), rank - to.size(), 1);
    for (size_t i = 0; i < rank; ++i) {
      if (from[i] == 1)
        from[i] = to[i];
      else if (to[i] == 1)
        to[i] = from[i];
      else
        from[i] = to[i] = std::max(from[i], to[i]);
    }
  }
  from = fit(b, from, src, what);
  to = fit(b, to, dst, what);
  auto clip = [](Shape &extents, const Region &region) {
    for (size_t i = 0; i < region.extents.size(); ++i)
      if (region.extents[i] > 0)
        extents[i] = std::min(extents[i], region.extents[i]);
  };
  clip(from, src);
  clip(to, dst);
  // One side gives the box; the other walks its own long dimensions in the same order.
  bool bySource = level(src) <= level(dst);
  Shape &box = bySource ? from : to, &other = bySource ? to : from;
  Shape sizes = longExtents(box);
  auto mismatch = [&] {
    b.fail(Kind::Assertion,
           std::string(what) + ": extents " + regionShapeText(from) + " of `" + src.name + "` and " + regionShapeText(to) +
               " of `" + dst.name + "` do not correspond",
           "give both sides the same extents");
  };
  if (sizes.size() != longExtents(other).size())
    mismatch();
  size_t next = 0;
  for (int64_t &n : other)
    if (n != 1) {
      int64_t &own = sizes[next++];
      if (own < 0)
        own = n;
      if (!bySource && n > own)
        mismatch(); // part of the source would not be copied
      n = own;
    }
  next = 0;
  for (int64_t &n : box)
    if (n != 1)
      n = sizes[next++];
  for (int64_t n : sizes)
    if (n < 0)
      b.fail(Kind::Assertion,
             std::string("Can't deduce copy extents from `") + src.name + "` and `" + dst.name +
                 "`: a size is known at run time only",
             "slice one side as [start:start + length]");
  return {from, to};
}

} // namespace tilery
