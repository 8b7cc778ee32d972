#include "binding.h"

NB_MODULE(_native, m) {
  m.doc() = "Native core of tilery: builder, compiler, launch.";
  tilery::python::bindRuntime(m);
}
