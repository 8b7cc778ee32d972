#pragma once
// Where lanes are in a tile: values, told apart by what they are made of.
#include "compiler/lower/emitter.h"
#include <tuple>

namespace tilery::lower {

/// Position along one tile dimension. Lane l is at base + step * l, or at lanes[l].
struct Index {
  llvm::Value *base = nullptr; // i64, the same for all lanes; unused with `lanes`
  int64_t step = 0;
  llvm::Value *lanes = nullptr; // <L x i64>
  unsigned level = 0;           // the innermost loop that moves it
  int64_t multiple = 1;         // known divisor of base (0: base is 0)
  int loop = -1;                // the nest dimension it is exactly the counter of, -1: none
  bool owned = false;     // of an element that this thread has in every nest: what is computed there stays known (OwnedScope)
  bool ofThreads = false; // neighbouring threads have neighbours along it, one element each
  int16_t behind = -1;    // of rows side by side: so many behind the first of them; -1: it is of none
  bool uniform() const { return step == 0 && !lanes; }
};
using Point = llvm::SmallVector<Index, 4>;

/// The innermost loop that moves one of its indices.
inline unsigned levelOf(llvm::ArrayRef<Index> point) {
  unsigned level = 0;
  for (const Index &index : point)
    level = std::max(level, index.level);
  return level;
}

/// A value at a point, told apart from all others.
using Key = std::pair<const void *, llvm::SmallVector<std::tuple<llvm::Value *, int64_t, llvm::Value *>, 4>>;
Key keyOf(mlir::Value tile, llvm::ArrayRef<Index> point);

/// An integer tile (or scalar) at a point, in i64: base + step * l, or base + lanes[l]. For chains that do not wrap.
struct Linear {
  llvm::Value *base = nullptr;
  int64_t step = 0;
  llvm::Value *lanes = nullptr;
  unsigned level = 0;
};

} // namespace tilery::lower
