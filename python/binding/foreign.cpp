// Text of CUDA that programs bring.
#include "convert.h"
#include "tilery/inline_asm.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tilery::python {

void bindForeign(nb::class_<Builder> &c) {
  c.def(
      "inline_asm",
      [](Builder &b, const std::string &text, const std::string &constraints, nb::list results, int64_t pack,
         nb::handle arguments, nb::object function, nb::object beforeAccess) {
        InlineAsm code{text, constraints, {}, pack};
        for (nb::handle item : results) {
          nb::tuple result = nb::cast<nb::tuple>(item); // (type, bits)
          code.results.push_back({toDType(result[0]), nb::cast<int64_t>(result[1])});
        }
        return inlineAsm(
            b, code, toValues(arguments),
            {[&](const std::string &name, const std::vector<Value> &operands) { return toValue(function(name, operands)); },
             [&](const std::string &name) { beforeAccess(name); }});
      },
      "text"_a, "constraints"_a, "results"_a, "pack"_a, "arguments"_a, "function"_a, "before_access"_a);
}

} // namespace tilery::python
