#include "clocks.h"
#include <algorithm>

namespace tilery::emulator {
namespace {
void raiseAll(std::vector<uint32_t> &to, const std::vector<uint32_t> &by) {
  if (to.size() < by.size())
    to.resize(by.size());
  for (size_t i = 0; i < by.size(); ++i)
    to[i] = std::max(to[i], by[i]);
}
bool coversAll(const std::vector<uint32_t> &large, const std::vector<uint32_t> &small) {
  for (size_t i = 0; i < small.size(); ++i)
    if (small[i] > Knowledge::at(large, uint32_t(i)))
      return false;
  return true;
}
} // namespace

void Knowledge::raise(uint32_t agent, uint32_t to, uint32_t toShown) {
  if (agent >= seen.size())
    seen.resize(agent + 1);
  seen[agent] = std::max(seen[agent], to);
  if (!toShown)
    return;
  if (agent >= shown.size())
    shown.resize(agent + 1);
  shown[agent] = std::max(shown[agent], toShown);
}

void Knowledge::join(const Knowledge &other) {
  raiseAll(seen, other.seen);
  raiseAll(shown, other.shown);
}

bool Knowledge::covers(const Knowledge &other) const { return coversAll(seen, other.seen) && coversAll(shown, other.shown); }

template <typename F> Known KnownCache::find(const Known &a, const Known &b, Moment to, F make) {
  constexpr size_t kept = 64;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry)
    if (entry->a == a && entry->b == b && entry->to.agent == to.agent && entry->to.time == to.time)
      return entry->result;
  Known result = make();
  entries.push_back({a, b, to, result});
  if (entries.size() > kept)
    entries.pop_front();
  return result;
}

Known KnownCache::joined(const Known &a, const Known &b) {
  if (!b || a == b)
    return a;
  if (!a)
    return b;
  return find(a, b, {}, [&]() -> Known {
    if (a->covers(*b))
      return a;
    if (b->covers(*a))
      return b;
    auto both = std::make_shared<Knowledge>(*a);
    both->join(*b);
    return both;
  });
}

Known KnownCache::fenced(const Known &known) {
  if (!known)
    return known;
  return find(known, nullptr, {}, [&]() -> Known {
    auto all = std::make_shared<Knowledge>(*known);
    all->shown = all->seen;
    return all;
  });
}

Known KnownCache::raised(const Known &known, Moment to) {
  if (to.time == 0 || (known && Knowledge::at(known->seen, to.agent) >= to.time))
    return known;
  return find(known, nullptr, to, [&]() -> Known {
    auto more = known ? std::make_shared<Knowledge>(*known) : std::make_shared<Knowledge>();
    more->raise(to.agent, to.time, 0);
    return more;
  });
}

void Channel::add(const Known &known) {
  if (!known || known == last)
    return;
  sum.join(*known);
  last = known;
  result = nullptr;
}

void Channel::add(uint32_t agent, uint32_t seen, uint32_t shown) {
  sum.raise(agent, seen, shown);
  result = nullptr;
}

Known Channel::all() {
  if (!result && !sum.seen.empty())
    result = std::make_shared<Knowledge>(sum);
  return result;
}

void Clock::release(Channel &channel) {
  if (!agent)
    return;
  channel.add(known);
  channel.add(agent, now, shown);
  ++now;
}

void Clock::fence(KnownCache &cache) {
  known = cache.fenced(known);
  shown = now;
  ++now;
}

} // namespace tilery::emulator
