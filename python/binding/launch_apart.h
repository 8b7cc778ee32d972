#pragma once
// Launches with tuples and tensor descriptors, natively where there has been a call of the kind before.
#include "launch_key.h"
#include <Python.h>
#include <cstddef>
#include <functional>
#include <vector>

namespace tilery::python {

struct BoundCall {
  const std::vector<Parameter> &parameters;
  PyObject *const *values; ///< of the first `count` parameters
  size_t leading;          ///< parameters before the options
  size_t count;            ///< `leading`, or all
};

/// Takes the call's tuples and descriptors apart and calls the launcher that takes such leaves, with `grid()`; `result` is what it
/// returns, null with a Python exception set. False: there has been no such call, or an argument is of another kind. The launcher's attribute
/// `launch_structured` (tileon/runtime/structured.py) does the same for calls of all kinds, and knows which have been.
bool launchApart(PyObject *launcher, const BoundCall &call, const std::function<PyObject *()> &grid, PyObject *&result);

} // namespace tilery::python
