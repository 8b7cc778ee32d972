#include "tilery/diagnostic.h"
#include <fstream>

namespace tilery {

std::string readSourceLine(const std::string &file, int line) {
  std::ifstream in(file);
  std::string text;
  for (int at = 0; at < line; ++at)
    if (!std::getline(in, text))
      return {};
  if (!text.empty() && text.back() == '\r')
    text.pop_back();
  return text;
}

static std::string place(const SourceLocation &at) {
  std::string text = at.file;
  if (at.line > 0)
    text += ":" + std::to_string(at.line);
  if (at.line > 0 && at.col > 0)
    text += ":" + std::to_string(at.col);
  if (!at.function.empty())
    text += " in " + at.function;
  return text;
}

// The source line, and under it a caret in column `col`.
static std::string excerpt(const SourceLocation &at, const SourceReader &reader) {
  std::string source = at.line > 0 ? reader(at.file, at.line) : std::string();
  if (source.empty())
    return {};
  std::string number = std::to_string(at.line);
  std::string text = "\n    " + number + " | " + source;
  if (at.col > 0 && size_t(at.col) <= source.size() + 1) {
    text += "\n    " + std::string(number.size(), ' ') + " | ";
    for (int i = 0; i < at.col - 1; ++i) // keeps tabs, and gives a multi-byte UTF-8 character one column
      if ((source[i] & 0xC0) != 0x80)
        text += source[i] == '\t' ? '\t' : ' ';
    text += '^';
  }
  return text;
}

std::string render(const Diagnostic &diagnostic, const SourceReader &reader) {
  std::string text = diagnostic.message;
  for (size_t i = 0; i < diagnostic.chain.size(); ++i) {
    const SourceLocation &at = diagnostic.chain[i];
    text += (i == 0 ? "\n  at " : "\n  called from ") + place(at) + excerpt(at, reader);
  }
  if (!diagnostic.hint.empty())
    text += "\n  hint: " + diagnostic.hint;
  return text;
}

Error::Error(Diagnostic diagnostic) : std::runtime_error(render(diagnostic)), what_(std::move(diagnostic)) {}

} // namespace tilery
