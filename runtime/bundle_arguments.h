#pragma once
// What a bundle's entry asks of a call's arguments.
#include "tilery/bundle.h"

namespace tilery {
/// Throws Error unless the arguments are what the entry's parameters say: tensors with extents, strides and memory where they have elements,
/// and pointers that are not null where programs run. `grid`: null for an entry that computes its own.
void checkArguments(const BundleEntry &entry, std::span<const HostArgument> arguments, const int64_t *grid);

/// What a tensor of a C or C++ caller lacks, as in "its shape is null"; empty: nothing.
std::string missingOf(const Tensor &tensor);
} // namespace tilery
