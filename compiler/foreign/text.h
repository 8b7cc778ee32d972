#pragma once
// What the readers of CUDA's languages share.
#include <string>
#include <string_view>
#include <vector>

namespace tilery::foreign {

inline bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool isDigit(char c) { return c >= '0' && c <= '9'; }
/// Of a name.
inline bool isWord(char c) { return isDigit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string_view trimmed(std::string_view text);
std::string withSingleSpaces(std::string_view text);
/// A space in the place of each comment. One that is not closed is none.
std::string withoutComments(std::string_view text);
/// The parts between the marks, one more than there are marks.
std::vector<std::string> split(std::string_view text, char mark);

} // namespace tilery::foreign
