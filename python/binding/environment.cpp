// What decides about a process: environment variables, forks, its end.
#include "tilery/environment.h"
#include "binding.h"
#include "interrupts.h"
#include "tilery/compilations.h"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace tilery::python {
namespace {
constexpr int patience = 2000; // milliseconds that a fork, or the end of the process, waits for compilations

/// A child has what its parent had when no thread compiled: locks that are free, modules that are imported to their end.
void watchForks() {
  nb::object before = nb::cpp_function([] {
    Released released;
    holdCompilations(patience);
  });
  nb::module_::import_("os").attr("register_at_fork")("before"_a = before,
                                                      "after_in_parent"_a = nb::cpp_function(&releaseCompilations));
}
} // namespace

void bindEnvironment(nb::module_ &m) {
  m.def(
      "environment_variables",
      [] {
        nb::list rows;
        for (const EnvironmentVariable &variable : environmentVariables())
          rows.append(nb::make_tuple(variable.name, variable.takes, variable.meaning));
        return rows;
      },
      "[(name, what it may hold, meaning)] of all that are read.");
  m.def("environment_text", &environmentText, "name"_a,
        "What stands in a variable of the table; None: it is not set. Raises ValueError where it takes no such text.");
  m.def("environment_switch", &environmentSwitch, "name"_a, "Is it on? Raises ValueError as environment_text.");
  warnOfUnknownVariables();
  watchForks();
  Py_AtExit([] { endCompilations(patience); });
}
} // namespace tilery::python
