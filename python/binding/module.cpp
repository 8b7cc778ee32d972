#include "binding.h"

NB_MODULE(_native, m) {
  m.doc() = "Native core of tilery: builder, compiler, launch.";
  tilery::python::bindErrors(m);
  tilery::python::bindBuilder(m);
  tilery::python::bindRegion(m);
  tilery::python::bindArrange(m);
  tilery::python::bindRuntime(m);
}
