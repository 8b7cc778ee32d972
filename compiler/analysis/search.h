#pragma once
// Searches that begin somewhere and go on from what they find.
#include "llvm/ADT/SetVector.h"

namespace tilery::analysis {

/// Each value (or op) once, in the order in which it was added: `for (Search<Value> found(tile); Value value = found.next();) found.add(...)`.
template <typename T> class Search {
public:
  Search() = default;
  explicit Search(T first) { add(first); }

  void add(T each) { found.insert(each); }
  template <typename Range> void addAll(Range &&range) { found.insert(range.begin(), range.end()); }
  /// The next one; null: there is none.
  T next() { return at < found.size() ? found[at++] : T(); }
  /// All that were added.
  llvm::ArrayRef<T> all() const { return found.getArrayRef(); }

private:
  llvm::SetVector<T> found;
  size_t at = 0;
};

} // namespace tilery::analysis
