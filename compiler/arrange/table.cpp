#include "compiler/arrange/index_map.h"
#include <algorithm>

namespace tilery::arrange {
namespace {

int64_t number(const Symbol &symbol) {
  if (auto value = symbol.constant())
    return *value;
  throw ArrangementError(Diagnostic::Kind::Value, "`" + symbol.str() + "` has no value. Give it one in `subs`.");
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

namespace {

/// The rows of a jagged tensor: where each begins and how long it is.
struct Rows {
  explicit Rows(const Tensor &tensor) : dim(*tensor.source().jagged), lengths(tensor.source().rowLengths) {
    if (lengths.empty() && tensor.source().shape[0].constant() != 0)
      number(tensor.rowLength());
    if (int64_t(lengths.size()) != number(tensor.source().shape[0]))
      throw ArrangementError(Diagnostic::Kind::Value, "`" + tensor.source().name + "` has " +
                                                          std::to_string(number(tensor.source().shape[0])) + " rows, " +
                                                          std::to_string(lengths.size()) + " lengths were given.");
    for (int64_t length : lengths) {
      if (length < 0)
        throw ArrangementError(Diagnostic::Kind::Value, "A row cannot have length " + std::to_string(length) + ".");
      starts.push_back(total);
      total += length;
      longestRow = std::max(longestRow, length);
    }
  }

  size_t dim;
  std::vector<int64_t> lengths, starts;
  int64_t total = 0, longestRow = 0;
};

/// Offset of an element, -1 where there is none. `sizes`: of what lies in memory.
class Finder {
public:
  explicit Finder(const Tensor &tensor) : whole(tensor) {
    if (!tensor.source().jagged) {
      for (const Symbol &size : tensor.source().shape)
        sizes.push_back(number(size));
      return;
    }
    rows.emplace(tensor);
    const Symbol name = tensor.rowLength();
    mixed = mixesRows(tensor);
    whole = tensor.padded(rows->longestRow).substitute({{name.name().text, rows->longestRow}});
    for (int64_t length : rows->lengths)
      perRow.push_back((mixed ? tensor.padded(rows->longestRow) : tensor).substitute({{name.name().text, length}}));
    for (size_t d = 1; d < tensor.source().shape.size(); ++d)
      sizes.push_back(d == rows->dim ? rows->total : number(tensor.source().shape[d]));
  }

  /// With the rows of a jagged tensor as long as the longest.
  const Tensor &padded() const { return whole; }
  const std::vector<Shape> &levels() const { return whole.view()->levels; }

  int64_t find(const std::vector<std::vector<int64_t>> &indices) {
    std::vector<int64_t> index = walk(whole, indices);
    if (rows) {
      const int64_t row = index[0];
      if (row < 0 || row >= int64_t(rows->lengths.size()))
        return -1;
      index = walk(perRow[row], indices);
      if (index[0] != row)
        return -1;
      index[rows->dim] += rows->starts[row];
      index.erase(index.begin());
    }
    int64_t offset = 0;
    for (size_t d = 0; d < sizes.size(); ++d)
      offset = offset * sizes[d] + index[d];
    return exists ? offset : -1;
  }

private:
  std::vector<int64_t> walk(const Tensor &tensor, std::vector<std::vector<int64_t>> indices) {
    bounds.clear();
    auto index = walkBack<int64_t>(*tensor.view(), std::move(indices), NumberArithmetic(), bounds);
    exists = std::all_of(bounds.begin(), bounds.end(),
                         [](const auto &bound) { return bound.index >= 0 && bound.index < number(bound.size); });
    return index;
  }

  Tensor whole;
  std::optional<Rows> rows;
  bool mixed = false, exists = true;
  std::vector<Tensor> perRow;
  std::vector<int64_t> sizes;
  std::vector<BoundOf<int64_t>> bounds;
};

} // namespace

Table evaluate(const Tensor &tensor) {
  Table table;
  Finder finder(tensor);
  const auto &levels = finder.levels();
  for (const SizeOfOne &one : finder.padded().sizesOfOne())
    throw ArrangementError(Diagnostic::Kind::Value, std::string("`") + one.operation + "`: dimension " + std::to_string(one.dim) +
                                                        " has size " + std::to_string(number(one.size)) +
                                                        " with these numbers, it must be 1");
  int64_t count = 1;
  for (const Shape &level : levels)
    for (const Symbol &size : level) {
      // A tile that is larger than its tensor may leave a count below 0: there is none.
      table.shape.push_back(std::max<int64_t>(number(size), 0));
      count *= table.shape.back();
    }
  std::vector<int64_t> at(table.shape.size(), 0);
  table.offsets.reserve(count);
  for (int64_t i = 0; i < count; ++i) {
    std::vector<std::vector<int64_t>> indices;
    auto next = at.begin();
    for (const Shape &level : levels) {
      indices.emplace_back(next, next + level.size());
      next += level.size();
    }
    table.offsets.push_back(finder.find(indices));
    for (size_t d = at.size(); d-- > 0 && ++at[d] == table.shape[d];)
      at[d] = 0;
  }
  return table;
}

} // namespace tilery::arrange
