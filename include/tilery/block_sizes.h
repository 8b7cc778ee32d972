#pragma once
/// Block sizes that the caller leaves open.
#include "tilery/arrange.h"

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {
/// The `count` best values for `metas` (meta names), by Name::text, best first: those that the analytic cost model of `target` (as in CompileOptions) expects to run fastest;
/// nothing is timed. `sizes` gives every other name a value. `device`: a GPU's number; -1: the threads of this process. Throws
/// std::invalid_argument if no candidate keeps an innermost tile between 1 and 32,768 elements, Error if there is no such target or device.
std::vector<arrange::Symbol::Values> rankBlockSizes(const std::vector<arrange::Traffic> &arguments,
                                                    const std::vector<arrange::Symbol> &metas,
                                                    const arrange::Symbol::Values &sizes, const std::string &target, int device,
                                                    size_t count = 1);
} // namespace tilery
#pragma GCC visibility pop
