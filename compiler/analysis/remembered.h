#pragma once
// Recursive analyses over values look at each value once, however many paths lead to it: `x = x + x` sixty times is 2^60 paths.
#include "mlir/IR/Value.h"
#include <map>
#include <tuple>

namespace tilery::analysis {

/// What was found on the way to the answer of one question. It is forgotten with the answer, after which the IR may change.
template <typename Result, typename... Parts> class Remembered {
public:
  template <typename Compute> Result of(mlir::Value value, Parts... parts, Compute compute) {
    std::tuple<const void *, Parts...> key(value.getAsOpaquePointer(), parts...);
    if (auto known = found.find(key); known != found.end())
      return known->second;
    ++depth;
    Result result = compute();
    if (--depth)
      found.try_emplace(key, result);
    else
      found.clear();
    return result;
  }

private:
  std::map<std::tuple<const void *, Parts...>, Result> found;
  unsigned depth = 0;
};

} // namespace tilery::analysis
