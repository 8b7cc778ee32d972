#pragma once
// Programs of tests as text with marks in it.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilery::test {

/// The text with each occurrence of the mark replaced.
inline std::string with(std::string text, std::string_view mark, std::string_view value) {
  for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += value.size())
    text.replace(at, mark.size(), value);
  return text;
}

/// The same for several marks, one after the other: a value may hold marks that come later.
inline std::string with(std::string text, const std::vector<std::pair<std::string, std::string>> &values) {
  for (const auto &[mark, value] : values)
    text = with(std::move(text), mark, value);
  return text;
}

} // namespace tilery::test
