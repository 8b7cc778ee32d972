// Device functions of a text of CUDA C++: where they are, and their heads.
#include "compiler/foreign/cuda_statements.h"
#include "compiler/foreign/text.h"
#include <algorithm>

namespace tilery {
using namespace foreign;
namespace {

using Kind = Token::Kind;

class Functions {
public:
  explicit Functions(std::string_view text) : source(text), tokens(tokensOf(text)) {}

  std::vector<CudaFunction> read() {
    while (tokens[at].kind != Kind::End)
      step();
    return std::move(found);
  }

private:
  const Token &token(size_t distance = 0) const { return tokens[std::min(at + distance, tokens.size() - 1)]; }

  void step() {
    if (token().is("namespace") && token(1).kind == Kind::Word && token(2).is("{")) {
      scopes.emplace_back(token(1).text);
      at += 3;
    } else if (token().is("template") && token(1).is("<")) {
      readTemplate();
    } else if (token().is("__device__") && function()) {
      types.clear();
    } else {
      if (token().is("{"))
        scopes.emplace_back();
      else if (token().is("}") && !scopes.empty())
        scopes.pop_back();
      if (token().is("{") || token().is("}") || token().is(";"))
        types.clear();
      ++at;
    }
  }

  void readTemplate() {
    types.clear();
    for (at += 2; token().kind != Kind::End && !token().is(">"); ++at)
      if ((token().is("typename") || token().is("class")) && token(1).kind == Kind::Word)
        types.emplace_back(token(1).text);
    at += token().is(">");
  }

  /// Reads the function whose `__device__` is here. False: it is none that has a body, and nothing was read.
  bool function() {
    size_t name = at + 1;
    auto isType = [](const Token &t) { return t.kind == Kind::Word || t.is("<") || t.is(">") || t.is("*") || t.is("&"); };
    while (isType(tokens[name]) && !(tokens[name].kind == Kind::Word && tokens[name + 1].is("(")))
      ++name;
    if (name == at + 1 || tokens[name].kind != Kind::Word)
      return false;
    size_t close = name + 2;
    while (tokens[close].kind != Kind::End && !tokens[close].is(")") && !tokens[close].is("("))
      ++close;
    if (!tokens[close].is(")") || !tokens[close + 1].is("{"))
      return false;
    CudaFunction result;
    for (const std::string &scope : scopes)
      result.name += scope.empty() ? "" : scope + "::";
    result.name += tokens[name].text;
    result.type = plainType(textOf(source, tokens, at + 1, name));
    result.types = types;
    for (size_t first = name + 2; first < close;) {
      size_t end = first;
      while (end < close && !tokens[end].is(","))
        ++end;
      if (end - first != 1 || !tokens[first].is("void"))
        result.parameters.push_back(parameter(first, end));
      first = end + 1;
    }
    size_t open = close + 1, end = closing(tokens, open);
    for (size_t k = open; k < end && result.notUnderstood.empty(); ++k)
      if (tokens[k].kind == Kind::Directive)
        result.notUnderstood = "#" + std::string(tokens[k].text);
    if (end >= tokens.size() || tokens[end].kind == Kind::End)
      result.notUnderstood = "{"; // which nothing closes
    result.body = blockOf(source, tokens, open + 1, end);
    for (const CudaFunction &other : found)
      result.several |= other.name == result.name;
    found.push_back(std::move(result));
    at = std::min(end + 1, tokens.size() - 1);
    return true;
  }

  CudaFunction::Parameter parameter(size_t first, size_t end) {
    size_t head = first;
    while (head < end && !tokens[head].is("="))
      ++head;
    CudaFunction::Parameter result;
    bool named = head > first && tokens[head - 1].kind == Kind::Word;
    result.type = plainType(textOf(source, tokens, first, named ? head - 1 : head));
    result.name = named ? tokens[head - 1].text : "";
    if (head < end)
      result.value = expressionOf(source, tokens, head + 1, end);
    return result;
  }

  std::string_view source;
  std::vector<Token> tokens;
  size_t at = 0;
  std::vector<std::string> scopes, types; // names of the open braces, those of a template
  std::vector<CudaFunction> found;
};

} // namespace

std::vector<CudaFunction> readCuda(std::string_view text) { return Functions(text).read(); }

} // namespace tilery
