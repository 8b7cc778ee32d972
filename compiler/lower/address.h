#pragma once
// Where the lanes of an access are in memory: a value.
#include "compiler/lower/emitter.h"

namespace tilery::lower {

/// Lanes whose places follow each other: those of `mask` are at `pointer + offset + lane`.
struct LaneRun {
  llvm::Value *mask, *offset;
};

struct Address {
  mlir::Type element;
  llvm::Value *pointer = nullptr;     // of lane 0
  unsigned level = 0;                 // the innermost loop that moves `pointer`
  int64_t step = 0;                   // elements from lane to lane, if `offsets` is null
  llvm::Value *offsets = nullptr;     // <L x i64> elements from `pointer`
  llvm::Value *apart = nullptr;       // offsets are so many (i64) from lane to lane; null: they may be any
  llvm::SmallVector<LaneRun, 3> runs; // all that `offsets` says; empty: lanes may lie anywhere
  Lanes exists = nullptr;             // null: all lanes
  unsigned alignment = 1;
  bool isVolatile = false, global = false; // global: a kernel argument's memory
  bool constant = false;                   // nothing in the kernel writes it
  llvm::StringRef cache, eviction;         // what the program asks of caches (".cg", "evict_last"), for targets that can be asked
  llvm::MDNode *scope = nullptr, *noalias = nullptr;
  llvm::Value *row = nullptr; // of buffers, where all lanes are at one place `place` of rows: the row of lane 0
  int64_t place = 0;
  /// Lanes lie so much further, each.
  void addOffsets(llvm::IRBuilder<> &b, llvm::Value *more);
  /// Says of an access what it may alias.
  void annotate(llvm::Instruction *instruction) const;
};

} // namespace tilery::lower
