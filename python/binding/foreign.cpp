// Text of CUDA that programs bring, and the functions that it may name.
#include "convert.h"
#include "tilery/cuda_text.h"
#include "tilery/functions.h"
#include "tilery/inline_asm.h"
#include <nanobind/stl/string_view.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace tilery::python {

static void bindTexts(nb::module_ &m) {
  nb::class_<CudaFunction>(m, "CudaFunction").def_ro("name", &CudaFunction::name);
  m.def("read_cuda", &readCuda, "text"_a);
}

/// Addresses are pairs of what the program passes and its element type.
class PythonCaller : public CudaCaller {
public:
  PythonCaller(nb::handle load, nb::handle store, nb::handle call) : loads(load), stores(store), calls(call) {}

  CudaArgument argument(nb::handle object) {
    if (!nb::isinstance<nb::tuple>(object))
      return std::visit([](const auto &operand) { return CudaArgument(operand); }, toOperand(object));
    addresses.push_back(object[0]);
    return CudaAddress{addresses.size() - 1, toDType(object[1])};
  }
  std::vector<Value> load(const CudaAddress &address, size_t count) override {
    return toValues(loads(addresses[address.number], count));
  }
  void store(const CudaAddress &address, const std::vector<Value> &elements) override {
    stores(addresses[address.number], elements);
  }
  Value call(const std::string &name, const std::vector<Value> &operands) override {
    return toOptionalValue(calls(name, operands)).value_or(Value());
  }

private:
  nb::handle loads, stores, calls;
  std::vector<nb::object> addresses;
};

void bindForeign(nb::module_ &m, nb::class_<Builder> &c) {
  bindTexts(m);
  m.def("is_function", &isFunction, "name"_a);
  c.def("philox", [](Builder &b, nb::handle counter, nb::handle key, int64_t rounds) {
    return nb::tuple(nb::cast(philox(b, toValues(counter), toValues(key), rounds)));
  });
  c.def("decoded_region", &decodedRegion, "codes"_a, "shape"_a, "kind"_a, "two_in_byte"_a);
  c.def("encode_region", &encodeRegion, "values"_a, "codes"_a, "shape"_a, "kind"_a, "two_in_byte"_a);
  c.def(
      "scaled_factor",
      [](Builder &b, nb::handle x, const std::string &format, int64_t packed, nb::handle scale, bool right) {
        return scaledFactor(b, toValue(x), format, packed, toOptionalValue(scale), right);
      },
      "x"_a, "format"_a, "packed"_a, "scale"_a.none(), "right"_a);
  c.def("function", [](Builder &b, const std::string &name, nb::args operands) { return composed(b, name, toValues(operands)); });
  c.def(
      "call_cuda",
      [](Builder &b, const CudaFunction &function, nb::handle arguments, nb::handle dtype, nb::handle load, nb::handle store,
         nb::handle call) -> nb::object {
        PythonCaller caller(load, store, call);
        std::vector<CudaArgument> given;
        for (nb::handle argument : arguments)
          given.push_back(caller.argument(argument));
        Value result = callCuda(b, function, given, dtype.is_none() ? std::nullopt : std::optional(toDType(dtype)), caller);
        return result ? nb::cast(result) : nb::none();
      },
      "function"_a, "arguments"_a, "dtype"_a.none(), "load"_a, "store"_a, "call"_a);
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
