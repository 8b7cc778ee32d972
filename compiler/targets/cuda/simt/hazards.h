#pragma once
// When the threads of a block must wait for each other: what was written and read since they last did.
#include "compiler/lower/aliasing.h"

namespace tilery::cuda {

/// What a step reads and writes of memory that threads share.
struct Footprint {
  llvm::SmallVector<lower::MemoryClass> reads, writes;
};

class Hazards {
public:
  /// `everything`: of the whole kernel.
  void begin(Footprint everything, bool disjoint) {
    all = std::move(everything);
    apart = disjoint;
  }
  /// Threads must wait before a step of this footprint.
  bool conflict(const Footprint &next) const {
    const Footprint &before = unknown ? all : since;
    return meet(next.writes, before.writes) || meet(next.writes, before.reads) || meet(next.reads, before.writes);
  }
  /// A step of this footprint, repeated, needs no waits between its turns.
  bool repeats(const Footprint &step) const { return !meet(step.writes, step.writes) && !meet(step.writes, step.reads); }
  bool pending() const { return unknown || !since.reads.empty() || !since.writes.empty(); }
  void add(const Footprint &step) {
    since.reads.append(step.reads);
    since.writes.append(step.writes);
  }
  /// All threads have waited for each other.
  void settled() {
    since = {};
    unknown = false;
  }
  /// What came before may be anything that the kernel does: control came from several places, or a step has not said what it does.
  void lose() { unknown = true; }

private:
  bool meet(llvm::ArrayRef<lower::MemoryClass> x, llvm::ArrayRef<lower::MemoryClass> y) const {
    return llvm::any_of(x, [&](auto a) { return llvm::any_of(y, [&](auto b) { return lower::mayAlias(a, b, apart); }); });
  }
  Footprint all, since;
  bool apart = false, unknown = false;
};

} // namespace tilery::cuda
