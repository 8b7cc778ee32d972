#include "binding.h"
#include "tilery/version.h"

NB_MODULE(_native, m) {
  nanobind::set_leak_warnings(false); // kernels of module globals live until the process ends
  m.attr("version") = tilery::version;
  m.doc() = "Native core of tilery: builder, compiler, launch.";
  tilery::python::bindErrors(m);
  tilery::python::bindEnvironment(m);
  tilery::python::bindBuilder(m);
  tilery::python::bindRegion(m);
  tilery::python::bindArrange(m);
  tilery::python::bindOracle(m);
  tilery::python::bindCompile(m);
  tilery::python::bindCount(m);
  tilery::python::bindRuntime(m);
  tilery::python::bindBundle(m);
  tilery::python::bindXlaCall(m);
}
