// Places of arranged arguments inside a kernel.
#include "arrange.h"
#include "convert.h"
#include "tilery/arrange_ir.h"
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>

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

Rows toRows(nb::handle rows) {
  nb::object lengths = rows[1];
  return {toValue(rows[0]), lengths.is_none() ? std::nullopt : std::optional(toValue(lengths)), toValue(rows[2])};
}

nb::object fromRows(const Rows &rows) { return nb::make_tuple(rows.offsets, rows.lengths, rows.count); }

/// What Python's Argument says.
Parameter toParameter(nb::handle argument) {
  auto dtype = [&](const char *name) {
    nb::object value = argument.attr(name);
    return value.is_none() ? std::nullopt : std::optional(toDType(value));
  };
  auto numbers = [&](const char *name) { return nb::cast<std::vector<int64_t>>(argument.attr(name)); };
  return {nb::cast<std::string>(argument.attr("name")),
          nb::cast<TensorHandle &>(argument.attr("tensor")).tensor,
          dtype("dtype"),
          numbers("strides"),
          numbers("extents"),
          nb::cast<int64_t>(argument.attr("divisibility")),
          dtype("offsets"),
          dtype("lengths")};
}
std::vector<Parameter> toParameters(nb::handle arguments) {
  std::vector<Parameter> result;
  for (nb::handle argument : arguments)
    result.push_back(toParameter(argument));
  return result;
}

void bindKernels(nb::module_ &m) {
  m.attr("DIFFERENT_GRIDS") = differentGrids;
  m.attr("DIFFERENT_INNER_SIZES") = differentInnerSizes;
  nb::class_<Located>(m, "Located", "What an argument is inside the kernel.")
      .def_ro("value", &Located::value)
      .def_ro("extents", &Located::extents)
      .def_ro("strides", &Located::strides)
      .def_prop_ro("rows", [](const Located &l) { return l.rows ? fromRows(*l.rows) : nb::none(); })
      .def_ro("row", &Located::row)
      .def_ro("program", &Located::program)
      .def_ro("exists", &Located::exists);
  m.def(
      "begin_kernel",
      [](Builder &builder, const std::string &name, nb::handle arguments, size_t first, bool masked) {
        Environment environment;
        auto located = beginKernel(builder, name, toParameters(arguments), first, masked, environment);
        return std::pair(located, environment);
      },
      "builder"_a, "name"_a, "arguments"_a, "first"_a, "masked"_a, "(what each argument is or None, the values of names)");
  m.def(
      "build_host",
      [](Builder &builder, const std::string &kernel, const std::string &hostName, nb::handle arguments, size_t first,
         const std::vector<size_t> &placed, bool sizes,
         bool innerSizes) { buildHost(builder, kernel, hostName, toParameters(arguments), first, placed, sizes, innerSizes); },
      "builder"_a, "kernel"_a, "host_name"_a, "arguments"_a, "first"_a, "placed"_a, "sizes"_a, "inner_sizes"_a);
  m.def(
      "host_parameters",
      [](nb::handle arguments) {
        std::vector<std::tuple<std::string, std::string, int64_t>> result;
        for (const HostParam &each : hostParams(toParameters(arguments)))
          result.emplace_back(each.name, dtypeName(each.dtype), each.rank);
        return result;
      },
      "arguments"_a, "[(name, element type, rank, or -1 for a scalar)] of what the host function takes.");
}

} // namespace

void bindArrangeIr(nb::module_ &m) {
  bindKernels(m);
  nb::class_<BoundArgument> bound(m, "Argument", "An arranged tensor inside a kernel.");
  bound.def(
      "__init__",
      [](BoundArgument *self, Builder &builder, TensorHandle &tensor, nb::handle pointer, nb::handle extents, nb::handle strides,
         nb::handle program, const Environment &environment, nb::handle rows, nb::handle row) {
        Value base = toValue(pointer);
        std::vector<Value> sizes = toValues(extents), steps = toValues(strides);
        std::vector<Symbol> ids;
        for (nb::handle id : program)
          ids.push_back(toSymbol(id));
        Argument argument{tensor.tensor, {}, base, sizes, steps, ids};
        Value first = base;
        if (!row.is_none()) {
          argument.base = builder.binary(BinaryOp::Mul, toValue(row), steps.at(*tensor.tensor.source().jagged));
          first = builder.binary(BinaryOp::Add, base, *argument.base);
        } else if (!rows.is_none()) {
          argument.rows = toRows(rows);
        }
        argument.root = builder.root(first, sizes, steps);
        new (self) BoundArgument{&builder, std::move(argument), environment};
      },
      nb::keep_alive<1, 2>(), "builder"_a, "tensor"_a, "pointer"_a, "extents"_a, "strides"_a, "program"_a, "environment"_a,
      "rows"_a = nb::none(), "row"_a = nb::none(),
      "rows: (offsets, lengths or None, count) of a jagged argument; row: the start of the one row that all tiles lie in.");
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
  m.def(
      "program_row",
      [](TensorHandle &tensor, nb::handle program) -> nb::object {
        std::vector<Symbol> ids;
        for (nb::handle id : program)
          ids.push_back(toSymbol(id));
        auto row = programRow(tensor.tensor, ids);
        return row ? nb::cast(*row) : nb::none();
      },
      "The row that all tiles of a program of a jagged argument lie in, or None if there are several.");
  m.def(
      "row_range",
      [](Builder &builder, nb::handle rows, nb::handle row) {
        RowRange range = rowRange(builder, toRows(rows), toValue(row));
        return std::pair(range.start, range.length);
      },
      "(start, length) of rows; rows: (offsets, lengths or None, count).");
}

} // namespace tilery::python
