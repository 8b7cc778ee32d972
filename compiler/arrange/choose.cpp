// Block sizes without timing runs: every candidate is described to the target's cost model.
#include "compiler/arrange/choose.h"
#include "compiler/arrange/view.h"
#include <algorithm>
#include <numeric>
#include <tuple>

namespace tilery::arrange {
namespace {

constexpr int64_t mostElements = 32768; // of an innermost tile, as upstream

std::vector<int64_t> candidates(const Name &name) {
  int64_t lower = std::max<int64_t>(name.lower.value_or(1), 1), upper = name.upper.value_or(1024);
  std::vector<int64_t> values;
  for (int64_t value = 1; value <= upper; value *= 2)
    if (value >= lower)
      values.push_back(value);
  if (!name.powerOfTwo || values.empty())
    for (int64_t bound : {lower, upper})
      if (std::find(values.begin(), values.end(), bound) == values.end())
        values.push_back(bound);
  return values;
}

int64_t product(const Shape &shape, const Symbol::Values &values) {
  int64_t count = 1;
  for (const Symbol &size : shape) {
    auto value = size.substitute(values).constant();
    if (!value)
      throw Error({Diagnostic::Kind::Value, "`" + size.str() + "` has no value."});
    count *= *value;
  }
  return count;
}

/// Of the argument in memory; 0: not known.
double bytesOf(const Traffic &argument, const Symbol::Values &values) {
  double bytes = double(argument.elementBytes);
  for (const Symbol &extent : argument.tensor.source().shape) {
    auto value = extent.substitute(values).constant();
    bytes *= value ? double(*value) : 0;
  }
  return bytes;
}

/// Nothing if tiles are too small or too large.
std::optional<Work> workOf(const std::vector<Traffic> &arguments, const Symbol::Values &values) {
  Work work;
  for (const Traffic &argument : arguments) {
    const auto &levels = argument.tensor.view()->levels;
    if (work.programs < 0)
      work.programs = std::max<int64_t>(product(levels.front(), values), 0);
    int64_t elements = levels.size() > 1 ? product(levels.back(), values) : 1;
    if (elements < 1 || elements > mostElements)
      return std::nullopt;
    double visits = 1;
    for (size_t l = 1; l + 1 < levels.size(); ++l)
      visits *= double(std::max<int64_t>(product(levels[l], values), 0));
    int64_t row = levels.size() > 1 && !levels.back().empty() ? product({levels.back().back()}, values) : 1;
    work.tiles.push_back({elements, row, argument.elementBytes, visits, levels.size() > 2, bytesOf(argument, values)});
  }
  return work;
}
} // namespace

std::vector<Symbol::Values> ranked(const std::vector<Traffic> &arguments, const std::vector<Symbol> &metas,
                                   const Symbol::Values &sizes, const Cost &cost, size_t count) {
  std::vector<std::vector<int64_t>> choices;
  for (const Symbol &meta : metas)
    choices.push_back(candidates(meta.name()));
  std::vector<size_t> at(metas.size(), 0);
  std::vector<std::pair<double, Symbol::Values>> found;
  while (true) {
    Symbol::Values values = sizes, metaValues;
    for (size_t i = 0; i < metas.size(); ++i)
      metaValues.insert_or_assign(metas[i].name().text, choices[i][at[i]]);
    values.insert(metaValues.begin(), metaValues.end());
    std::optional<Work> work = workOf(arguments, values);
    std::optional<double> expected = work ? cost(*work) : std::nullopt;
    if (expected)
      found.emplace_back(*expected, std::move(metaValues));
    size_t i = 0;
    while (i < at.size() && ++at[i] == choices[i].size())
      at[i++] = 0;
    if (i == at.size())
      break;
  }
  if (found.empty())
    throw Error(
        {Diagnostic::Kind::Value, "Failed to generate auto-tuning. Please check the upper and lower bounds of the symbols."});
  // Of equal ones the first, as candidates are counted. (libstdc++'s stable_sort warns of a deprecated function of its own.)
  std::vector<size_t> order(found.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return std::tie(found[a].first, a) < std::tie(found[b].first, b); });
  std::vector<Symbol::Values> best;
  for (size_t i = 0; i < std::min(count, found.size()); ++i)
    best.push_back(std::move(found[order[i]].second));
  return best;
}

Symbol::Values choose(const std::vector<Traffic> &arguments, const std::vector<Symbol> &metas, const Symbol::Values &sizes,
                      const Cost &cost) {
  return ranked(arguments, metas, sizes, cost, 1).front();
}

} // namespace tilery::arrange
