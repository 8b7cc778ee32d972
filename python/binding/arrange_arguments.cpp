#include "arrange_arguments.h"
#include "type_name.h"
#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace tilery::python {
namespace {

[[noreturn]] void refuse(const std::string &what, const char *expected, nb::handle value) {
  const std::string got = nb::cast<std::string>(nb::repr(value));
  throw arrange::ArrangementError(Diagnostic::Kind::Type, "`" + what + "` must be " + expected + ", got `" + got + "`.");
}

/// numpy.bool has no `__index__`.
bool isFlag(nb::handle value) {
  std::string type = fullTypeName(Py_TYPE(value.ptr()));
  return PyIndex_Check(value.ptr()) || type == "numpy.bool" || type == "numpy.bool_";
}

} // namespace

int64_t integerArgument(nb::handle value, const std::string &what) {
  if (!PyIndex_Check(value.ptr()))
    refuse(what, "an integer", value);
  nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index.is_valid())
    throw nb::python_error();
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow) {
    PyErr_Format(PyExc_OverflowError, "`%s` must fit in 64 bits, got `%R`.", what.c_str(), value.ptr());
    throw nb::python_error();
  }
  return number;
}

std::optional<int64_t> optionalInteger(nb::handle value, const std::string &what) {
  return value.is_none() ? std::nullopt : std::optional(integerArgument(value, what));
}

std::vector<int64_t> integerArguments(nb::handle values, const std::string &what) {
  if (PyIndex_Check(values.ptr()))
    return {integerArgument(values, what)};
  if (!nb::hasattr(values, "__iter__"))
    refuse(what, "an integer or a tuple of integers", values);
  std::vector<int64_t> result;
  for (nb::handle value : values)
    result.push_back(integerArgument(value, what));
  return result;
}

std::optional<bool> optionalFlag(nb::handle value, const std::string &what) {
  if (value.is_none())
    return {};
  if (!isFlag(value))
    refuse(what, "True or False", value);
  return PyObject_IsTrue(value.ptr()) == 1;
}

arrange::Scalar scalarArgument(nb::handle value, const std::string &what) {
  if (value.is_none())
    return {};
  if (PyBool_Check(value.ptr()))
    return value.ptr() == Py_True;
  if (PyIndex_Check(value.ptr()))
    return integerArgument(value, what);
  const double number = PyNumber_Check(value.ptr()) ? PyFloat_AsDouble(value.ptr()) : -1.0;
  if (!PyNumber_Check(value.ptr()) || PyErr_Occurred()) {
    PyErr_Clear();
    refuse(what, "a number", value);
  }
  return number;
}

std::optional<std::string> optionalText(nb::handle value, const std::string &what) {
  if (value.is_none())
    return {};
  if (!PyUnicode_Check(value.ptr()))
    refuse(what, "a string", value);
  return nb::cast<std::string>(value);
}

} // namespace tilery::python
