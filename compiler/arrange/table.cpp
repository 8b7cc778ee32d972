#include "compiler/arrange/index_map.h"
#include <algorithm>
#include <stdexcept>

namespace tilery::arrange {
namespace {

int64_t number(const Symbol &symbol) {
  if (auto value = symbol.constant())
    return *value;
  throw std::invalid_argument("`" + symbol.str() + "` has no value. Give it one in `subs`.");
}

struct NumberArithmetic {
  int64_t constant(int64_t v) const { return v; }
  int64_t value(const Symbol &s) const { return number(s); }
  int64_t add(int64_t a, int64_t b) const { return a + b; }
  int64_t mul(int64_t a, const Symbol &b) const { return a * number(b); }
  int64_t div(int64_t a, const Symbol &b) const { return number(floorDiv(a, number(b))); }
  int64_t mod(int64_t a, const Symbol &b) const { return number(floorMod(a, number(b))); }
};

} // namespace

Table evaluate(const Tensor &tensor) {
  Table table;
  const auto &levels = tensor.view()->levels;
  int64_t count = 1;
  for (const Shape &level : levels)
    for (const Symbol &size : level) {
      // A tile that is larger than its tensor may leave a count below 0: there is none.
      table.shape.push_back(std::max<int64_t>(number(size), 0));
      count *= table.shape.back();
    }
  std::vector<int64_t> sizes;
  for (const Symbol &size : tensor.source().shape)
    sizes.push_back(number(size));
  std::vector<int64_t> at(table.shape.size(), 0);
  std::vector<BoundOf<int64_t>> bounds;
  table.offsets.reserve(count);
  for (int64_t i = 0; i < count; ++i) {
    std::vector<std::vector<int64_t>> indices;
    auto next = at.begin();
    for (const Shape &level : levels) {
      indices.emplace_back(next, next + level.size());
      next += level.size();
    }
    bounds.clear();
    auto index = walkBack<int64_t>(*tensor.view(), std::move(indices), NumberArithmetic(), bounds);
    int64_t offset = 0;
    for (size_t d = 0; d < sizes.size(); ++d)
      offset = offset * sizes[d] + index[d];
    for (const auto &bound : bounds)
      if (bound.index < 0 || bound.index >= number(bound.size))
        offset = -1;
    table.offsets.push_back(offset);
    for (size_t d = at.size(); d-- > 0 && ++at[d] == table.shape[d];)
      at[d] = 0;
  }
  return table;
}

} // namespace tilery::arrange
