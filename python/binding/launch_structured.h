#pragma once
// Launches that a launcher's own Python methods take: those with arguments that are structures or known at compile time, and those
// that somebody looks at.
#include <cstddef>
#include <nanobind/nanobind.h>

namespace tilery::python {

struct PythonCall {
  PyObject *grid; ///< null: none
  PyObject *const *args;
  size_t count; ///< of positional arguments; those that `keywords` names follow them
  PyObject *keywords;
};
/// function([first,] grid or None, [arguments], {name: argument}); throws nb::python_error.
PyObject *callWithLists(nanobind::handle function, const PythonCall &call, PyObject *first = nullptr);
/// Calls the launcher's method `launch_structured(grid, args, kwargs)`, which takes the arguments apart; `argument` is the first that
/// needs it. Throws Error where it has none.
PyObject *launchStructured(PyObject *launcher, const char *parameter, PyObject *argument, const PythonCall &call);
extern bool allObserved; ///< calls of all launchers with a method launch_observed go there
/// Calls its method `launch_observed(grid, args, kwargs)`, which calls functions around the launch. False: it has none.
bool launchObserved(PyObject *launcher, const PythonCall &call, PyObject *&result);

} // namespace tilery::python
