#pragma once
// Which calls a variant of a bundle's entry is for.
#include "tilery/bundle.h"

namespace tilery {
/// Is the condition about where a call runs?
bool isOfPlace(const BundleCondition &condition);
/// Does the call meet it? `written`: of each argument, whether the variant's program may write it.
bool holds(const BundleCondition &condition, std::span<const HostArgument> arguments, Bundle::Place place,
           const std::vector<bool> &written);
/// What is given and what is expected, of a call that does not meet it. `entry`'s other variants say which numbers there are.
std::string expectation(const BundleCondition &condition, const BundleEntry &entry, std::span<const HostArgument> arguments,
                        const std::vector<bool> &written);
/// For which machines an entry's code is, and where the call runs.
std::string placesOf(const BundleEntry &entry, Bundle::Place place);
} // namespace tilery
