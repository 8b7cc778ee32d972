// Block sizes without timing runs. What a program costs: itself, every tile it visits, every row of a tile (a row is one run of
// addresses), every byte. Programs are dealt out evenly, so the busiest core decides.
#include "compiler/arrange/view.h"
#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace tilery::arrange {
namespace {

// Nanoseconds, measured within a factor of two on desktop and server cores; only their ratios matter.
constexpr double programCost = 200, tileCost = 25, rowCost = 2, byteCost = 0.1;
constexpr int64_t mostElements = 32768;   // of an innermost tile, as upstream
constexpr double cacheBytes = 256 * 1024; // of a core, that tiles may fill

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
      throw std::invalid_argument("`" + size.str() + "` has no value.");
    count *= *value;
  }
  return count;
}

/// Expected nanoseconds, or nothing if the tiles are too small or too large.
std::optional<double> cost(const std::vector<Traffic> &arguments, const Symbol::Values &values, int64_t threads) {
  double program = programCost, resident = 0;
  int64_t programs = -1;
  for (const Traffic &argument : arguments) {
    const auto &levels = argument.tensor.view()->levels;
    if (programs < 0)
      programs = std::max<int64_t>(product(levels.front(), values), 0);
    int64_t elements = levels.size() > 1 ? product(levels.back(), values) : 1;
    if (elements < 1 || elements > mostElements)
      return std::nullopt;
    double visits = 1;
    for (size_t l = 1; l + 1 < levels.size(); ++l)
      visits *= double(std::max<int64_t>(product(levels[l], values), 0));
    int64_t row = levels.size() > 1 && !levels.back().empty() ? product({levels.back().back()}, values) : 1;
    program += visits * (tileCost + rowCost * double(elements / row) + byteCost * double(elements * argument.elementBytes));
    resident += double(elements) * double(std::max<int64_t>(argument.elementBytes, 4));
  }
  double spill = std::max(1.0, resident / cacheBytes);
  return std::ceil(double(programs) / double(threads)) * program * spill;
}

} // namespace

Symbol::Values chooseBlockSizes(const std::vector<Traffic> &arguments, const std::vector<Symbol> &metas,
                                const Symbol::Values &sizes, int64_t threads) {
  std::vector<std::vector<int64_t>> choices;
  for (const Symbol &meta : metas)
    choices.push_back(candidates(meta.name()));
  std::vector<size_t> at(metas.size(), 0);
  std::optional<double> best;
  Symbol::Values chosen;
  while (true) {
    Symbol::Values values = sizes, metaValues;
    for (size_t i = 0; i < metas.size(); ++i)
      metaValues.insert_or_assign(metas[i].name().text, choices[i][at[i]]);
    values.insert(metaValues.begin(), metaValues.end());
    if (auto expected = cost(arguments, values, std::max<int64_t>(threads, 1)); expected && (!best || *expected < *best)) {
      best = expected;
      chosen = std::move(metaValues);
    }
    size_t i = 0;
    while (i < at.size() && ++at[i] == choices[i].size())
      at[i++] = 0;
    if (i == at.size())
      break;
  }
  if (!best)
    throw std::invalid_argument("Failed to generate auto-tuning. Please check the upper and lower bounds of the symbols.");
  return chosen;
}

} // namespace tilery::arrange
