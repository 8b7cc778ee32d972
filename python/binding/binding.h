#pragma once
// The parts of tilery._native: one bind function a file.
#include <nanobind/nanobind.h>

namespace tilery::python {
void bindRuntime(nanobind::module_ &m);
} // namespace tilery::python
