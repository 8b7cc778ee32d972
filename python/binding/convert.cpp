#include "convert.h"

namespace nb = nanobind;

namespace tilery::python {

static thread_local std::vector<Builder *> builders;
Builder &currentBuilder() {
  if (builders.empty())
    throw Error(Diagnostic{Diagnostic::Kind::Runtime,
                           "tile values exist only while a kernel is being built",
                           "call this function inside a kernel",
                           {}});
  return *builders.back();
}
void pushBuilder(Builder *builder) { builders.push_back(builder); }
void popBuilder() {
  if (!builders.empty())
    builders.pop_back();
}

static std::optional<Value> asValue(nb::handle object) {
  Value *value = nullptr;
  if (nb::try_cast<Value *>(object, value, false) && value)
    return *value;
  if (PyLong_CheckExact(object.ptr()) || PyFloat_CheckExact(object.ptr()) || PyBool_Check(object.ptr()))
    return std::nullopt;
  // Not nb::getattr with a default, which would hide an error that the property raises.
  nb::object inner = nb::steal(PyObject_GetAttrString(object.ptr(), "__tile_value__"));
  if (inner.is_valid())
    return asValue(inner);
  if (!PyErr_ExceptionMatches(PyExc_AttributeError))
    throw nb::python_error();
  PyErr_Clear();
  return std::nullopt;
}

Operand toOperand(nb::handle object) {
  if (auto value = asValue(object))
    return *value;
  PyObject *raw = object.ptr();
  if (PyBool_Check(raw))
    return Literal(raw == Py_True);
  if (PyFloat_Check(raw))
    return Literal(PyFloat_AsDouble(raw));
  if (PyIndex_Check(raw)) {
    nb::object number = nb::steal(PyNumber_Index(raw));
    if (!number.is_valid())
      throw nb::python_error();
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (!overflow)
      return Literal(int64_t(value));
    unsigned long long wide = overflow > 0 ? PyLong_AsUnsignedLongLong(number.ptr()) : 0;
    if (overflow > 0 && !PyErr_Occurred())
      return Literal(uint64_t(wide));
    PyErr_Clear();
    throw Error(Diagnostic{
        Diagnostic::Kind::Value, "the integer " + std::string(nb::str(number).c_str()) + " does not fit in 64 bits", "", {}});
  }
  if (nb::hasattr(object, "__float__"))
    return Literal(nb::cast<double>(nb::object(object.attr("__float__")())));
  const nb::handle type = object.type();
  nb::object word = nb::getattr(type, "__tile_word__", type.attr("__name__")); // a language's classes may have one for messages
  throw Error(
      Diagnostic{Diagnostic::Kind::Type, "expected a tile value or a number, got " + nb::cast<std::string>(word), "", {}});
}

template <typename T> static std::optional<T> optional(T (*convert)(nb::handle), nb::handle object) {
  return object.is_none() ? std::nullopt : std::optional<T>(convert(object));
}
template <typename T> static std::vector<T> each(T (*convert)(nb::handle), nb::handle sequence) {
  std::vector<T> result;
  for (nb::handle item : sequence)
    result.push_back(convert(item));
  return result;
}
std::optional<Operand> toOptionalOperand(nb::handle object) { return optional(toOperand, object); }
std::vector<Operand> toOperands(nb::handle sequence) { return each(toOperand, sequence); }
Value toValue(nb::handle object) {
  if (auto value = asValue(object))
    return *value;
  return currentBuilder().materialize(toOperand(object));
}
std::optional<Value> toOptionalValue(nb::handle object) { return optional(toValue, object); }
std::vector<Value> toValues(nb::handle sequence) { return each(toValue, sequence); }

static std::optional<Hint> toHint(nb::handle value) {
  if (PyBool_Check(value.ptr()))
    return Hint(value.ptr() == Py_True);
  int64_t number;
  nb::object whole =
      PyIndex_Check(value.ptr()) ? nb::steal(PyNumber_Index(value.ptr())) : nb::borrow(value); // numpy's integers, too
  if (whole && nb::try_cast<int64_t>(whole, number, false))
    return Hint(number);
  PyErr_Clear();
  return std::nullopt;
}
Hints toHints(nb::handle dict) {
  Hints hints;
  if (dict.is_none())
    return hints;
  for (auto [key, value] : nb::cast<nb::dict>(dict)) {
    if (value.is_none())
      continue;
    std::string name = nb::cast<std::string>(key);
    std::optional<Hint> hint = toHint(value);
    if (!hint)
      throw Error(
          Diagnostic{Diagnostic::Kind::Type, "`" + name + "` must be an int or a bool, got " + nb::repr(value).c_str(), "", {}});
    hints.emplace_back(std::move(name), *std::move(hint));
  }
  return hints;
}

DType toDType(nb::handle object) {
  nb::object name = nb::getattr(object, "__tile_dtype__", nb::borrow(object));
  if (PyUnicode_Check(name.ptr()))
    if (auto dtype = parseDType(nb::cast<std::string>(name)))
      return *dtype;
  std::string text = nb::repr(object).c_str(), last = text.substr(text.rfind('.') + 1); // torch.float32
  throw Error(Diagnostic{Diagnostic::Kind::Type,
                         "unknown element type " + text,
                         parseDType(last) ? "write the type of the kernel's language, or its name: '" + last + "'"
                                          : "known are bool, int8 to int64, uint8 to uint64, bfloat16, float16 to float64",
                         {}});
}

} // namespace tilery::python
