#pragma once
// Objects that describe themselves as tensors do.
#include "launch_args.h"

namespace tilery::python {

/// `shape` and `stride()`; false where an object has none that fit each other.
bool readShape(PyObject *object, Argument &argument, ArgumentOwners &owners);

/// Is an element of NumPy's masked array hidden? A kernel would read it.
bool masksElements(PyObject *array);

} // namespace tilery::python
