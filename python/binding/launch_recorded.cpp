#include "launch_recorded.h"
#include "binding.h"

namespace nb = nanobind;

namespace tilery::python {
namespace {
thread_local PyObject *recorder = nullptr; ///< owned
thread_local PyObject *asker = nullptr;    ///< borrowed, while `asking` runs

/// Puts another recorder in the place of this thread's; returns that.
nb::object exchange(nb::object next) {
  nb::object last = nb::steal(recorder);
  recorder = next.is_valid() && !next.is_none() ? next.release().ptr() : nullptr;
  recorders += int(recorder != nullptr) - int(last.is_valid());
  return last.is_valid() ? last : nb::none();
}

/// Calls make() while launches of this thread are asked about by `ask`.
nb::object asking(nb::object ask, nb::object make) {
  struct Scope {
    PyObject *outer;
    explicit Scope(PyObject *ask) : outer(std::exchange(asker, ask)) { ++recorders; }
    ~Scope() {
      asker = outer;
      --recorders;
    }
  } scope(ask.ptr());
  return make();
}
} // namespace

nb::object launchAsker() { return asker ? nb::borrow(asker) : nb::object(); }

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
  m.def("ask_launches", asking, nb::arg("ask"), nb::arg("make"),
        "make(), in which launches of this thread call ask(compile, signature, values, grid) in their place, and give what it "
        "does: "
        "the launcher's compile callback with what it takes, and the grid's extents or None.");
  m.def("launches_recorded", [] { return recorder != nullptr; }, "Whether this thread's launches call a recorder.");
}
} // namespace tilery::python
