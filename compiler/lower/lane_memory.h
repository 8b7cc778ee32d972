#pragma once
// How the lanes at an address are read and written.
#include "compiler/lower/plan.h"
#include "compiler/lower/thread_model.h"

namespace tilery::lower {

class LaneMemory {
public:
  /// `lanes`: how many are computed at the moment; `threads`: null, or how the target's move memory.
  LaneMemory(Emitter &e, const Plan &plan, ThreadModel *threads, const unsigned &lanes)
      : e(e), plan(plan), threads(threads), width(lanes) {}
  /// Loads; lanes that do not exist are `other` (null: 0).
  Lanes load(const Address &address, Lanes other = nullptr);
  /// Stores the lanes that exist.
  void store(const Address &address, Lanes value, bool streaming = false);
  /// One pointer a lane, also to those that do not exist.
  llvm::Value *lanePointers(const Address &address);

  struct Ahead {
    llvm::Value *bytes = nullptr;   // i64; null: nothing
    bool near = true;               // in the first-level cache, else in the second
  } fetchAhead;                     // what is asked for, so far in front of what is loaded of global memory
  llvm::Value *arena = nullptr;     // scratch memory of this thread
  llvm::Value *workspace = nullptr; // of what is outside the arena

private:
  Lanes loadThroughPort(const Address &address, Lanes other);
  void storeThroughPort(const Address &address, llvm::Value *bits);
  /// Where to write, in place of lanes that do not exist, what nobody reads.
  llvm::Value *unread(llvm::Type *type);
  // -- lanes of scratch memory that lie near each other (load_near.cpp); null where single loads are better
  Lanes loadNear(const Address &address);
  /// One or two vectors, shuffled.
  Lanes loadSpread(const Address &address);
  Lanes everyStepth(const Address &address);

  Emitter &e;
  const Plan &plan;
  ThreadModel *threads;
  const unsigned &width;
};

} // namespace tilery::lower
