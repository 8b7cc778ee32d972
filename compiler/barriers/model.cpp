#include "compiler/barriers/model.h"
#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <set>

namespace tilery::barriers {
namespace {

struct Barrier {
  unsigned arrivals = 0, pending = 0, phase = 0;
  int64_t bytes = 0; // expected and not yet here
};
struct Phase {
  SharedAddress barrier;
  unsigned number;
};
/// Memory that one copy fills.
struct Place {
  std::vector<Phase> copies; // so far: in which phase each began
  bool arriving = false;
  uint32_t bytes = 0;
};
struct Reading {
  SharedAddress at;
  unsigned group;
};
/// A barrier's phases as an agent knows them that waits for it.
struct Waited {
  unsigned phases = 0; // that are over
  bool read = false;   // what came with the last one

  /// A phase may be waited for again; who has read in between means the next one of that parity.
  void wait(uint32_t parity, std::optional<uint32_t> meant) {
    if (meant)
      phases = *meant + 1;
    else if ((phases & 1) == parity)
      ++phases;
    else if (read)
      phases += 2;
    read = false;
  }
};
struct Running {
  const Agent *program;
  size_t next = 0;
  unsigned meetings = 0, groups = 0;
  bool meeting = false;
  std::deque<Reading> readings;
  std::map<SharedAddress, Waited> waited;
  bool done() const { return next == program->events.size(); }
};
/// What explains most comes first: a phase that nobody completes is often the consequence of something else.
enum class Cause { Bytes, Count, Data, Phase };
struct Fault {
  Cause cause;
  std::string text;
};

class Run {
public:
  Run(const std::vector<Agent> &programs, const std::vector<size_t> &order, bool lateCopies)
      : order(order), lateCopies(lateCopies) {
    for (const Agent &program : programs) {
      agents.push_back({&program, 0, 0, 0, false, {}, {}});
      for (const Event &event : program.events)
        if (event.kind == Event::Copy) {
          filled.insert(event.at);
          ranges[event.data] = std::max(ranges[event.data], event.count);
        }
    }
  }

  void run() {
    for (;;) {
      bool moved = false;
      for (size_t i : order)
        if (step(agents[i])) {
          moved = true;
          break; // the first agent that can goes on
        }
      if (moved)
        continue;
      if (!copies.empty()) {
        arrive(copies.front());
        copies.pop_front();
        continue;
      }
      if (std::all_of(agents.begin(), agents.end(), [](const Running &a) { return a.done(); }))
        return;
      // An agent whose trace was cut short may be the one that the others wait for.
      if (std::all_of(agents.begin(), agents.end(), [](const Running &a) { return a.program->complete; }))
        stuck();
      return;
    }
  }

private:
  std::string name(SharedAddress barrier) const {
    bool full = filled.count(barrier);
    size_t number = 0;
    for (auto &[at, state] : barriers)
      number += at.block == barrier.block && at < barrier && bool(filled.count(at)) == full;
    return std::string(full ? "full" : "empty") + " barrier " + std::to_string(number);
  }

  [[noreturn]] void fail(const std::string &text, Cause cause = Cause::Data) const { throw Fault{cause, text}; }

  Barrier &barrierAt(const Running &agent, SharedAddress at) {
    auto found = barriers.find(at);
    if (found == barriers.end())
      fail(agent.program->name + " uses a barrier at byte " + std::to_string(at.offset) + " before it is initialised");
    return found->second;
  }

  void completeIfDue(Barrier &barrier) {
    if (barrier.pending || barrier.bytes)
      return;
    ++barrier.phase;
    barrier.pending = barrier.arrivals;
  }

  void arrive(const Event &copy) {
    Barrier &barrier = barriers.at(copy.at);
    barrier.bytes -= copy.count;
    places.at(copy.data).arriving = false;
    completeIfDue(barrier);
  }

  /// The place that holds this byte, if a copy ever goes there.
  std::map<SharedAddress, Place>::iterator placeAt(SharedAddress at) {
    auto after = places.upper_bound(at);
    if (after == places.begin())
      return places.end();
    --after;
    return after->first.block == at.block && at.offset < after->first.offset + after->second.bytes ? after : places.end();
  }

  bool step(Running &agent) {
    if (agent.done())
      return false;
    const Event &event = agent.program->events[agent.next];
    switch (event.kind) {
    case Event::Init:
      if (event.count == 0)
        fail("a barrier at byte " + std::to_string(event.at.offset) + " counts no arrivals", Cause::Count);
      barriers[event.at] = {event.count, event.count, 0, 0};
      break;
    case Event::Meet:
      if (!agent.meeting) {
        agent.meeting = true;
        ++agent.meetings;
      }
      for (const Running &other : agents)
        if ((event.count || other.program->block == agent.program->block) && !other.done() && other.meetings < agent.meetings)
          return false;
      agent.meeting = false;
      break;
    case Event::Arrive: {
      Barrier &barrier = barrierAt(agent, event.at);
      if (!barrier.pending)
        fail(name(event.at) + " gets more than its " + std::to_string(barrier.arrivals) + " arrivals in a phase, from " +
                 agent.program->name,
             Cause::Count);
      --barrier.pending;
      barrier.bytes += event.count;
      completeIfDue(barrier);
      break;
    }
    case Event::Wait: {
      const Barrier &barrier = barrierAt(agent, event.at);
      if ((barrier.phase & 1) == event.count)
        return false;
      agent.waited[event.at].wait(event.count, event.phase);
      break;
    }
    case Event::Copy:
      copy(agent, event);
      break;
    case Event::Read:
      read(agent, event.at);
      break;
    case Event::CommitReads:
      ++agent.groups;
      break;
    case Event::WaitReads:
      while (!agent.readings.empty() && agent.readings.front().group + event.count < agent.groups)
        agent.readings.pop_front();
      break;
    }
    ++agent.next;
    return true;
  }

  void copy(Running &agent, const Event &event) {
    barrierAt(agent, event.at);
    auto inside = [&](SharedAddress at) {
      return at.block == event.data.block && at.offset >= event.data.offset && at.offset < event.data.offset + event.count;
    };
    for (const Running &other : agents)
      for (const Reading &reading : other.readings)
        if (inside(reading.at))
          fail(agent.program->name + " copies over data of " + name(event.at) + " that " + other.program->name + " still reads");
    Place &place = places[event.data];
    if (place.arriving)
      fail(agent.program->name + " copies to where a copy of " + name(event.at) + " has not arrived");
    place.copies.push_back({event.at, barriers.at(event.at).phase});
    place.arriving = true;
    place.bytes = event.count;
    if (lateCopies)
      copies.push_back(event);
    else
      arrive(event);
  }

  void read(Running &agent, SharedAddress at) {
    auto range = ranges.upper_bound(at);
    if (range == ranges.begin() || (--range)->first.block != at.block || at.offset >= range->first.offset + range->second)
      return; // threads write there, no copy
    auto place = placeAt(at);
    if (place != places.end() && place->second.arriving)
      if (auto [barrier, number] = place->second.copies.back(); number < barriers.at(barrier).phase)
        fail(name(barrier) + " completes a phase before the " + std::to_string(place->second.bytes) +
                 " bytes of a copy that began in it are there: it expects too few",
             Cause::Bytes);
    if (place == places.end() || place->second.arriving)
      fail(agent.program->name + " reads data at byte " + std::to_string(at.offset) +
           " before it has arrived: it waits for the wrong phase, or for too few bytes");
    // The copy that is meant: the last one of a phase that the agent knows is over; the first one, if it knows of none.
    const std::vector<Phase> &copies = place->second.copies;
    size_t meant = copies.size() - 1;
    while (meant && copies[meant].number >= agent.waited[copies[meant].barrier].phases)
      --meant;
    SharedAddress barrier = copies[meant].barrier;
    if (agent.waited[barrier].phases > barriers.at(barrier).phase)
      fail(agent.program->name + " reads the data of an earlier phase of " + name(barrier) +
           ": it does not wait for the next one");
    if (meant + 1 < copies.size())
      fail("data of " + name(barrier) + " is overwritten before " + agent.program->name +
           " has read it: it is released too early, or not waited for");
    agent.waited[barrier].read = true;
    agent.readings.push_back({at, agent.groups});
  }

  [[noreturn]] void stuck() const {
    auto first = std::find_if(agents.begin(), agents.end(), [](const Running &a) { return !a.done(); });
    std::string result;
    for (const Running &agent : agents) {
      if (agent.done() || agent.program->events[agent.next].kind != Event::Wait)
        continue;
      SharedAddress at = agent.program->events[agent.next].at;
      const Barrier &barrier = barriers.at(at);
      std::string who = agent.program->name + " waits for ever: " + name(at);
      if (barrier.bytes > 0)
        fail(who + " expects " + std::to_string(barrier.bytes) + " bytes that never come", Cause::Bytes);
      if (barrier.bytes < 0)
        fail(who + " gets " + std::to_string(-barrier.bytes) + " bytes more than it expects", Cause::Bytes);
      if (barrier.pending < barrier.arrivals)
        fail(who + " counts " + std::to_string(barrier.arrivals) + " arrivals a phase and gets " +
                 std::to_string(barrier.arrivals - barrier.pending),
             Cause::Count);
      if (result.empty())
        result = who + " is not to complete a phase of parity " + std::to_string(agent.program->events[agent.next].count) +
                 " any more: the phase is wrong, or nobody arrives";
    }
    fail(result.empty() ? first->program->name + " waits for ever for the others" : result, Cause::Phase);
  }

  std::vector<Running> agents;
  const std::vector<size_t> &order;
  bool lateCopies;
  std::map<SharedAddress, Barrier> barriers;
  std::map<SharedAddress, Place> places;
  std::deque<Event> copies;                 // that have not arrived
  std::set<SharedAddress> filled;           // barriers that copies credit
  std::map<SharedAddress, uint32_t> ranges; // where copies go to at some time, in bytes
};
} // namespace

std::optional<std::string> faultOf(const std::vector<Agent> &agents) {
  std::vector<size_t> order(agents.size());
  std::iota(order.begin(), order.end(), 0);
  std::optional<Fault> worst;
  for (int direction = 0; direction < 2; ++direction) {
    for (size_t i = 0; i < agents.size(); ++i) {
      for (bool late : {false, true})
        try {
          Run(agents, order, late).run();
        } catch (const Fault &fault) {
          if (!worst || fault.cause < worst->cause)
            worst = fault;
        }
      std::rotate(order.begin(), order.begin() + 1, order.end());
    }
    std::reverse(order.begin(), order.end());
  }
  return worst ? std::optional(worst->text) : std::nullopt;
}

} // namespace tilery::barriers
