// tilery::Error becomes tilery.errors.Error and the built-in exception of its kind.
#include "binding.h"
#include "tilery/diagnostic.h"
#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace tilery::python {

static PyObject *builtinOf(Diagnostic::Kind kind) {
  switch (kind) {
  case Diagnostic::Kind::Error:
    return PyExc_Exception;
  case Diagnostic::Kind::Type:
    return PyExc_TypeError;
  case Diagnostic::Kind::Value:
    return PyExc_ValueError;
  case Diagnostic::Kind::Index:
    return PyExc_IndexError;
  case Diagnostic::Kind::Name:
    return PyExc_NameError;
  case Diagnostic::Kind::Assertion:
    return PyExc_AssertionError;
  case Diagnostic::Kind::Runtime:
    return PyExc_RuntimeError;
  case Diagnostic::Kind::NotImplemented:
    return PyExc_NotImplementedError;
  }
  return PyExc_Exception;
}

void setPythonError(const Diagnostic &diagnostic) {
  nb::module_ errors = nb::module_::import_("tilery.errors");
  nb::list chain;
  for (const SourceLocation &where : diagnostic.chain)
    chain.append(nb::make_tuple(where.file, where.line, where.col, where.function));
  nb::object hint = diagnostic.hint.empty() ? nb::object(nb::none()) : nb::object(nb::str(diagnostic.hint.c_str()));
  nb::object exception =
      diagnostic.kind == Diagnostic::Kind::Error
          ? errors.attr("Error")(nb::str(diagnostic.message.c_str()), hint, chain)
          : errors.attr("error")(nb::handle(builtinOf(diagnostic.kind)), nb::str(diagnostic.message.c_str()), hint, chain);
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
}

void bindErrors(nb::module_ &) {
  nb::register_exception_translator(
      [](const std::exception_ptr &pointer, void *) {
        try {
          std::rethrow_exception(pointer);
        } catch (const Error &error) {
          setPythonError(error.diagnostic());
        }
      },
      nullptr);
}

} // namespace tilery::python
