#pragma once
// What torch keeps of a tensor beside its memory.
#include <Python.h>

namespace tilery::python {

/// Does a tensor of torch hold the negatives of its memory (`is_neg()`)?
bool isNegated(PyObject *tensor);

} // namespace tilery::python
