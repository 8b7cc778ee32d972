// Text of CUDA that programs bring, and the functions that it may name.
#include "convert.h"
#include "tilery/cuda_text.h"
#include "tilery/functions.h"
#include "tilery/inline_asm.h"
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace tilery::python {

static void bindTexts(nb::module_ &m) {
  nb::class_<PtxInstruction>(m, "PtxInstruction")
      .def_ro("text", &PtxInstruction::text)
      .def_ro("guarded", &PtxInstruction::guarded)
      .def_ro("name", &PtxInstruction::name)
      .def_ro("modifiers", &PtxInstruction::modifiers)
      .def_ro("operands", &PtxInstruction::operands);
  m.def("read_ptx", &readPtx, "text"_a);
  nb::class_<CudaNode>(m, "CudaNode")
      .def_ro("kind", &CudaNode::kind)
      .def_ro("text", &CudaNode::text)
      .def_ro("words", &CudaNode::words)
      .def_ro("number", &CudaNode::number)
      .def_ro("parts", &CudaNode::parts);
  using Parameter = CudaFunction::Parameter;
  nb::class_<Parameter>(m, "CudaParameter")
      .def_ro("type", &Parameter::type)
      .def_ro("name", &Parameter::name)
      .def_ro("value", &Parameter::value);
  nb::class_<CudaFunction>(m, "CudaFunction")
      .def_ro("name", &CudaFunction::name)
      .def_ro("type", &CudaFunction::type)
      .def_ro("parameters", &CudaFunction::parameters)
      .def_ro("types", &CudaFunction::types)
      .def_ro("directive", &CudaFunction::directive)
      .def_ro("several", &CudaFunction::several)
      .def_ro("body", &CudaFunction::body);
  m.def("read_cuda", &readCuda, "text"_a);
}

void bindForeign(nb::module_ &m, nb::class_<Builder> &c) {
  bindTexts(m);
  m.def("is_function", &isFunction, "name"_a);
  c.def("philox", [](Builder &b, nb::handle counter, nb::handle key, int64_t rounds) {
    return nb::tuple(nb::cast(philox(b, toValues(counter), toValues(key), rounds)));
  });
  c.def("function", [](Builder &b, const std::string &name, nb::args operands) { return composed(b, name, toValues(operands)); });
  c.def(
      "inline_asm",
      [](Builder &b, const std::string &text, const std::string &constraints, nb::list results, int64_t pack,
         nb::handle arguments, nb::object beforeAccess) {
        InlineAsm code{text, constraints, {}, pack};
        for (nb::handle item : results) {
          nb::tuple result = nb::cast<nb::tuple>(item); // (type, bits)
          code.results.push_back({toDType(result[0]), nb::cast<int64_t>(result[1])});
        }
        return inlineAsm(b, code, toValues(arguments), [&](const std::string &name) { beforeAccess(name); });
      },
      "text"_a, "constraints"_a, "results"_a, "pack"_a, "arguments"_a, "before_access"_a);
}

} // namespace tilery::python
