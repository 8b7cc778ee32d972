#pragma once
// The grid of a launch, read from Python.
#include <Python.h>
#include <cstdint>
#include <string>

namespace tilery::python {

/// The extents of a grid: an int, or a tuple or list of one to three, behind which others may be 1. Throws Error, which names the kernel.
void readGrid(const std::string &kernel, PyObject *grid, int64_t extents[3]);

} // namespace tilery::python
