#pragma once
// The loops around the code that is emitted: where what is fixed outside of one is emitted, and which values are known there.
#include "compiler/lower/lane_index.h"
#include <map>

namespace tilery::lower {

class LoopLevels {
public:
  using Memo = std::map<Key, Lanes>;
  explicit LoopLevels(llvm::IRBuilder<> &b) : b(b), levels(1) {}
  /// Enters a loop whose preheader ends with `preheaderEnd`: what is fixed outside the loop is emitted before it.
  void enter(llvm::Instruction *preheaderEnd);
  void leave();
  /// That of the innermost loop.
  unsigned current() const { return levels.size() - 1; }
  /// The values that are known at this point: those of its level, or of owned elements.
  Memo &memoAt(llvm::ArrayRef<Index> point);
  /// Those that no loop moves.
  Memo &outermost() { return levels[0].memo; }
  /// Forgets the values of this level.
  void forget() { levels.back().memo.clear(); }
  Memo owned; // values at owned elements (Index::owned)

private:
  friend class AtLevel;
  struct Level {
    llvm::Instruction *preheaderEnd = nullptr; // of the loop entered from here
    Memo memo;
  };
  llvm::IRBuilder<> &b;
  std::vector<Level> levels;
};

/// Moves the builder to the end of an outer loop's body so far, for its lifetime. Blocks may be split meanwhile.
class AtLevel {
public:
  AtLevel(LoopLevels &levels, unsigned level);
  ~AtLevel();
  AtLevel(const AtLevel &) = delete;

private:
  llvm::IRBuilder<> &b;
  bool moved;
  llvm::BasicBlock *block = nullptr;        // where it was: the end of this block, or
  llvm::Instruction *instruction = nullptr; // before this instruction
};

} // namespace tilery::lower
