#include "launch_structured.h"
#include "binding.h"
#include "ending.h"
#include "launch_args.h"
#include "runtime/article.h"
#include "tilery/diagnostic.h"
#include "limited_api.h"
#include "type_name.h"

namespace nb = nanobind;

namespace tilery::python {

bool allObserved = false;

PyObject *callWithLists(nb::handle function, const PythonCall &call, PyObject *first) {
  nb::list positional;
  for (size_t i = 0; i < call.count; ++i)
    positional.append(nb::handle(call.args[i]));
  nb::dict named;
  for (Py_ssize_t i = 0; call.keywords && i < PyTuple_GET_SIZE(call.keywords); ++i)
    named[nb::handle(PyTuple_GET_ITEM(call.keywords, i))] = nb::handle(call.args[call.count + size_t(i)]);
  nb::handle grid = call.grid ? call.grid : Py_None;
  return (first ? callUntilEnd(function, nb::handle(first), grid, positional, named)
                : callUntilEnd(function, grid, positional, named))
      .release()
      .ptr();
}

PyObject *launchStructured(PyObject *launcher, const char *parameter, PyObject *argument, const PythonCall &call) {
  nb::object method = nb::steal(PyObject_GetAttrString(launcher, "launch_structured"));
  if (!method.is_valid()) {
    PyErr_Clear();
    if (isCodedTensor(argument))
      throw Error({Diagnostic::Kind::Type,
                   "argument '" + std::string(parameter) +
                       "' has 8-bit floats of a type (e4m3fnuz, e5m2fnuz, e8m0) that this kernel does not take",
                   "its bytes are a tensor that kernels take: x.view(torch.uint8)",
                   {}});
    std::string type = typeName(argument);
    throw Error(
        {Diagnostic::Kind::Type,
         "argument '" + std::string(parameter) + "' is " + withArticle(type) + "; a tensor, int, float, bool or None is expected",
         "",
         {}});
  }
  return callWithLists(method, call);
}

bool launchObserved(PyObject *launcher, const PythonCall &call, PyObject *&result) {
  nb::object method = nb::steal(PyObject_GetAttrString(launcher, "launch_observed"));
  if (!method.is_valid()) {
    PyErr_Clear();
    return false;
  }
  result = callWithLists(method, call);
  return true;
}

void bindObserver(nb::module_ &m) {
  m.def(
      "observe_launches", [](bool on) { allObserved = on; }, nb::arg("on"),
      "Whether the calls of all launchers that have a method launch_observed go there.");
}
} // namespace tilery::python
