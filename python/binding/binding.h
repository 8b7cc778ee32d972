#pragma once
// The parts of tilery._native: one bind function a file.
#include <nanobind/nanobind.h>

namespace tilery {
class Error;
}
namespace tilery::python {
/// Which of the known names (any sequence of texts) a wrong one may mean, as a hint; empty: none is near.
std::string didYouMean(nanobind::handle name, nanobind::handle known);
/// Throws Error for an argument that a call gives and that `function` does not have: by position behind the known ones, or by name.
void refuseOthers(const char *function, const nanobind::args &more, const nanobind::kwargs &others,
                  std::initializer_list<const char *> known);
/// Raises the error as a Python exception (the caller returns null). `ofCall`: one that names no line has that of the program's call.
void setPythonError(const Error &error, bool ofCall = false);
void bindErrors(nanobind::module_ &m);
void bindEnvironment(nanobind::module_ &m);
void bindBuilder(nanobind::module_ &m);
void bindRegion(nanobind::module_ &m);
void bindArrange(nanobind::module_ &m);
void bindOracle(nanobind::module_ &m);
void bindCompile(nanobind::module_ &m);
void bindCount(nanobind::module_ &m);
void bindRuntime(nanobind::module_ &m);
void bindBundle(nanobind::module_ &m);
void bindXlaCall(nanobind::module_ &m);
} // namespace tilery::python
