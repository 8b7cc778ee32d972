#pragma once
// Launches with arguments that the launcher does not take as they are: structures, and what is known at compile time.
#include <Python.h>
#include <cstddef>

namespace tilery::python {

struct StructuredCall {
  PyObject *argument; ///< the first such argument
  PyObject *grid;     ///< null: none
  PyObject *const *args;
  size_t count; ///< of positional arguments; those that `keywords` names follow them
  PyObject *keywords;
};
/// Calls the launcher's method `launch_structured(grid, args, kwargs)`, which takes the arguments apart. Throws Error where it has none.
PyObject *launchStructured(PyObject *launcher, const char *parameter, const StructuredCall &call);

} // namespace tilery::python
