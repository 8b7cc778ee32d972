// Symbol and Tensor of NineToothed over the arrangement algebra. Python spelling and conversions only.
#include "arrange.h"
#include "arrange_arguments.h"
#include "binding.h"
#include "tilery/block_sizes.h"
#include "tilery/counted.h"
#include "tilery/diagnostic.h"
#include <nanobind/ndarray.h>
#include <nanobind/operators.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>
#include <set>

namespace nb = nanobind;
using namespace nb::literals;

namespace tilery::python {
using namespace arrange;

/// What a symbol is made of: a number, an expression as text, a tuple or a slice of such.
static Symbol toPart(nb::handle value) {
  if (nb::isinstance<Symbol>(value))
    return nb::cast<Symbol>(value);
  if (PyTuple_Check(value.ptr())) {
    std::vector<Symbol> parts;
    for (nb::handle part : value)
      parts.push_back(toPart(part));
    return Symbol::make(ExprKind::tuple, std::move(parts));
  }
  if (PySlice_Check(value.ptr()))
    return Symbol::make(ExprKind::slice, {toPart(value.attr("start")), toPart(value.attr("stop")), toPart(value.attr("step"))});
  if (value.is_none())
    return Symbol::make(ExprKind::none, {});
  if (PyIndex_Check(value.ptr())) {
    nb::object index = nb::steal(PyNumber_Index(value.ptr()));
    if (!index.is_valid())
      throw nb::python_error();
    return nb::cast<int64_t>(index);
  }
  return Symbol::parse(nb::cast<std::string>(nb::str(value)));
}

Symbol toSymbol(nb::handle value) {
  Symbol symbol = toPart(value);
  if (!symbol.isNumber())
    throw ArrangementError(Diagnostic::Kind::Value, "`" + symbol.str() + "` is not an integer expression.");
  return symbol;
}

namespace {

std::string text(nb::handle value) { return nb::cast<std::string>(nb::repr(value)); }

std::optional<Symbol> toOptional(nb::handle value) { return value.is_none() ? std::nullopt : std::optional(toSymbol(value)); }

/// Refuses what is no tuple or list of entries for dimensions.
void checkEntries(nb::handle values) {
  if (!nb::hasattr(values, "__iter__"))
    throw ArrangementError(Diagnostic::Kind::Type,
                           "a tuple with an entry for each dimension is expected, got `" + text(values) + "`.");
}

std::vector<Symbol> toSymbols(nb::handle values) {
  checkEntries(values);
  std::vector<Symbol> result;
  for (nb::handle value : values)
    result.push_back(toSymbol(value));
  return result;
}

std::vector<std::optional<Symbol>> toOptionals(nb::handle values) {
  std::vector<std::optional<Symbol>> result;
  if (!values.is_none()) {
    checkEntries(values);
    for (nb::handle value : values)
      result.push_back(toOptional(value));
  }
  return result;
}

/// Sizes that are known as ints if `numbers`.
nb::tuple toTuple(const Shape &shape, bool numbers = false) {
  nb::list list;
  for (const Symbol &size : shape)
    list.append(numbers && size.constant() ? nb::cast(*size.constant()) : nb::cast(size));
  return nb::tuple(list);
}

using Handle = TensorHandle;
using HandleRef = std::shared_ptr<Handle>;

HandleRef wrap(Tensor tensor, HandleRef parent = nullptr) {
  return std::make_shared<Handle>(Handle{std::move(tensor), std::move(parent)});
}

Symbol makeSymbol(nb::handle expr, nb::handle isConstexpr, nb::handle isMeta, nb::handle lowerBound, nb::handle upperBound,
                  nb::handle isPowerOfTwo) {
  const std::optional<bool> constant = optionalFlag(isConstexpr, "constexpr"), meta = optionalFlag(isMeta, "meta");
  const std::optional<bool> powerOfTwo = optionalFlag(isPowerOfTwo, "power_of_two");
  const std::optional<int64_t> lower = optionalInteger(lowerBound, "lower_bound");
  const std::optional<int64_t> upper = optionalInteger(upperBound, "upper_bound");
  if (meta.value_or(false) && !constant.value_or(true))
    throw ArrangementError(Diagnostic::Kind::Value, "Non-constexpr meta symbol is not supported.");
  Symbol symbol = toPart(expr);
  const bool special = meta.value_or(false) || constant.value_or(false);
  if (!special && !lower && !upper && !powerOfTwo)
    return symbol;
  if (!symbol.isName())
    throw ArrangementError(Diagnostic::Kind::Value, "`constexpr` and `meta` are properties of name symbols.");
  Role role = meta.value_or(false) ? Role::meta : constant.value_or(false) ? Role::constant : Role::plain;
  return Symbol::named(symbol.name().label, role, lower, upper, powerOfTwo);
}

std::vector<Name> sizeOptions(nb::handle options, size_t rank) {
  std::vector<Name> result;
  if (options.is_none())
    return result;
  const bool one = PyDict_Check(options.ptr());
  if (!one && !nb::hasattr(options, "__iter__"))
    throw ArrangementError(Diagnostic::Kind::Type,
                           "`shape_options` is a dict, or a tuple with one for each dimension, got `" + text(options) + "`.");
  nb::tuple entries = one ? nb::make_tuple() : nb::tuple(options); // any iterable
  if (!one && entries.size() != rank)
    throw ArrangementError(Diagnostic::Kind::Value, "`shape_options` has " + std::to_string(entries.size()) +
                                                        (entries.size() == 1 ? " entry for " : " entries for ") +
                                                        counted(rank, "dimension") +
                                                        ": one for each, or one dict for all, is needed.");
  for (size_t d = 0; d < rank; ++d) {
    nb::object entry = one ? nb::borrow(options) : nb::object(entries[d]);
    if (!entry.is_none() && !PyDict_Check(entry.ptr()))
      throw ArrangementError(Diagnostic::Kind::Type,
                             "`shape_options` has a dict or None for each dimension, got `" + text(entry) + "`.");
    nb::dict dict = entry.is_none() ? nb::dict() : nb::cast<nb::dict>(entry);
    static const std::set<std::string> known{"constexpr", "meta", "lower_bound", "upper_bound", "power_of_two"};
    for (auto [key, value] : dict)
      if (!PyUnicode_Check(key.ptr()) || !known.contains(nb::cast<std::string>(key)))
        throw ArrangementError(Diagnostic::Kind::Type, "`shape_options` has no option " + text(key) +
                                                           ": constexpr, meta, lower_bound, upper_bound and " +
                                                           "power_of_two are known.");
    auto get = [&](const char *key) { return dict.contains(key) ? nb::object(dict[key]) : nb::none(); };
    Symbol symbol =
        makeSymbol(nb::str("size"), get("constexpr"), get("meta"), get("lower_bound"), get("upper_bound"), get("power_of_two"));
    result.push_back(symbol.name());
  }
  return result;
}

/// Types are text; what else stands there is kept as text: launches take types from their tensors.
std::string dtypeText(nb::handle dtype) {
  if (dtype.is_none())
    return "";
  if (PyUnicode_Check(dtype.ptr()))
    nb::module_::import_("tilery.ninetoothed.element_types").attr("tile_dtype")(dtype); // refuses what is none
  return nb::cast<std::string>(nb::str(dtype));
}

HandleRef makeTensor(nb::object rank, nb::object shape, nb::object dtype, nb::object jaggedDim, nb::object other,
                     nb::object options, nb::object constant, nb::object value, nb::object name, nb::args more,
                     nb::kwargs others) {
  refuseOthers("Tensor", more, others,
               {"ndim", "shape", "dtype", "jagged_dim", "other", "shape_options", "constexpr", "value", "name"});
  const std::optional<int64_t> ndim = optionalInteger(rank, "ndim"), jagged = optionalInteger(jaggedDim, "jagged_dim");
  std::vector<std::optional<Symbol>> sizes;
  if (!shape.is_none())
    sizes = toOptionals(shape);
  else if (ndim && *ndim < 0)
    throw ArrangementError(Diagnostic::Kind::Value, "`ndim` must not be negative, got " + std::to_string(*ndim) + ".");
  else if (ndim)
    sizes.resize(*ndim);
  else
    throw ArrangementError(Diagnostic::Kind::Assertion, "Either `ndim` or `shape` must be provided.");
  Source source;
  source.name = optionalText(name, "name").value_or("");
  source.dtype = dtypeText(dtype);
  source.other = scalarArgument(other, "other");
  source.value = scalarArgument(value, "value");
  source.isConstexpr = optionalFlag(constant, "constexpr").value_or(false);
  if (jagged)
    source.jagged = *jagged < 0 ? *jagged + int64_t(sizes.size()) : *jagged;
  std::vector<Name> names = sizeOptions(options, sizes.size());
  return wrap(Tensor(std::move(source), std::move(sizes), names));
}

std::vector<Slice> toSlices(nb::handle key, const Tensor &tensor) {
  nb::tuple items = PyTuple_Check(key.ptr()) ? nb::borrow<nb::tuple>(key) : nb::make_tuple(key);
  std::vector<Slice> slices;
  for (nb::handle item : items) {
    if (item.is_none())
      slices.push_back({Slice::Kind::newAxis, {}, {}, {}});
    else if (item.ptr() == Py_Ellipsis)
      slices.push_back({Slice::Kind::ellipsis, {}, {}, {}});
    else if (PySlice_Check(item.ptr()))
      slices.push_back(
          {Slice::Kind::range, toOptional(item.attr("start")), toOptional(item.attr("stop")), toOptional(item.attr("step"))});
    else if (PyIndex_Check(item.ptr()) || nb::isinstance<Symbol>(item)) // NumPy's integers, too
      slices.push_back({Slice::Kind::index, toSymbol(item), {}, {}});
    else
      throw ArrangementError(Diagnostic::Kind::Type, "Index `" + nb::cast<std::string>(nb::repr(item)) +
                                                         "` must be an `int`, `slice`, or `None`, not `" +
                                                         nb::cast<std::string>(item.type().attr("__name__")) + "`.");
  }
  size_t taken = 0, ellipses = 0;
  for (const Slice &slice : slices) {
    taken += slice.kind == Slice::Kind::index || slice.kind == Slice::Kind::range;
    ellipses += slice.kind == Slice::Kind::ellipsis;
  }
  if (ellipses <= 1 && taken > tensor.ndim())
    throw ArrangementError(Diagnostic::Kind::Index, "Index `" + nb::cast<std::string>(nb::repr(key)) +
                                                        "` is out of bounds for tensor of shape `" +
                                                        nb::cast<std::string>(nb::repr(toTuple(tensor.shape()))) + "`.");
  return slices;
}

nb::object table(const Tensor &tensor) {
  auto *data = new Table(evaluate(tensor));
  nb::capsule owner(data, [](void *p) noexcept { delete static_cast<Table *>(p); });
  std::vector<size_t> shape(data->shape.begin(), data->shape.end());
  return nb::cast(nb::ndarray<nb::numpy, int64_t>(data->offsets.data(), shape.size(), shape.data(), owner));
}

void bindSymbol(nb::module_ &m) {
  nb::class_<Symbol> symbol(m, "Symbol",
                            "An integer expression over names: sizes, block sizes and other parameters of an arrangement.");
  symbol.def(
      "__init__",
      [](Symbol *self, nb::object expr, nb::object constant, nb::object meta, nb::object lower, nb::object upper,
         nb::object powerOfTwo, nb::args more, nb::kwargs others) {
        refuseOthers("Symbol", more, others, {"expr", "constexpr", "meta", "lower_bound", "upper_bound", "power_of_two"});
        new (self) Symbol(makeSymbol(expr, constant, meta, lower, upper, powerOfTwo));
      },
      "expr"_a, "constexpr"_a = nb::none(), "meta"_a = nb::none(), "lower_bound"_a = nb::none(), "upper_bound"_a = nb::none(),
      "power_of_two"_a = nb::none(), "more"_a, "others"_a);
  auto binary = [&](const char *name, const char *reflected, ExprKind kind) {
    symbol.def(name, [kind](const Symbol &a, nb::handle b) { return Symbol::make(kind, {a, toSymbol(b)}); }, nb::is_operator());
    if (reflected)
      symbol.def(
          reflected, [kind](const Symbol &b, nb::handle a) { return Symbol::make(kind, {toSymbol(a), b}); }, nb::is_operator());
  };
  binary("__add__", "__radd__", ExprKind::add);
  binary("__sub__", "__rsub__", ExprKind::sub);
  binary("__mul__", "__rmul__", ExprKind::mul);
  binary("__floordiv__", "__rfloordiv__", ExprKind::floordiv);
  binary("__truediv__", "__rtruediv__", ExprKind::truediv);
  binary("__mod__", "__rmod__", ExprKind::mod);
  binary("__pow__", "__rpow__", ExprKind::power);
  binary("__and__", "__rand__", ExprKind::bitAnd);
  binary("__or__", "__ror__", ExprKind::bitOr);
  binary("__xor__", "__rxor__", ExprKind::bitXor);
  binary("__lt__", nullptr, ExprKind::less);
  binary("__le__", nullptr, ExprKind::lessEqual);
  binary("__gt__", nullptr, ExprKind::greater);
  binary("__ge__", nullptr, ExprKind::greaterEqual);
  symbol.def("__getitem__", [](const Symbol &s, nb::handle index) { return Symbol::make(ExprKind::item, {s, toPart(index)}); });
  // Python would ask for items 0, 1, 2, ... of whatever has items.
  symbol.def("__iter__", [](const Symbol &s) {
    if (s.kind() != ExprKind::tuple)
      throw ArrangementError(Diagnostic::Kind::Type,
                             "`" + s.str() + "` cannot be iterated over: it is not known how many items it has.");
    return nb::iter(nb::cast(s.args()));
  });
  symbol.def("__neg__", [](const Symbol &s) { return -s; });
  symbol.def("__pos__", [](const Symbol &s) { return s; });
  symbol.def("__abs__", [](const Symbol &s) { return Symbol::make(ExprKind::absolute, {s}); });
  symbol.def("__eq__", [](const Symbol &a, nb::handle b) {
    if (nb::isinstance<Symbol>(b))
      return a.equals(nb::cast<Symbol>(b));
    return PyLong_Check(b.ptr()) && a.constant().has_value() && a.equals(toSymbol(b));
  });
  symbol.def("__hash__", [](const Symbol &s) { return nb::hash(nb::str(s.str().c_str())); });
  symbol.def("__repr__", &Symbol::str);
  symbol.def("__index__", [](const Symbol &s) {
    if (!s.constant())
      throw ArrangementError(Diagnostic::Kind::Type, "`" + s.str() + "` has no value until the kernel is launched.");
    return *s.constant();
  });
  symbol.def("__bool__", [](const Symbol &s) {
    bool comparison = s.kind() >= ExprKind::less && s.kind() <= ExprKind::greaterEqual;
    if (comparison)
      throw ArrangementError(Diagnostic::Kind::Value,
                             "Whether `" + s.str() + "` holds is not known until the kernel is launched.");
    return s.constant() != 0;
  });
  symbol.def("names", [](const Symbol &s) { return nb::steal<nb::object>(PySet_New(nb::cast(s.names()).ptr())); });
  symbol.def(
      "find_and_replace",
      [](Symbol &s, nb::object targets, nb::object replacement) {
        nb::object list = nb::isinstance<Symbol>(targets) ? nb::object(nb::make_tuple(targets)) : targets;
        for (nb::handle target : list)
          s = s.replace(toPart(target), toPart(replacement));
        return &s;
      },
      nb::rv_policy::none, "target"_a, "replacement"_a,
      "Replaces parts equal to the target (or one of several) in this symbol, which it returns.");
  symbol.def("substitute", [](const Symbol &s, const Symbol::Values &values) { return s.substitute(values); });
  symbol.def("simplified", [](const Symbol &s) { return simplify(s); });
  symbol.def_static("is_name",
                    [](nb::handle value) { return nb::isinstance<Symbol>(value) && nb::cast<Symbol>(value).isName(); });
  symbol.def_prop_ro("constant", [](const Symbol &s) { return s.constant(); }, "The value, or None.");
  symbol.def_prop_ro(
      "label", [](const Symbol &s) { return s.isName() ? nb::cast(s.name().label) : nb::none(); }, "The name as it was written.");
  symbol.def_prop_ro("meta", [](const Symbol &s) { return s.isName() && s.name().role == Role::meta; });
  symbol.def_prop_ro("constexpr", [](const Symbol &s) { return s.isName() && s.name().role != Role::plain; });
  symbol.def_prop_ro("lower_bound", [](const Symbol &s) { return s.isName() ? s.name().lower : std::nullopt; });
  symbol.def_prop_ro("upper_bound", [](const Symbol &s) { return s.isName() ? s.name().upper : std::nullopt; });
  symbol.def_prop_ro("power_of_two", [](const Symbol &s) { return s.isName() && s.name().powerOfTwo; });
  symbol.def_prop_ro("is_row_length", [](const Symbol &s) { return isRowLength(s); });
  symbol.def("longest", [](const Symbol &s) { return longest(s); }, "With the longest row's length for that of a row.");
  m.def(
      "block_size",
      [](nb::object lower, nb::object upper) {
        return blockSize(optionalInteger(lower, "lower_bound"), optionalInteger(upper, "upper_bound"));
      },
      "lower_bound"_a = nb::none(), "upper_bound"_a = nb::none(), "A fresh meta symbol.");
}

void bindChoice(nb::module_ &m) {
  m.def(
      "rank_block_sizes",
      [](nb::list arguments, const std::vector<Symbol> &metas, const Symbol::Values &sizes, const std::string &target, int device,
         size_t count) {
        std::vector<Traffic> traffic;
        for (nb::handle item : arguments)
          traffic.push_back({nb::cast<Handle &>(item[0]).tensor, nb::cast<int64_t>(item[1])});
        return rankBlockSizes(traffic, metas, sizes, target, device, count);
      },
      "arguments"_a, "metas"_a, "sizes"_a, "target"_a, "device"_a, "count"_a = 1,
      "The best values for meta symbols by the target's model, best first; arguments: [(tensor, bytes of an element)]; device: a "
      "GPU's number, or -1: "
      "the CPU.");
}

/// What gives a new tensor.
void bindOperations(nb::class_<Handle> &tensor) {
  tensor.def(
      "tile",
      [](Handle &h, nb::object tile, nb::object strides, nb::object dilation, nb::object floorMode) {
        const bool floor = optionalFlag(floorMode, "floor_mode").value_or(false);
        return wrap(h.tensor.tile(toSymbols(tile), toOptionals(strides), toOptionals(dilation), floor));
      },
      "tile_shape"_a, "strides"_a = nb::none(), "dilation"_a = nb::none(), "floor_mode"_a = false);
  tensor.def(
      "expand", [](Handle &h, nb::object shape) { return wrap(h.tensor.expand(toSymbols(shape))); }, "shape"_a,
      "Repeats dimensions of size 1 so many times; -1, or the size that a dimension has, keeps it. Of others as squeeze.");
  tensor.def(
      "unsqueeze", [](Handle &h, nb::object dim) { return wrap(h.tensor.unsqueeze(integerArgument(dim, "dim"))); }, "dim"_a);
  tensor.def(
      "squeeze", [](Handle &h, nb::object dim) { return wrap(h.tensor.squeeze(integerArguments(dim, "dim"))); }, "dim"_a,
      "Without these dimensions, which have size 1: where only a launch knows their sizes, it raises ValueError for others.");
  tensor.def(
      "permute", [](Handle &h, nb::object dims) { return wrap(h.tensor.permute(integerArguments(dims, "dims"))); }, "dims"_a);
  tensor.def(
      "flatten",
      [](Handle &h, nb::object start, nb::object end) {
        return wrap(h.tensor.flatten(optionalInteger(start, "start_dim"), optionalInteger(end, "end_dim")));
      },
      "start_dim"_a = nb::none(), "end_dim"_a = nb::none());
  tensor.def("ravel", [](Handle &h) { return wrap(h.tensor.ravel()); });
  tensor.def(
      "pad",
      [](Handle &h, nb::object amounts) {
        std::vector<std::pair<Symbol, Symbol>> pairs;
        checkEntries(amounts);
        for (nb::handle amount : amounts) {
          if (!PySequence_Check(amount.ptr()) || nb::len(amount) != 2)
            throw ArrangementError(Diagnostic::Kind::Type,
                                   "`pad` takes a pair (before, after) for each dimension, got `" + text(amount) + "`.");
          pairs.push_back({toSymbol(amount[0]), toSymbol(amount[1])});
        }
        return wrap(h.tensor.pad(pairs));
      },
      "pad"_a);
  tensor.def(
      "__getitem__", [](Handle &h, nb::object key) { return wrap(h.tensor.slice(toSlices(key, h.tensor))); },
      nb::arg("key").none());
  // Python would ask for items 0, 1, 2, ... without end.
  tensor.def("__iter__", [](Handle &h) -> nb::object {
    const std::string shape = text(toTuple(h.tensor.shape()));
    throw ArrangementError(Diagnostic::Kind::Type, "A symbolic tensor, of shape `" + shape + "` here, cannot be iterated over.");
  });
  tensor.def("innermost", [](Handle &h) { return wrap(h.tensor.innermost()); });
  tensor.def("__copy__", [](Handle &h) { return wrap(h.tensor); });
  tensor.def("__deepcopy__", [](Handle &h, nb::handle) { return wrap(h.tensor); });
  tensor.def(
      "substitute", [](Handle &h, const Symbol::Values &values) { return wrap(h.tensor.substitute(values)); },
      "The same arrangement with names (by their text) replaced.");
  tensor.def(
      "flattening",
      [](Handle &h) -> nb::object {
        auto found = flatteningOf(h.tensor);
        return found ? nb::object(nb::make_tuple(found->dims, found->start, found->end)) : nb::none();
      },
      "(dims, start, end) if the arrangement starts by flattening the source's dimensions dims[start:end]; else None.");
  tensor.def(
      "merged",
      [](Handle &h, const std::vector<std::vector<int64_t>> &groups, std::optional<Symbol> row) {
        return wrap(mergeDims(h.tensor, groups, row));
      },
      nb::arg("groups"), nb::arg("row").none() = nb::none(),
      "The arrangement of a source in which each group of dimensions is one; `row`: the size of the last that is flattened.");
}

/// What a tensor says of itself; shape and dtype can be assigned.
void bindProperties(nb::class_<Handle> &tensor) {
  tensor.def("names", [](Handle &h) { return nb::steal<nb::object>(PySet_New(nb::cast(h.tensor.names()).ptr())); });
  tensor.def(
      "size",
      [](Handle &h, nb::object dim) -> nb::object {
        nb::tuple shape = toTuple(h.tensor.shape(), true);
        return dim.is_none() ? nb::object(shape) : nb::object(nb::object(shape)[nb::int_(integerArgument(dim, "dim"))]);
      },
      "dim"_a = nb::none());
  tensor.def_prop_rw(
      "shape", [](Handle &h) { return toTuple(h.tensor.shape(), true); },
      [](Handle &h, nb::object shape) {
        Tensor changed = h.tensor;
        changed.setShape(toSymbols(shape));
        h.replace(changed);
      });
  tensor.def_prop_rw(
      "dtype",
      [](HandleRef h) -> nb::object {
        if (!h->tensor.isInnermost())
          return nb::cast(wrap(h->tensor.inner(), h));
        const std::string &dtype = h->tensor.source().dtype;
        return dtype.empty() ? nb::none() : nb::object(nb::str(dtype.c_str()));
      },
      [](Handle &h, nb::object dtype) {
        Tensor changed = h.tensor;
        if (nb::isinstance<Handle>(dtype))
          changed.setInner(nb::cast<Handle &>(dtype).tensor);
        else
          changed.setDtype(dtypeText(dtype));
        h.replace(changed);
      },
      nb::arg("dtype").none());
  tensor.def_prop_ro("ndim", [](Handle &h) { return h.tensor.ndim(); });
  tensor.def_prop_ro("source", [](Handle &h) { return wrap(h.tensor.sourceTensor()); });
  tensor.def_prop_ro("name", [](Handle &h) { return h.tensor.source().name; });
  tensor.def_prop_ro("other", [](Handle &h) { return h.tensor.source().other; });
  tensor.def_prop_ro("value", [](Handle &h) { return h.tensor.source().value; });
  tensor.def_prop_ro("constexpr", [](Handle &h) { return h.tensor.source().isConstexpr; });
  tensor.def_prop_ro("source_strides", [](Handle &h) { return toTuple(h.tensor.source().strides); });
  tensor.def_prop_ro(
      "sizes_of_one",
      [](Handle &h) {
        nb::list list;
        for (const SizeOfOne &one : h.tensor.sizesOfOne())
          list.append(nb::make_tuple(one.size, one.operation, one.level, one.dim));
        return list;
      },
      "[(size, operation, level, dimension)] of what must be 1 and is not known to be.");
  tensor.def_prop_ro("levels", [](Handle &h) { return h.tensor.levels(); }, "Number of levels from this one inward.");
}

/// Sizes as symbols, and rows of different lengths.
void bindDimensions(nb::class_<Handle> &tensor) {
  tensor.def_prop_ro("sizes", [](Handle &h) { return toTuple(h.tensor.shape()); }, "The shape, all of it symbols.");
  tensor.def_prop_ro(
      "target_dims",
      [](Handle &h) {
        nb::list dims;
        for (int64_t axis : h.tensor.axes())
          dims.append(axis < 0 ? nb::none() : nb::cast(axis));
        return nb::tuple(dims);
      },
      "The axis of the tile that each dimension is; None for one that was inserted.");
  tensor.def_prop_ro_static(
      "num_instances", [](nb::handle) { return Tensor::count(); }, "How many tensors have been made without a name.");
  tensor.def_prop_ro(
      "jagged_dim", [](Handle &h) { return h.tensor.source().jagged; }, "In which rows differ in length, or None.");
  tensor.def(
      "padded", [](Handle &h, nb::handle length) { return wrap(h.tensor.padded(toSymbol(length))); }, "length"_a,
      "A jagged tensor as if its rows were of this length.");
  tensor.def(
      "with_row_lengths",
      [](Handle &h, std::vector<int64_t> lengths) {
        Tensor changed = h.tensor;
        changed.setRowLengths(std::move(lengths));
        return wrap(changed);
      },
      "lengths"_a, "A jagged tensor whose rows have these lengths.");
}

/// What people read.
void bindTexts(nb::class_<Handle> &tensor) {
  tensor.def("__repr__", [](Handle &h) {
    std::string text = "Tensor(" + h.tensor.source().name;
    for (Tensor t = h.tensor;; t = t.inner()) {
      text += ", " + nb::cast<std::string>(nb::repr(toTuple(t.shape())));
      if (t.isInnermost())
        return text + ")";
    }
  });
  tensor.def("describe", [](Handle &h) { return describe(h.tensor); }, "All levels and steps as text.");
  tensor.def(
      "table", [](Handle &h) { return table(h.tensor); }, "Element offsets into a contiguous source, -1 where there is none.");
}

void bindTensor(nb::module_ &m) {
  nb::class_<Handle> tensor(m, "Tensor", "A symbolic tensor whose elements may be tensors. Meta-operations return a new one.");
  tensor.def(nb::new_(&makeTensor), "ndim"_a = nb::none(), "shape"_a = nb::none(), "dtype"_a = nb::none(),
             "jagged_dim"_a = nb::none(), "other"_a = nb::none(), "shape_options"_a = nb::none(), "constexpr"_a = nb::none(),
             "value"_a = nb::none(), "name"_a = nb::none(), "more"_a, "others"_a);
  bindOperations(tensor);
  bindProperties(tensor);
  bindDimensions(tensor);
  bindTensorState(tensor);
  bindTexts(tensor);
}

} // namespace

void bindArrange(nb::module_ &m) {
  nb::module_ arrange = m.def_submodule("arrange", "Symbolic arrangement of tensors.");
  bindSymbol(arrange);
  bindTensor(arrange);
  bindArrangeIr(arrange);
  bindChoice(arrange);
}

} // namespace tilery::python
