#include "compiler/foreign/text.h"
#include <algorithm>

namespace tilery::foreign {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && isSpace(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && isSpace(text.back()))
    text.remove_suffix(1);
  return text;
}

std::string withSingleSpaces(std::string_view text) {
  std::string result;
  for (char c : trimmed(text))
    if (!isSpace(c))
      result += c;
    else if (result.back() != ' ')
      result += ' ';
  return result;
}

std::string withoutComments(std::string_view text) {
  std::string result;
  bool closes = true; // a comment that begins here, for all that is known
  for (size_t at = 0; at < text.size();) {
    std::string_view rest = text.substr(at);
    size_t end = std::string_view::npos;
    if (rest.starts_with("//")) {
      end = std::min(text.find('\n', at), text.size());
    } else if (closes && rest.starts_with("/*")) {
      end = text.find("*/", at + 2);
      closes = end != std::string_view::npos;
      end = closes ? end + 2 : end;
    }
    bool comment = end != std::string_view::npos;
    result += comment ? ' ' : text[at];
    at = comment ? end : at + 1;
  }
  return result;
}

std::vector<std::string> split(std::string_view text, char mark) {
  std::vector<std::string> parts;
  while (true) {
    size_t end = text.find(mark);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

} // namespace tilery::foreign
