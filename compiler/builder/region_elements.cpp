// Regions element by element, as each thread of a block takes those of its own memory.
#include "compiler/builder/region.h"
#include <algorithm>

namespace tilery {

bool isThreadsOwn(Builder &b, std::initializer_list<const Region *> regions) {
  return b.inThreads() && std::any_of(regions.begin(), regions.end(), [](const Region *region) {
           return !region->isGlobal() && std::get<Buffer>(region->memory).space == Space::Local;
         });
}

void forEachElement(Builder &b, const Shape &extents, const std::function<void(const std::vector<Operand> &)> &body) {
  Shape sizes = longExtents(extents);
  std::vector<Operand> at;
  std::function<void()> run = [&] {
    if (at.size() == sizes.size())
      return body(at);
    auto bound = [&](int64_t n) { return b.constant(Literal(n), DType::I32); };
    Hints hints;
    if (at.size() + 1 == sizes.size())
      hints.push_back({"vectorize", true});
    auto loop = b.beginFor(bound(0), bound(sizes[at.size()]), bound(1), {}, hints);
    at.push_back(loop.iv);
    run();
    at.pop_back();
    b.endFor({});
  };
  run();
}

static std::vector<Operand> elementOf(Builder &b, const Region &region, const Shape &extents, const std::vector<Operand> &at) {
  std::vector<Operand> indices;
  size_t next = 0;
  for (size_t i = 0; i < region.starts.size(); ++i) {
    if (extents[i] == 1) {
      indices.push_back(region.starts[i]);
      continue;
    }
    auto *literal = std::get_if<Literal>(&region.starts[i]);
    bool fromZero = literal && std::holds_alternative<int64_t>(*literal) && std::get<int64_t>(*literal) == 0;
    indices.push_back(fromZero ? at[next] : Operand(b.binary(BinaryOp::Add, region.starts[i], at[next])));
    ++next;
  }
  return indices;
}

Value loadElement(Builder &b, const Region &region, const Shape &extents, const std::vector<Operand> &at) {
  std::vector<Operand> indices = elementOf(b, region, extents, at);
  if (region.isGlobal())
    return b.load(b.view(std::get<Root>(region.memory), indices, {}, {}), std::nullopt);
  return b.elementLoad(std::get<Buffer>(region.memory), indices);
}

void storeElement(Builder &b, const Region &region, const Shape &extents, const std::vector<Operand> &at, const Operand &value) {
  std::vector<Operand> indices = elementOf(b, region, extents, at);
  Value converted = b.castFinite(value, region.dtype());
  if (region.isGlobal())
    b.store(b.view(std::get<Root>(region.memory), indices, {}, {}), converted);
  else
    b.elementStore(std::get<Buffer>(region.memory), indices, converted);
}

void updateElement(Builder &b, RmwKind kind, const Region &region, const Shape &extents, const std::vector<Operand> &at,
                   const Operand &value, MemoryOrder order) {
  std::vector<Operand> indices = elementOf(b, region, extents, at);
  Value converted = b.cast(value, region.dtype());
  if (region.isGlobal())
    b.atomicRmw(kind, b.view(std::get<Root>(region.memory), indices, {}, {}), converted, order, SyncScope::Gpu);
  else
    b.elementUpdate(kind, std::get<Buffer>(region.memory), indices, converted);
}

} // namespace tilery
