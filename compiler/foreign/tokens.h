#pragma once
// CUDA C++ cut into words.
#include <string>
#include <string_view>
#include <vector>

namespace tilery::foreign {

struct Token {
  enum class Kind { Word, Number, String, Mark, Directive, End };
  Kind kind = Kind::End;
  std::string_view text; ///< of a string without its quotes, of a directive its name
  size_t begin = 0, end = 0;
  bool is(std::string_view mark) const { return (kind == Kind::Mark || kind == Kind::Word) && text == mark; }
};

/// Names with their namespaces are one word. Comments are left out, and lines of the preprocessor but those that choose what is compiled.
std::vector<Token> tokensOf(std::string_view text);

} // namespace tilery::foreign
