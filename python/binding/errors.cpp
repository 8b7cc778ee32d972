// tilery::Error becomes tilery.errors.Error and the built-in exception of its kind.
#include "binding.h"
#include "tilery/arrange.h"
#include "tilery/gpu_error.h"
#include "tilery/spelling.h"
#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace tilery::python {

namespace {
constexpr Spelling ofTileon{
    .truth = "True",
    .falsehood = "False",
    .division = "/, // or %",
    .quotient = "//",
    .conversion = ".to(...)",
    .newDimension = "[:, None] or [None, :]",
    .range = "tl.arange",
    .boxes = "rows[:, None] * N + columns[None, :]",
    .product = "tl.dot",
    .histogram = "tl.histogram",
    .load = "tl.load",
    .scalarOf = ".item()",
    .carried = "assign it before the loop or in every branch, so that it is carried out",
    .unrolled = "tl.static_range",
    .checked = "launch it with debug=True, which checks every access",
    .serial = "launch a single program, or with debug=True, where programs take turns",
};

constexpr Spelling inTileLang() {
  Spelling words = ofTileon;
  words.conversion = "T.cast(..., dtype)";
  words.newDimension = "T.reshape";
  words.range = "T.Parallel";
  words.boxes = "T.copy or T.Parallel(M, N)";
  words.product = "T.gemm";
  words.histogram = "counts in shared memory";
  words.unrolled = "T.unroll, Python's range";
  return words;
}

constexpr Spelling inNineToothed() {
  Spelling words = ofTileon;
  words.conversion = "ntl.cast(..., dtype)";
  words.range = "ntl.arange";
  words.boxes = "tile((BM, BN)) in the arrangement";
  words.product = "ntl.dot";
  words.histogram = "ntl.histogram";
  words.load = "ntl.load";
  words.unrolled = "ntl.static_range";
  return words;
}

constexpr Spelling ofTileLang = inTileLang(), ofNineToothed = inNineToothed();

void speak(const std::string &language) {
  setThreadSpelling(language == "tilelang" ? ofTileLang : language == "ninetoothed" ? ofNineToothed : ofTileon);
}
} // namespace

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

/// The class of tilery.errors.
static const char *className(GpuError::Fault fault) {
  switch (fault) {
  case GpuError::Fault::Other:
    return "GpuError";
  case GpuError::Fault::OutOfMemory:
    return "GpuMemoryError";
  case GpuError::Fault::IllegalAddress:
    return "GpuAddressError";
  case GpuError::Fault::Unsupported:
    return "GpuUnsupportedError";
  }
  return "GpuError";
}

void setPythonError(const Error &error, bool ofCall) {
  const Diagnostic &diagnostic = error.diagnostic();
  nb::module_ errors = nb::module_::import_("tilery.errors");
  nb::list chain;
  if (diagnostic.chain.empty() && (ofCall || dynamic_cast<const arrange::ArrangementError *>(&error)))
    chain = nb::cast<nb::list>(nb::module_::import_("tilery.core.frames").attr("of_caller")());
  for (const SourceLocation &where : diagnostic.chain)
    chain.append(nb::make_tuple(where.file, where.line, where.col, where.function));
  nb::object hint = diagnostic.hint.empty() ? nb::object(nb::none()) : nb::object(nb::str(diagnostic.hint.c_str()));
  const auto *gpu = dynamic_cast<const GpuError *>(&error);
  nb::object exception =
      gpu ? errors.attr(className(gpu->fault()))(nb::str(diagnostic.message.c_str()), hint, chain)
      : diagnostic.kind == Diagnostic::Kind::Error ? errors.attr("Error")(nb::str(diagnostic.message.c_str()), hint, chain)
      : diagnostic.kind == Diagnostic::Kind::Assertion // which is a RuntimeError to programs of torch
          ? errors.attr("kind")(nb::handle(PyExc_AssertionError),
                                nb::handle(PyExc_RuntimeError))(nb::str(diagnostic.message.c_str()), hint, chain)
          : errors.attr("error")(nb::handle(builtinOf(diagnostic.kind)), nb::str(diagnostic.message.c_str()), hint, chain);
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
}

std::string didYouMean(nb::handle name, nb::handle known) {
  nb::object hint = nb::module_::import_("tilery.frontend.wording").attr("did_you_mean")(name, known);
  return hint.is_none() ? "" : nb::str(hint).c_str();
}

void refuseOthers(const char *function, const nb::args &more, const nb::kwargs &others,
                  std::initializer_list<const char *> known) {
  nb::list names;
  std::string all;
  for (const char *name : known) {
    names.append(name);
    all += (all.empty() ? "" : ", ") + std::string(name);
  }
  if (more.size())
    throw arrange::ArrangementError(Diagnostic::Kind::Type,
                                    std::string(function) + "() takes at most " + std::to_string(known.size()) +
                                        " arguments, got " + std::to_string(known.size() + more.size()),
                                    "it takes " + all);
  for (auto [name, value] : others)
    throw arrange::ArrangementError(Diagnostic::Kind::Type,
                                    std::string(function) + "() got an unexpected argument '" + nb::str(name).c_str() + "'",
                                    didYouMean(name, names));
}

void bindErrors(nb::module_ &m) {
  setSpelling(ofTileon);
  m.def("speak", speak, nb::arg("language"),
        "Hints for programs that this thread makes from now on are in words of the language.");
  nb::register_exception_translator(
      [](const std::exception_ptr &pointer, void *) {
        try {
          std::rethrow_exception(pointer);
        } catch (const Error &error) {
          setPythonError(error);
        }
      },
      nullptr);
}

} // namespace tilery::python
