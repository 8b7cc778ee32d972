// A tensor as plain values and symbols: its source, then each step.
#include "arrange.h"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace tilery::python {
using namespace arrange;

void bindTensorState(nb::class_<TensorHandle> &tensor) {
  tensor.def(
      "state",
      [](TensorHandle &h) {
        const Source &source = h.tensor.source();
        nb::list steps;
        for (const StepState &step : stepsOf(h.tensor))
          steps.append(nb::make_tuple(step.kind, step.level, step.symbols, step.numbers, step.levels));
        return nb::make_tuple(source.name, source.shape, source.strides, source.dtype, source.other, source.value,
                              source.isConstexpr, source.jagged, source.rowLengths, h.tensor.level(), steps);
      },
      "Plain values and symbols from which `from_state` makes the tensor again.");
  tensor.def_static("from_state", [](nb::tuple state) {
    Source source;
    source.name = nb::cast<std::string>(state[0]);
    source.shape = nb::cast<Shape>(state[1]);
    source.strides = nb::cast<Shape>(state[2]);
    source.dtype = nb::cast<std::string>(state[3]);
    source.other = nb::cast<Scalar>(state[4]);
    source.value = nb::cast<Scalar>(state[5]);
    source.isConstexpr = nb::cast<bool>(state[6]);
    source.jagged = nb::cast<std::optional<size_t>>(state[7]);
    source.rowLengths = nb::cast<std::vector<int64_t>>(state[8]);
    std::vector<StepState> steps;
    for (nb::handle step : state[10])
      steps.push_back({nb::cast<std::string>(step[0]), nb::cast<unsigned>(step[1]), nb::cast<std::vector<Symbol>>(step[2]),
                       nb::cast<std::vector<int64_t>>(step[3]), nb::cast<std::vector<Shape>>(step[4])});
    Tensor restored = fromSteps(std::move(source), steps, nb::cast<unsigned>(state[9]));
    return std::make_shared<TensorHandle>(TensorHandle{std::move(restored), nullptr});
  });
}

} // namespace tilery::python
