#pragma once
// Statements and expressions of CUDA C++, as far as small device functions have them.
#include "compiler/foreign/tokens.h"
#include "tilery/cuda_text.h"

namespace tilery::foreign {

/// What the tokens from `begin` to before `end` are in the source, in single spaces and without comments.
std::string textOf(std::string_view source, const std::vector<Token> &tokens, size_t begin, size_t end);
/// A type without qualifiers and `std::`.
std::string plainType(std::string_view text);
/// The token that closes the bracket at `open`; the last token of the text if none does.
size_t closing(const std::vector<Token> &tokens, size_t open);
CudaNode blockOf(std::string_view source, const std::vector<Token> &tokens, size_t begin, size_t end);
CudaNode expressionOf(std::string_view source, const std::vector<Token> &tokens, size_t begin, size_t end);

} // namespace tilery::foreign
