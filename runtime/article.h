#pragma once
#include <string>

namespace tilery {

/// The name of a type behind "a" or "an", as messages have it.
inline std::string withArticle(const std::string &name) {
  bool isVowel = !name.empty() && std::string("aeioAEIO").find(name[0]) != std::string::npos; // "a uint8", as it is spoken
  return (isVowel ? "an " : "a ") + name;
}

} // namespace tilery
