#pragma once
// What the threads of a kernel do with barriers in shared memory, the copies that arrive there and the matrix products that read them: a
// model that is run to find wrong phases, counts and bytes. (NVIDIA's race checker does not see the copy engine.)
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilery::barriers {

/// A barrier, or a byte of data: in the shared memory of this block of the cluster.
struct SharedAddress {
  uint32_t block = 0, offset = 0;
  auto operator<=>(const SharedAddress &) const = default;
};

struct Event {
  enum Kind {
    Init,        // barrier at: completes a phase after `count` arrivals and its expected bytes
    Meet,        // all agents of the block (count 0) or of the cluster (1)
    Arrive,      // at barrier at, which expects `count` more bytes
    Wait,        // until barrier at has completed its current phase of parity `count`
    Copy,        // starts writing `count` bytes at `data`, then credits them to barrier at
    Read,        // starts reading at `at`; runs until WaitReads
    CommitReads, // the reads since the last commit are a group
    WaitReads,   // until at most `count` groups run
  };
  Kind kind;
  SharedAddress at;
  uint32_t count = 0;
  SharedAddress data = {};
  std::optional<uint32_t> phase =
      {};                       // Wait: that is meant, counted from 0, where it is known: who waits for some phases only says so
  bool continues = false;       // Arrive: goes on with the arrivals of the event before, which belong to one phase
  const void *source = nullptr; // whoever made it knows what that is
  bool operator==(const Event &) const = default;
};

/// Threads that act as one, in program order. `complete`: the trace ends where they do.
struct Agent {
  std::string name; // "the producer"
  uint32_t block = 0;
  std::vector<Event> events;
  bool complete = true;
  bool operator==(const Agent &) const = default;
};

/// How users know a barrier. `each`: arrivals of theirs that are one here.
struct Called {
  std::string name;
  uint32_t each = 1;
};
using Names = std::map<SharedAddress, Called>;

/// What is wrong. `source`: of the event where it shows; `waiting`: of other waits that do not end either, with the barrier's name.
struct Fault {
  std::string text;
  const void *source = nullptr;
  std::vector<std::pair<const void *, std::string>> waiting{};
};

/// What is wrong with them, if anything: agents that wait for ever, phases that get more arrivals than they count, reads of what has not
/// arrived or is overwritten, barriers that nobody has made. The agents are run in several orders, each as far ahead of the others as the
/// barriers let it, with copies that take no time or as long as they can. An agent that waits for a copy reads it before it waits for the
/// next one, or not at all.
std::optional<Fault> faultOf(const std::vector<Agent> &agents, const Names &names = {});

} // namespace tilery::barriers
