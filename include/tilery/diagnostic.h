#pragma once
// The one error type: what is wrong in the user's words, where, and what to change.
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

/// A place in the user's source. `line` and `col` count from 1; 0 is unknown.
struct SourceLocation {
  std::string file;
  int line = 0;
  int col = 0;
  std::string function; ///< the enclosing function, empty if unknown
};

struct Diagnostic {
  /// Which built-in exception the error also is, so that programs that catch what upstream raises still do.
  enum class Kind { Error, Type, Value, Index, Name, Assertion, Runtime, NotImplemented };
  Kind kind = Kind::Error;
  std::string message;                 ///< one sentence, no trailing full stop
  std::string hint{};                  ///< what to change; may be empty
  std::vector<SourceLocation> chain{}; ///< where it happened first, then its callers outwards; may be empty
};

/// Line `line` (from 1) of `file` without its end of line; empty if there is none.
using SourceReader = std::function<std::string(const std::string &file, int line)>;
std::string readSourceLine(const std::string &file, int line);

/// The message, `file:line:col` with the source line and a caret for each place of the chain, and the hint. No trailing newline.
std::string render(const Diagnostic &diagnostic, const SourceReader &reader = readSourceLine);

/// How a diagnostic travels. what() is the rendered text.
class Error : public std::runtime_error {
public:
  explicit Error(Diagnostic diagnostic);
  const Diagnostic &diagnostic() const { return what_; }

private:
  Diagnostic what_;
};

} // namespace tilery
#pragma GCC visibility pop
