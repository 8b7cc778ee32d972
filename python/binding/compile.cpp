// tilery._native.compile: a Module to an image for the loader, and the text of the stages.
#include "binding.h"
#include "interrupts.h"
#include "tilery/compile.h"
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace tilery::python {

void bindCompile(nb::module_ &m) {
  nb::class_<SourceLocation>(m, "SourceLocation", "A place in the user's source; line and col count from 1, 0: unknown.")
      .def_ro("file", &SourceLocation::file)
      .def_ro("line", &SourceLocation::line)
      .def_ro("col", &SourceLocation::col)
      .def_ro("function", &SourceLocation::function);
  nb::class_<Finding>(m, "Finding", "What holds a kernel back, with the place (`chain`: and its callers) and what to change.")
      .def_ro("fault", &Finding::fault)
      .def_ro("message", &Finding::message)
      .def_ro("hint", &Finding::hint)
      .def_ro("chain", &Finding::chain)
      .def("__repr__", [](const Finding &finding) {
        std::string place =
            finding.chain.empty() ? "" : finding.chain[0].file + ":" + std::to_string(finding.chain[0].line) + ": ";
        return "<" + place + finding.fault + ": " + finding.message + ">";
      });
  nb::class_<Compiled>(m, "Compiled", "Machine code of a module and, as wanted, the text of the stages.")
      .def_ro("image", &Compiled::image, "CodeImage for load() and the cache")
      .def_ro("tile", &Compiled::tile)
      .def_ro("llvm", &Compiled::llvm)
      .def_ro("asm", &Compiled::assembly)
      .def_ro("plan", &Compiled::plan)
      .def_ro("findings", &Compiled::findings)
      .def_ro("steps", &Compiled::steps);
  PyObject *crashed = PyErr_NewExceptionWithDoc("tilery._native.Crashed",
                                                "(message, step) of a crash of the compiler: this process compiles no more.",
                                                PyExc_RuntimeError, nullptr);
  m.attr("Crashed") = nb::steal(crashed);
  m.def(
      "compile",
      [crashed](Module &module, bool disjoint, bool fpContract, bool passes, bool texts, const std::string &target, bool boxes,
                unsigned cluster, bool inTurn, bool plainTile, bool plainLLVM,
                std::vector<std::pair<std::string, std::string>> overlapping) {
        CompileOptions options;
        options.disjoint = disjoint;
        options.overlapping = std::move(overlapping);
        options.fpContract = fpContract;
        options.passes = passes;
        options.wantLLVM = options.wantAsm = options.wantPlan = texts;
        options.target = target;
        options.boxes = boxes;
        options.cluster = cluster;
        options.inTurn = inTurn;
        options.plainTile = plainTile;
        options.plainLLVM = plainLLVM;
        try {
          Released others; // of several kernels, each in a thread
          options.interrupted = Released::interrupted();
          options.context = &others;
          return compile(module, options);
        } catch (Interrupted) {
          throw nb::python_error();
        } catch (const Crashed &crash) {
          nb::object arguments = nb::make_tuple(crash.diagnostic().message, crash.step);
          PyErr_SetObject(crashed, arguments.ptr());
          throw nb::python_error();
        }
      },
      "module"_a, "disjoint"_a = false, "fp_contract"_a = true, "passes"_a = true, "texts"_a = false, "target"_a = "host",
      "boxes"_a = true, "cluster"_a = 1, "in_turn"_a = false, "plain_tile"_a = false, "plain_llvm"_a = false,
      "overlapping"_a = std::vector<std::pair<std::string, std::string>>());
  m.def("target_id", &targetId, "target"_a = "host");
  m.def("hints_of", &hintsOf, "target"_a = "host", "The hints on which the target's code may depend.");
}

} // namespace tilery::python
