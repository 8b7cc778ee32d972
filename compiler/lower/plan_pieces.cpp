// Nests whose code would be long are cut in pieces: unrolled loops are as long as they please, and LLVM's time grows faster than its code.
#include "compiler/lower/planner.h"

using namespace mlir;

namespace tilery::lower {
namespace {
/// A tile that a nest computes.
struct Computed {
  Value value;
  unsigned work;
  bool storable;
  size_t last = 0; // its last user's place; without one, the end
};
} // namespace

unsigned Planner::workOf(const Pull &pull) const {
  unsigned work = 0;
  for (const auto &[value, reach] : pull.tiles)
    if (!stored(value))
      work += workOf(value);
  return work;
}

unsigned Planner::workOf(Value value) { return 1 + ownCost(value.getDefiningOp()); }

/// Its expression stands for so little that it is rather computed again, or is no number.
bool Planner::staysVirtual(Value value) const {
  Type element = getElementTypeOrSelf(value.getType());
  bool index = !isa<FloatType>(element) && !loading.contains(value);
  unsigned least = index ? 2 * costOfDivision : 2 * costOfLoad;
  return isa<tile::PtrType>(element) ||
         costOf(value, [&](Value v) { return stored(v); }, least, options.target.machine.stridedLoad) < least;
}

bool Planner::cutNest(const Info &info) {
  std::vector<Computed> computed;
  for (const auto &[value, reach] : info.pull.tiles)
    if (!stored(value))
      computed.push_back({value, workOf(value), !staysVirtual(value)});
  auto place = [&](const Computed &each) { return begin.lookup(each.value.getDefiningOp()); };
  llvm::sort(computed, [&](const Computed &a, const Computed &b) { return place(a) < place(b); });
  llvm::DenseMap<Value, size_t> index;
  for (auto [i, each] : llvm::enumerate(computed))
    index[each.value] = i;
  auto use = [&](Operation *user, size_t at) {
    for (Value operand : user->getOperands())
      if (auto found = index.find(operand); found != index.end())
        computed[found->second].last = std::max(computed[found->second].last, at);
  };
  for (auto [i, each] : llvm::enumerate(computed)) {
    use(each.value.getDefiningOp(), i);
    for (Value operand : each.value.getDefiningOp()->getOperands())
      if (isa<tile::AccessType>(operand.getType()))
        use(operand.getDefiningOp(), i);
  }
  for (const Sink &sink : info.step.nest.sinks)
    if (sink.op && sink.kind != Sink::Define)
      use(sink.op, computed.size());

  // How many tiles live on behind each: the nest is cut where they are fewest.
  std::vector<int> living(computed.size() + 1);
  for (auto [i, each] : llvm::enumerate(computed)) {
    if (each.last == 0)
      each.last = computed.size();
    if (each.storable) {
      ++living[i];
      --living[each.last];
    }
  }
  for (size_t i = 1; i < computed.size(); ++i)
    living[i] += living[i - 1];
  const unsigned longest = options.target.machine.longestNest;
  bool changed = false;
  unsigned left = workOf(info.pull), work = 0;
  size_t first = 0, best = 0;
  for (size_t i = 0; i < computed.size() && left > longest; ++i) {
    work += computed[i].work;
    left -= computed[i].work;
    if (work < longest / 2 || living[i] <= living[best] || best < first)
      best = i;
    if (work < longest)
      continue;
    for (size_t j = 0; j <= best; ++j)
      if (computed[j].storable && computed[j].last > best)
        changed |= scratch.insert(computed[j].value).second;
    first = i + 1;
    work = 0;
  }
  return changed;
}

bool Planner::cutLong() {
  bool changed = false;
  if (unsigned longest = options.target.machine.longestNest)
    for (auto &info : infos)
      if (!info->step.op && workOf(info->pull) > longest)
        changed |= cutNest(*info);
  return changed;
}

} // namespace tilery::lower
