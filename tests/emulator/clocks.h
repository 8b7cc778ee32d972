#pragma once
// Who knows of what: vector clocks of threads and of what works beside them (the copy engine, the tensor cores), which are agents alike.
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace tilery::emulator {

/// A point in an agent's time. Agents count from 1; time 0 is before all.
struct Moment {
  uint32_t agent = 0, time = 0;
};

/// The last moment of each agent that is known to be over. `shown`: whose ordinary writes the async proxy sees, too (the copy engine and the
/// tensor cores are that).
struct Knowledge {
  std::vector<uint32_t> seen, shown;
  static uint32_t at(const std::vector<uint32_t> &times, uint32_t agent) { return agent < times.size() ? times[agent] : 0; }
  void raise(uint32_t agent, uint32_t to, uint32_t toShown);
  void join(const Knowledge &other);
  bool covers(const Knowledge &other) const;
};
using Known = std::shared_ptr<const Knowledge>; // null: nothing

/// Threads that meet know the same, so that most of these are asked again and again with the same operands.
class KnownCache {
public:
  Known joined(const Known &a, const Known &b);
  /// All that is seen is shown.
  Known fenced(const Known &known);
  Known raised(const Known &known, Moment to);

private:
  struct Entry {
    Known a, b;
    Moment to;
    Known result;
  };
  template <typename F> Known find(const Known &a, const Known &b, Moment to, F make);
  std::deque<Entry> entries;
};

/// What is handed on through a barrier.
class Channel {
public:
  void add(const Known &known);
  void add(uint32_t agent, uint32_t seen, uint32_t shown);
  /// All that was added so far.
  Known all();
  void clear() { *this = {}; }

private:
  Knowledge sum;
  Known last, result;
};

/// A thread's own time and what it knows of others.
struct Clock {
  uint32_t agent = 0; // 0: nobody asks
  uint32_t now = 1;
  uint32_t shown = 0; // its own writes up to then are fenced
  Known known;

  bool sees(Moment moment) const {
    return moment.agent == agent || (known && Knowledge::at(known->seen, moment.agent) >= moment.time);
  }
  bool shows(Moment moment) const {
    return moment.agent == agent ? shown >= moment.time : known && Knowledge::at(known->shown, moment.agent) >= moment.time;
  }
  /// Whoever gets to know what the channel holds knows of all that this thread has done so far.
  void release(Channel &channel);
  void fence(KnownCache &cache);
};

} // namespace tilery::emulator
