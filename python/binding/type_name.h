#pragma once
#include <Python.h>
#include <string>

namespace tilery::python {

/// The name of an object's type, as messages show it: "ndarray".
std::string typeName(PyObject *object);

/// With its module: "numpy.ndarray".
std::string fullTypeName(PyTypeObject *type);

} // namespace tilery::python
