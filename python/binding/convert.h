#pragma once
// What Python passes for tile values, literals and element types.
#include "binding.h"
#include "tilery/builder.h"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace tilery::python {

/// A Value, anything with `__tile_value__`, or a Python (or NumPy) number.
Operand toOperand(nanobind::handle object);
std::optional<Operand> toOptionalOperand(nanobind::handle object);
std::vector<Operand> toOperands(nanobind::handle sequence);
/// A Value or anything with `__tile_value__`; a TypeError otherwise.
Value toValue(nanobind::handle object);
std::optional<Value> toOptionalValue(nanobind::handle object);
std::vector<Value> toValues(nanobind::handle sequence);
/// A name ("float32", "fp16", ...) or anything with `__tile_dtype__`.
DType toDType(nanobind::handle object);

/// A dict of hints, or None for none; entries that are None are left out. An Error for values of other types.
Hints toHints(nanobind::handle dict);

/// The builder that operators of Value use: the one entered last on this thread (`with builder:`).
Builder &currentBuilder();
void pushBuilder(Builder *builder);
void popBuilder();

} // namespace tilery::python
