#pragma once
#include "tilery/builder.h"

namespace tilery {

/// Two arguments of a kernel, by position, that are the sizes along which tensors are multiplied with each other in step.
struct InnerSizes {
  size_t left, right;
  std::optional<int64_t> most; ///< of so many elements at the head; none: of all
  bool operator==(const InnerSizes &) const = default;
};

/// Those of a finished kernel; `host`: any value of the host function that is being built beside it. Debug mode finds more of them
/// (oracle/inner_sizes), as it knows what is computed.
std::vector<InnerSizes> innerSizesOf(const Value &host, const std::string &kernel);

} // namespace tilery
