#include "launch_recorded.h"
#include "binding.h"

namespace nb = nanobind;

namespace tilery::python {
namespace {
thread_local PyObject *recorder = nullptr; ///< owned

/// Puts another recorder in the place of this thread's; returns that.
nb::object exchange(nb::object next) {
  nb::object last = nb::steal(recorder);
  recorder = next.is_valid() && !next.is_none() ? next.release().ptr() : nullptr;
  recorders += int(recorder != nullptr) - int(last.is_valid());
  return last.is_valid() ? last : nb::none();
}
} // namespace

bool recordLaunch(PyObject *launcher, const PythonCall &call, PyObject *&result) {
  if (!recorder)
    return false;
  struct Apart {
    nb::object record = exchange(nb::none());
    ~Apart() { exchange(record); }
  } apart;
  result = callWithLists(apart.record, call, launcher);
  return true;
}

void bindRecorder(nb::module_ &m) {
  m.def("record_launches", exchange, nb::arg("record").none(),
        "While `record` is given, this thread's launches call it, with (launcher, grid or None, arguments, named arguments), in "
        "their "
        "place; it makes them by launcher.launch_plainly(grid, *arguments, **named) and returns what that does. Returns what was "
        "given before; None: nothing.");
  m.def("launches_recorded", [] { return recorder != nullptr; }, "Whether this thread's launches call a recorder.");
}
} // namespace tilery::python
