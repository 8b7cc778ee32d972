#pragma once
// What NineToothed's symbols and tensors are given as plain numbers: read in one place, refused in one form.
#include "tilery/arrange.h"
#include <nanobind/nanobind.h>
#include <optional>
#include <string>
#include <vector>

namespace tilery::python {
/// Of an integer or what has `__index__`. `what` is what the message names; TypeError for anything else, OverflowError beyond 64 bits.
int64_t integerArgument(nanobind::handle value, const std::string &what);
std::optional<int64_t> optionalInteger(nanobind::handle value, const std::string &what);
/// Of one integer, or of a tuple or list of them.
std::vector<int64_t> integerArguments(nanobind::handle values, const std::string &what);
/// Of a bool or an integer; absent for None.
std::optional<bool> optionalFlag(nanobind::handle value, const std::string &what);
/// Of a bool, an integer or a float; absent for None.
arrange::Scalar scalarArgument(nanobind::handle value, const std::string &what);
std::optional<std::string> optionalText(nanobind::handle value, const std::string &what);
} // namespace tilery::python
