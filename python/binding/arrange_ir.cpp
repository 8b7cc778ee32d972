// Places of arranged arguments inside a kernel.
#include "arrange.h"
#include "convert.h"
#include "tilery/arrange_ir.h"
#include <nanobind/stl/map.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace tilery::python {
namespace {
using namespace arrange;

/// An argument with the environment its sizes and indices refer to.
struct BoundArgument {
  Builder *builder;
  Argument argument;
  Environment environment;
};

/// The user's indices; run-time values get names in `environment`.
std::vector<Symbol> indices(Builder &builder, nb::handle items, Environment &environment) {
  std::vector<Symbol> result;
  for (nb::handle item : items) {
    Operand operand = nb::isinstance<Symbol>(item) ? Operand(Literal(int64_t(0))) : toOperand(item);
    auto *value = std::get_if<Value>(&operand);
    if (!value) {
      result.push_back(toSymbol(item));
      continue;
    }
    std::string name = "index_" + std::to_string(result.size());
    Value scalar = *value;
    int64_t lanes = 1;
    for (int64_t size : scalar.shape())
      lanes *= size;
    if (lanes == 1 && !scalar.shape().empty())
      scalar = builder.reshape(scalar, {});
    environment.insert_or_assign(name, scalar);
    result.push_back(Symbol::plain(name));
  }
  return result;
}

} // namespace

void bindArrangeIr(nb::module_ &m) {
  nb::class_<BoundArgument> bound(m, "Argument", "An arranged tensor inside a kernel.");
  bound.def(
      "__init__",
      [](BoundArgument *self, Builder &builder, TensorHandle &tensor, nb::handle pointer, nb::handle extents, nb::handle strides,
         nb::handle program, const Environment &environment) {
        Value base = toValue(pointer);
        std::vector<Value> sizes = toValues(extents), steps = toValues(strides);
        std::vector<Symbol> ids;
        for (nb::handle id : program)
          ids.push_back(toSymbol(id));
        Root root = builder.root(base, sizes, steps);
        new (self) BoundArgument{&builder, {tensor.tensor, root, base, sizes, steps, ids}, environment};
      },
      nb::keep_alive<1, 2>(), "builder"_a, "tensor"_a, "pointer"_a, "extents"_a, "strides"_a, "program"_a, "environment"_a);
  bound.def_prop_ro("tile_shape", [](BoundArgument &self) { return tileShape(*self.builder, self.argument); });
  bound.def("place", [](BoundArgument &self, nb::handle user) {
    Environment environment = self.environment;
    auto items = indices(*self.builder, user, environment);
    return place(*self.builder, self.argument, items, environment);
  });
  bound.def("offsets", [](BoundArgument &self, nb::handle user, size_t dim) {
    Environment environment = self.environment;
    auto items = indices(*self.builder, user, environment);
    return offsets(*self.builder, self.argument, items, environment, dim);
  });
  bound.def("linear_offsets", [](BoundArgument &self, nb::handle user) {
    Environment environment = self.environment;
    auto items = indices(*self.builder, user, environment);
    return linearOffsets(*self.builder, self.argument, items, environment);
  });
  m.def(
      "emit",
      [](Builder &builder, nb::handle expr, const Environment &environment) {
        return emit(builder, toSymbol(expr), environment);
      },
      "An expression as int64, with the values of its names.");
  m.def(
      "emit_count",
      [](Builder &builder, nb::handle expr, const Environment &environment) {
        return emitCount(builder, toSymbol(expr), environment);
      },
      "The same for a size: at least 0.");
}

} // namespace tilery::python
