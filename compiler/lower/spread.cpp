// Lanes at known distances from a place that all share: what a vector of neighbours becomes where a program takes a tile apart into pairs,
// fours, eights. They are read by vector loads and shuffles in registers.
#include "compiler/lower/index_arithmetic.h"
#include <numeric>

using namespace mlir;

namespace tilery::lower {

std::optional<Spread> IndexArithmetic::spreadOf(const Index &index) const {
  if (!spreads)
    return std::nullopt;
  if (!index.lanes) {
    Spread spread{index.base, index.multiple, {}};
    for (unsigned l = 0; l < width; ++l)
      spread.lanes.push_back(index.step * l);
    return spread;
  }
  if (auto found = known.find(index.lanes); found != known.end() && found->second.lanes.size() == width)
    return found->second;
  return std::nullopt;
}

Index IndexArithmetic::indexOf(const Spread &spread, unsigned level) {
  auto &b = e.b;
  Index index{spread.base, 0, nullptr, level, spread.multiple};
  int64_t step = spread.lanes.size() > 1 ? spread.lanes[1] - spread.lanes[0] : 0;
  bool even = true;
  for (auto [l, at] : llvm::enumerate(spread.lanes))
    even &= at == spread.lanes[0] + step * int64_t(l);
  AtLevel at(levels, level);
  if (even) {
    index.step = step;
    if (spread.lanes[0]) {
      index.base = b.CreateAdd(spread.base, e.i64(spread.lanes[0]));
      index.multiple = std::gcd(spread.multiple, spread.lanes[0]);
    }
    return index;
  }
  SmallVector<llvm::Constant *> distances;
  for (int64_t distance : spread.lanes)
    distances.push_back(llvm::ConstantInt::getSigned(b.getInt64Ty(), distance));
  index.base = nullptr;
  index.multiple = 1;
  index.lanes = b.CreateAdd(e.splat(spread.base, width), llvm::ConstantVector::get(distances));
  known[index.lanes] = spread;
  return index;
}

bool IndexArithmetic::splitSpread(const Index &number, ArrayRef<int64_t> sizes, llvm::MutableArrayRef<Index> result) {
  auto &b = e.b;
  // Lanes that count up from a multiple of their number.
  if (!spreads || number.lanes || number.step != 1 || number.multiple % width != 0)
    return false;
  // What is left: rest + lane / divided, of which `rest` is a multiple of `count`, the number of values that lanes have there.
  int64_t count = width;
  for (size_t d = sizes.size(), left = count; d-- > 1 && left > 1;) {
    if (sizes[d] % int64_t(left) && left % size_t(sizes[d]))
      return false;
    left = sizes[d] % int64_t(left) == 0 ? 1 : left / sizes[d];
  }
  llvm::Value *rest = number.base;
  int64_t divided = 1, multiple = number.multiple;
  for (size_t d = sizes.size(); d-- > 0;) {
    Spread part{e.i64(0), 0, {}};
    bool ends = !d || sizes[d] % count == 0; // lanes stay within this dimension
    for (unsigned l = 0; l < width; ++l)
      part.lanes.push_back(ends ? l / divided : l / divided % sizes[d]);
    if (ends) {
      part.base = d ? b.CreateURem(rest, e.i64(sizes[d])) : rest;
      part.multiple = d ? std::gcd(multiple, sizes[d]) : multiple;
    }
    result[d] = indexOf(part, number.level);
    if (!d)
      break;
    rest = b.CreateUDiv(rest, e.i64(sizes[d]));
    multiple = multiple % sizes[d] == 0 ? multiple / sizes[d] : 1;
    divided = ends ? int64_t(width) : divided * sizes[d];
    count = ends ? 1 : count / sizes[d];
  }
  return true;
}

} // namespace tilery::lower
