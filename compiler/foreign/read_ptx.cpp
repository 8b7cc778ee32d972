// PTX as text, read into instructions.
#include "compiler/foreign/text.h"
#include "tilery/inline_asm.h"
#include <algorithm>

namespace tilery {
using namespace foreign;

/// `a, {b, c}, [d]`: the parts between commas; what stands in brackets is one.
static std::vector<std::string> operandsOf(std::string_view text) {
  std::vector<std::string> operands;
  size_t at = 0;
  while (at < text.size()) {
    char first = text[at];
    if (isSpace(first) || first == ',') {
      ++at;
      continue;
    }
    size_t end = first == '{' ? text.find('}', at) : first == '[' ? text.find(']', at) : std::string_view::npos;
    end = end != std::string_view::npos ? end + 1 : std::min(text.find(',', at), text.size());
    operands.emplace_back(trimmed(text.substr(at, end - at)));
    at = end;
  }
  return operands;
}

static PtxInstruction instructionOf(std::string_view statement) {
  PtxInstruction result;
  if (statement.starts_with('@')) {
    size_t end = std::min(statement.find(' '), statement.size());
    result.guarded = true;
    result.guard = statement.substr(1, end - 1);
    statement = trimmed(statement.substr(end));
  }
  result.text = statement;
  size_t end = std::min(statement.find(' '), statement.size());
  std::vector<std::string> words = split(statement.substr(0, end), '.');
  result.name = words.front();
  result.modifiers.assign(words.begin() + 1, words.end());
  result.operands = operandsOf(statement.substr(end));
  return result;
}

std::vector<PtxInstruction> readPtx(std::string_view text) {
  std::vector<PtxInstruction> result;
  for (const std::string &part : split(withoutComments(text), ';')) {
    size_t begin = 0; // behind the braces of a block
    while (begin < part.size() && (isSpace(part[begin]) || part[begin] == '{' || part[begin] == '}'))
      ++begin;
    std::string statement = withSingleSpaces(std::string_view(part).substr(begin));
    bool declaration = statement.starts_with(".reg ") || statement.starts_with(".reg.");
    if (!statement.empty() && !declaration)
      result.push_back(instructionOf(statement));
  }
  return result;
}

} // namespace tilery
