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
  int64_t bytes = 0;  // expected and not yet here
  bool split = false; // arrivals that belong together have ended a phase and begun the next one
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
enum class Cause { Bytes, Count, Nobody, Parity, Data, Missed, Phase };
struct Found {
  Cause cause;
  Fault fault;
};

class Run {
public:
  Run(const std::vector<Agent> &programs, const Names &names, const std::vector<size_t> &order, bool lateCopies)
      : names(names), order(order), lateCopies(lateCopies) {
    for (const Agent &program : programs) {
      agents.push_back({&program, 0, 0, 0, false, {}, {}});
      for (const Event &event : program.events)
        if (event.kind == Event::Arrive) {
          visited.insert(event.at);
        } else if (event.kind == Event::Copy) {
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
    if (auto called = names.find(barrier); called != names.end())
      return called->second.name;
    bool full = filled.count(barrier);
    size_t number = 0;
    for (auto &[at, state] : barriers)
      number += at.block == barrier.block && at < barrier && bool(filled.count(at)) == full;
    return std::string(full ? "full" : "empty") + " barrier " + std::to_string(number);
  }

  /// Arrivals as users count them.
  std::string arrivals(SharedAddress barrier, unsigned number) const {
    auto called = names.find(barrier);
    return std::to_string(number * (called == names.end() ? 1 : called->second.each));
  }

  [[noreturn]] void fail(const std::string &text, Cause cause = Cause::Data) const { throw Found{cause, {text, source, {}}}; }

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
    source = event.source;
    switch (event.kind) {
    case Event::Init:
      if (event.count == 0)
        fail("a barrier at byte " + std::to_string(event.at.offset) + " counts no arrivals", Cause::Count);
      barriers[event.at] = {event.count, event.count, 0, 0, false};
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
        fail(name(event.at) + " gets more than its " + arrivals(event.at, barrier.arrivals) + " arrivals in a phase, from " +
                 agent.program->name,
             Cause::Count);
      barrier.split |= event.continues && barrier.pending == barrier.arrivals;
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

  [[noreturn]] void stuck() {
    std::optional<Found> worst;
    std::vector<std::pair<const void *, std::string>> waiting;
    for (const Running &agent : agents) {
      if (agent.done() || agent.program->events[agent.next].kind != Event::Wait)
        continue;
      const Event &event = agent.program->events[agent.next];
      waiting.emplace_back(event.source, name(event.at));
      auto [cause, why] = whyForEver(agent, event);
      if (!worst || cause < worst->cause)
        worst = Found{cause, {agent.program->name + " waits for ever: " + why, event.source, {}}};
    }
    if (!worst) {
      auto first = std::find_if(agents.begin(), agents.end(), [](const Running &a) { return !a.done(); });
      worst = Found{Cause::Phase, {first->program->name + " waits for ever for the others", nullptr, {}}};
    }
    std::erase_if(waiting, [&](auto &other) { return other.first == worst->fault.source; });
    worst->fault.waiting = std::move(waiting);
    throw *worst;
  }

  /// Why a wait does not end.
  std::pair<Cause, std::string> whyForEver(const Running &agent, const Event &wait) const {
    const Barrier &barrier = barriers.at(wait.at);
    std::string who = name(wait.at);
    if (barrier.bytes > 0)
      return {Cause::Bytes, who + " expects " + std::to_string(barrier.bytes) + " bytes that never come"};
    if (barrier.bytes < 0)
      return {Cause::Bytes, who + " gets " + std::to_string(-barrier.bytes) + " bytes more than it expects"};
    if (barrier.split)
      return {Cause::Count, who + " counts " + arrivals(wait.at, barrier.arrivals) +
                                " arrivals a phase, and more threads arrive together: they end a phase and begin the next one"};
    if (barrier.pending < barrier.arrivals)
      return {Cause::Count, who + " counts " + arrivals(wait.at, barrier.arrivals) + " arrivals a phase and gets " +
                                arrivals(wait.at, barrier.arrivals - barrier.pending)};
    if (!visited.contains(wait.at) && !filled.contains(wait.at))
      return {Cause::Nobody, "nobody arrives at " + who};
    auto known = agent.waited.find(wait.at);
    unsigned over = known == agent.waited.end() ? 0 : known->second.phases; // that this agent knows of
    unsigned meant = (over & 1) == wait.count ? over : over + 1;
    std::string completed = who + " has completed " + (barrier.phase ? std::to_string(barrier.phase) : "no") +
                            (barrier.phase > 1 ? " phases" : " phase");
    if (meant > over && barrier.phase > over)
      return {Cause::Parity, completed + ", of which this role has waited for " + (over ? std::to_string(over) : "none") +
                                 ": a wait with parity " + std::to_string(wait.count) + " passes over phase " +
                                 std::to_string(over)};
    if (meant < barrier.phase)
      return {Cause::Missed, completed + " before this wait for its phase " + std::to_string(meant) +
                                 " came: who arrives there does not wait for this role"};
    return {Cause::Phase, completed + ", and nobody is left to arrive in phase " + std::to_string(barrier.phase) +
                              ", of parity " + std::to_string(wait.count)};
  }

  std::vector<Running> agents;
  const Names &names;
  const std::vector<size_t> &order;
  bool lateCopies;
  const void *source = nullptr; // of the event that is at its turn
  std::map<SharedAddress, Barrier> barriers;
  std::map<SharedAddress, Place> places;
  std::deque<Event> copies;                 // that have not arrived
  std::set<SharedAddress> filled;           // barriers that copies credit
  std::set<SharedAddress> visited;          // barriers at which somebody arrives
  std::map<SharedAddress, uint32_t> ranges; // where copies go to at some time, in bytes
};
} // namespace

std::optional<Fault> faultOf(const std::vector<Agent> &agents, const Names &names) {
  std::vector<size_t> order(agents.size());
  std::iota(order.begin(), order.end(), 0);
  std::optional<Found> worst;
  for (int direction = 0; direction < 2; ++direction) {
    for (size_t i = 0; i < agents.size(); ++i) {
      for (bool late : {false, true})
        try {
          Run(agents, names, order, late).run();
        } catch (const Found &found) {
          if (!worst || found.cause < worst->cause)
            worst = found;
        }
      std::rotate(order.begin(), order.begin() + 1, order.end());
    }
    std::reverse(order.begin(), order.end());
  }
  return worst ? std::optional(worst->fault) : std::nullopt;
}

} // namespace tilery::barriers
