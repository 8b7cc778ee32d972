#pragma once
/// Block sizes that the caller leaves open.
#include "tilery/arrange.h"

namespace tilery {
/// Values for `metas` (meta names), by Name::text, that the device's analytic cost model expects to run fastest; nothing is timed. `sizes`
/// gives every other name a value. `device`: a GPU's number; -1: the threads of this process. Throws std::invalid_argument if no candidate
/// keeps an innermost tile between 1 and 32,768 elements, Error if there is no such device.
arrange::Symbol::Values chooseBlockSizes(const std::vector<arrange::Traffic> &arguments,
                                         const std::vector<arrange::Symbol> &metas, const arrange::Symbol::Values &sizes,
                                         int device);
} // namespace tilery
