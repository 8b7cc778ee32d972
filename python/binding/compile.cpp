// tilery._native.compile: a Module to an image for the loader, and the text of the stages.
#include "binding.h"
#include "tilery/compile.h"
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace tilery::python {

void bindCompile(nb::module_ &m) {
  nb::class_<Compiled>(m, "Compiled", "Machine code of a module and, as wanted, the text of the stages.")
      .def_ro("image", &Compiled::image, "CodeImage for load() and the cache")
      .def_ro("tile", &Compiled::tile)
      .def_ro("llvm", &Compiled::llvm)
      .def_ro("asm", &Compiled::assembly)
      .def_ro("plan", &Compiled::plan);
  m.def(
      "compile",
      [](Module &module, bool disjoint, bool fpContract, bool passes, bool texts, const std::string &target, bool boxes,
         unsigned cluster) {
        CompileOptions options;
        options.disjoint = disjoint;
        options.fpContract = fpContract;
        options.passes = passes;
        options.wantLLVM = options.wantAsm = options.wantPlan = texts;
        options.target = target;
        options.boxes = boxes;
        options.cluster = cluster;
        nb::gil_scoped_release others; // of several kernels, each in a thread
        return compile(module, options);
      },
      "module"_a, "disjoint"_a = false, "fp_contract"_a = true, "passes"_a = true, "texts"_a = false, "target"_a = "host",
      "boxes"_a = true, "cluster"_a = 1);
  m.def("target_id", &targetId, "target"_a = "host");
}

} // namespace tilery::python
