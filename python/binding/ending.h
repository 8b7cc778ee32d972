#pragma once
// Calls of Python's code that may outlive the interpreter.
#include "tilery/compilations.h"
#include <nanobind/nanobind.h>

namespace tilery::python {

/// call(), which runs code of Python's. Where the interpreter ends meanwhile, the thread stops here for ever: Python would end it by unwinding
/// its stack (pthread_exit), through frames that expect to go on.
template <class Call> auto untilEnd(Call call) {
  try {
    return call();
  } catch (...) { // no exception: calls of Python's C interface throw none
    Compiling::park();
  }
}

/// function(*arguments), by untilEnd. Throws what it raises.
template <class... Arguments> nanobind::object callUntilEnd(nanobind::handle function, const Arguments &...arguments) {
  PyObject *given[] = {arguments.ptr()..., nullptr};
  PyObject *result = untilEnd([&] { return PyObject_Vectorcall(function.ptr(), given, sizeof...(arguments), nullptr); });
  if (!result)
    throw nanobind::python_error();
  return nanobind::steal(result);
}

} // namespace tilery::python
