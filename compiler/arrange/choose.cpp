// Block sizes without timing runs. What a program costs: itself, every tile it visits, every row of a tile (a row is one run of
// addresses), every byte. Programs are dealt out evenly, so the busiest core or multiprocessor decides.
#include "compiler/arrange/view.h"
#include "tilery/gpu_choice.h"
#include <algorithm>
#include <cmath>
#include <functional>
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

/// An argument's innermost tiles under a choice of sizes.
struct Tiles {
  int64_t elements, row, elementBytes; // row: elements of the last dimension
  double visits;                       // tiles that a program goes through
  bool many;                           // there is a level of such tiles, of one at least
  double bytes() const { return double(elements * elementBytes); }
  double rows() const { return double(elements / row); }
};

struct Work {
  int64_t programs = -1;
  std::vector<Tiles> tiles;
};

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
    work.tiles.push_back({elements, row, argument.elementBytes, visits, levels.size() > 2});
  }
  return work;
}

/// Expected nanoseconds.
double coreCost(const Work &work, int64_t cores) {
  double program = programCost, resident = 0;
  for (const Tiles &t : work.tiles) {
    program += t.visits * (tileCost + rowCost * t.rows() + byteCost * t.bytes());
    resident += double(t.elements) * double(std::max<int64_t>(t.elementBytes, 4));
  }
  double spill = std::max(1.0, resident / cacheBytes);
  return std::ceil(double(work.programs) / double(cores)) * program * spill;
}

// Cycles of a multiprocessor. A program that goes through tiles is a product: it has a multiprocessor for itself, whose share of the L2
// cache's bandwidth bounds it (tiles of one are read by all others, too), and its first tiles arrive before it can begin.
// Other programs run side by side.
std::optional<double> gpuCost(const Work &work, int64_t multiprocessors) {
  constexpr double bytesPerCycle = 32, visitCost = 10, blockCost = 500, gpuRowCost = 0.1;
  constexpr double line = 128;               // bytes that are fetched together
  constexpr double least = 64, widest = 256; // rows and columns of a product: that tensor cores take, that registers hold
  constexpr int64_t sideBySide = 8;
  bool isProduct = std::any_of(work.tiles.begin(), work.tiles.end(), [](const Tiles &t) { return t.many; });
  double program = blockCost, first = 0, visits = 0, waste = 1;
  for (const Tiles &t : work.tiles) {
    double columns = double(t.row), cycles = t.rows() * std::max(double(t.row * t.elementBytes), line) / bytesPerCycle;
    if (isProduct && !t.many) {
      if (std::max(t.rows(), columns) > widest)
        return std::nullopt;
      waste = std::max(waste, std::max(least / t.rows(), 1.0) * std::max(least / columns, 1.0));
    }
    program += t.visits * cycles + gpuRowCost * t.rows();
    if (t.many)
      first += cycles;
    visits = std::max(visits, t.visits);
  }
  program += first + visits * visitCost;
  int64_t atOnce = multiprocessors * (isProduct ? 1 : sideBySide);
  return std::ceil(double(work.programs) / double(atOnce)) * program * waste;
}

/// The best of all candidates; cost(work): expected time, or nothing if the choice is out of the question.
Symbol::Values choose(const std::vector<Traffic> &arguments, const std::vector<Symbol> &metas, const Symbol::Values &sizes,
                      const std::function<std::optional<double>(const Work &)> &cost) {
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
    std::optional<Work> work = workOf(arguments, values);
    std::optional<double> expected = work ? cost(*work) : std::nullopt;
    if (expected && (!best || *expected < *best)) {
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
} // namespace

Symbol::Values chooseBlockSizes(const std::vector<Traffic> &arguments, const std::vector<Symbol> &metas,
                                const Symbol::Values &sizes, int64_t threads) {
  return choose(arguments, metas, sizes, [&](const Work &work) { return coreCost(work, std::max<int64_t>(threads, 1)); });
}

Symbol::Values chooseGpuBlockSizes(const std::vector<Traffic> &arguments, const std::vector<Symbol> &metas,
                                   const Symbol::Values &sizes, int64_t multiprocessors) {
  return choose(arguments, metas, sizes, [&](const Work &work) { return gpuCost(work, std::max<int64_t>(multiprocessors, 1)); });
}

} // namespace tilery::arrange
