#pragma once
#include "compiler/barriers/model.h"
#include <map>

namespace tilery {

/// What a barrier has come to: how many arrivals a phase lacks, and its parity.
struct BarrierState {
  uint32_t arrivals = 0, pending = 0, phase = 0;
  bool operator==(const BarrierState &other) const { return pending == other.pending && (phase & 1) == (other.phase & 1); }
  /// Of an arrival, a wait, or where it is made. False: the wait is not over.
  bool take(const barriers::Event &event) {
    if (event.kind == barriers::Event::Init)
      *this = {event.count, event.count, 0};
    else if (event.kind == barriers::Event::Arrive && --pending == 0)
      pending = arrivals, ++phase;
    return event.kind != barriers::Event::Wait || (phase & 1) != event.count;
  }
};
using BarrierStates = std::map<barriers::SharedAddress, BarrierState>;

} // namespace tilery
