#pragma once
// Objects that describe themselves as tensors do.
#include "launch_args.h"

namespace tilery::python {

/// `shape` and `stride()`; false where an object has none that fit each other.
bool readShape(PyObject *object, Argument &argument, ArgumentOwners &owners);

} // namespace tilery::python
