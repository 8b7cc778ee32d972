#pragma once
// Tuples and tensor descriptors among a launch's arguments, taken apart natively where there has been a call of the kind before.
#include "launch_key.h"
#include <cstddef>
#include <nanobind/nanobind.h>
#include <vector>

namespace tilery::python {

struct BoundCall {
  const std::vector<Parameter> &parameters;
  PyObject *const *values; ///< of the parameters before the options
  size_t leading;          ///< how many those are
};

/// What arguments consist of, and the launcher that takes such leaves.
struct Apart {
  PyObject *launcher = nullptr; ///< borrowed
  std::vector<nanobind::object> leaves;
};

/// What a launcher's attribute `launch_structured` (tileon/runtime/structured.py) lends: (launchers by structure, types that stay whole, the
/// type of descriptors); None if it has none.
nanobind::object structuresMet(PyObject *launcher);

/// Takes the call's tuples and descriptors apart. False: there has been no such call, or an argument is of another kind; then
/// `launch_structured` does it, which takes calls of all kinds and notes in `met` which have been.
bool takeApart(nanobind::handle met, const BoundCall &call, Apart &apart);

} // namespace tilery::python
