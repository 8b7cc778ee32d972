#include "compiler/foreign/cuda_statements.h"
#include "compiler/foreign/text.h"
#include <algorithm>
#include <charconv>
#include <utility>

namespace tilery::foreign {

std::string textOf(std::string_view source, const std::vector<Token> &tokens, size_t begin, size_t end) {
  if (begin >= end)
    return "";
  size_t first = tokens[begin].begin, last = tokens[end - 1].end;
  return withSingleSpaces(withoutComments(source.substr(first, last - first)));
}

std::string plainType(std::string_view text) {
  std::string result;
  for (const Token &token : tokensOf(text)) {
    static const char *const qualifiers[] = {"const",    "volatile",     "__restrict__",    "static",    "inline",
                                             "__host__", "__noinline__", "__forceinline__", "__inline__"};
    if (token.kind == Token::Kind::End || std::ranges::find(qualifiers, token.text) != std::end(qualifiers))
      continue;
    std::string_view word = token.text;
    if (word.starts_with("std::"))
      word.remove_prefix(5);
    if (!result.empty() && token.kind == Token::Kind::Word && isWord(result.back()))
      result += ' ';
    result += word;
  }
  return result;
}

size_t closing(const std::vector<Token> &tokens, size_t open) {
  size_t depth = 0;
  for (size_t at = open; at + 1 < tokens.size(); ++at) {
    const Token &token = tokens[at];
    depth += token.is("(") || token.is("[") || token.is("{");
    if ((token.is(")") || token.is("]") || token.is("}")) && --depth == 0)
      return at;
  }
  return tokens.size() - 1;
}

namespace {

using Kind = Token::Kind;

/// What none of the forms is.
struct Unknown {};

class Parser {
public:
  Parser(std::string_view source, const std::vector<Token> &tokens, size_t at, size_t end)
      : source(source), tokens(tokens), at(at), end(end) {}

  CudaNode block() {
    CudaNode result{"block", ""};
    while (at < end)
      if (!accept(";"))
        for (CudaNode &statement : statements())
          result.parts.push_back(std::move(statement));
    return result;
  }

  /// All that is left, as an expression.
  CudaNode expression() {
    size_t first = at;
    try {
      CudaNode result = sum();
      if (at == end)
        return result;
    } catch (const Unknown &) {
    }
    at = end;
    return unknown(first, end);
  }

private:
  const Token &token(size_t distance = 0) const { return at + distance < end ? tokens[at + distance] : tokens.back(); }
  bool accept(std::string_view mark) {
    bool is = token().is(mark);
    at += is;
    return is;
  }
  void expect(std::string_view mark) {
    if (!accept(mark))
      throw Unknown();
  }
  std::string_view expect(Kind kind) {
    if (token().kind != kind)
      throw Unknown();
    return tokens[at++].text;
  }
  std::string text(size_t first, size_t last) const { return textOf(source, tokens, first, last); }
  CudaNode unknown(size_t first, size_t last) const { return {"unknown", text(first, last)}; }
  /// Where a mark first stands outside of brackets, the end if nowhere.
  size_t outside(std::string_view mark) const {
    size_t place = at;
    while (place < end && !tokens[place].is(mark)) {
      bool opens = tokens[place].is("(") || tokens[place].is("[") || tokens[place].is("{");
      place = opens ? closing(tokens, place) + 1 : place + 1;
    }
    return std::min(place, end);
  }
  /// What comes before a token, as an expression.
  CudaNode within(size_t last) {
    Parser inner(source, tokens, std::exchange(at, last), last);
    inner.depth = depth;
    return inner.expression();
  }

  // Statements.
  std::vector<CudaNode> statements() {
    size_t first = at;
    if (token().is("if") && token(1).is("constexpr"))
      return {choice()};
    if (token().is("{")) {
      at = std::min(closing(tokens, at) + 1, end);
      return {unknown(first, at)};
    }
    size_t last = outside(";");
    Parser own(source, tokens, at, last);
    at = last;
    if (tokens[first].is("static_assert"))
      return {};
    try {
      CudaNode result = own.statement();
      if (own.at == last)
        return {result};
    } catch (const Unknown &) {
    }
    return {unknown(first, last)};
  }

  CudaNode statement() {
    size_t first = at;
    if (accept("return")) {
      CudaNode result{"return", ""};
      if (at < end)
        result.parts.push_back(within(end));
      return result;
    }
    if (token().is("asm") || token().is("__asm__"))
      return assembly();
    if ((token().is("memcpy") || token().is("__builtin_memcpy")) && token(1).is("("))
      return copy();
    if (token().is("static"))
      throw Unknown(); // it outlives the call
    size_t words = 0;
    while (token(words).kind == Kind::Word)
      ++words;
    bool alone = at + words == end;
    if (words >= 1 && (token(words).is("=") || (alone && words > 1))) {
      size_t name = at + words - 1;
      CudaNode result{words > 1 ? "declare" : "assign", text(first, end), {std::string(tokens[name].text)}};
      if (words > 1)
        result.words.insert(result.words.begin(), plainType(text(first, name)));
      at = std::min(name + 2, end);
      if (!alone)
        result.parts.push_back(within(end));
      return result;
    }
    size_t equals = outside("=");
    if (equals < end && token().is("*")) {
      CudaNode target = within(equals);
      ++at;
      CudaNode value = within(end);
      if (target.kind != "load")
        throw Unknown();
      return {"store", text(first, end), {}, {}, {target.parts.front(), value}};
    }
    return within(end);
  }

  CudaNode choice() {
    size_t first = at;
    at += 2;
    size_t condition = at, close = token().is("(") ? closing(tokens, at) : end;
    CudaNode result{"choose", text(first, std::min(close + 1, end))};
    try {
      for (const char *mark : {"(", "sizeof", "("})
        expect(mark);
      result.words.emplace_back(expect(Kind::Word));
      expect(")");
      result.words.emplace_back(expect(Kind::Mark));
      result.number = numberOf(expect(Kind::Number));
      if (at != close || !std::holds_alternative<int64_t>(result.number))
        throw Unknown();
    } catch (const Unknown &) {
      result = unknown(first, std::min(close + 1, end));
    }
    at = std::max(std::min(close + 1, end), condition);
    for (int side : {0, 1}) {
      if (side == 1 && !accept("else")) {
        result.parts.push_back({"block", ""});
      } else if (side == 1 && token().is("if") && token(1).is("constexpr") && ++depth < deepest) {
        result.parts.push_back({"block", "", {}, {}, {choice()}});
      } else if (token().is("{")) {
        size_t last = std::min(closing(tokens, at), end);
        Parser inner(source, tokens, at + 1, last);
        inner.depth = depth + 1;
        result.parts.push_back(depth < deepest ? inner.block() : unknown(at, last));
        at = std::min(last + 1, end);
      } else {
        size_t last = outside(";");
        result = unknown(first, last);
        at = last;
        return result;
      }
    }
    return result;
  }

  /// `asm volatile("...": results : operands : what it changes)`
  CudaNode assembly() {
    ++at;
    accept("volatile") || accept("__volatile__");
    expect("(");
    CudaNode result{"asm", "", {""}};
    while (token().kind == Kind::String)
      result.words[0] += tokens[at++].text;
    for (const auto &[escape, space] : {std::pair("\\n", "\n"), std::pair("\\t", " ")})
      for (size_t place; (place = result.words[0].find(escape)) != std::string::npos;)
        result.words[0].replace(place, 2, space);
    result.text = result.words[0];
    for (int list : {0, 1}) {
      if (!accept(":"))
        break;
      while (token().kind == Kind::String) {
        result.words.emplace_back(tokens[at++].text);
        expect("(");
        size_t last = closing(tokens, at - 1);
        if (last >= end)
          throw Unknown();
        result.parts.push_back(within(last));
        ++at;
        if (!accept(","))
          break;
      }
      if (list == 0)
        result.number = int64_t(result.parts.size());
    }
    if (accept(":"))
      while (!token().is(")") && at < end)
        ++at;
    expect(")");
    return result;
  }

  CudaNode copy() {
    size_t first = at;
    at += 2;
    CudaNode result{"copy", ""};
    for (int side [[maybe_unused]] : {0, 1}) {
      size_t last = outside(",");
      if (token().is("&") && token(1).kind == Kind::Word && at + 2 == last)
        result.parts.push_back({"address", text(at, last), {std::string(token(1).text)}});
      else
        result.parts.push_back(within(last));
      at = last;
      expect(",");
    }
    result.number = numberOf(expect(Kind::Number));
    expect(")");
    if (!std::holds_alternative<int64_t>(result.number))
      throw Unknown();
    result.text = text(first, at);
    return result;
  }

  // Expressions.
  CudaNode sum() {
    if (++depth > deepest)
      throw Unknown();
    CudaNode result = product();
    while (token().is("+") || token().is("-"))
      result = binary(std::move(result), &Parser::product);
    --depth;
    return result;
  }
  CudaNode product() {
    CudaNode result = unary();
    while (token().is("*"))
      result = binary(std::move(result), &Parser::unary);
    return result;
  }
  CudaNode binary(CudaNode left, CudaNode (Parser::*operand)()) {
    std::string op(tokens[at++].text);
    CudaNode right = (this->*operand)();
    return {"binary", left.text + " " + op + " " + right.text, {op}, {}, {std::move(left), std::move(right)}};
  }

  CudaNode unary() {
    size_t first = at;
    bool negative = accept("-");
    if (token().kind == Kind::Number)
      return literal(tokens[at++].text, negative, first);
    if (negative)
      throw Unknown();
    if (accept("*")) {
      CudaNode pointer = primary();
      if (pointer.kind != "reinterpret_cast" || !pointer.words[0].ends_with('*'))
        throw Unknown();
      pointer.words[0].pop_back();
      return {"load", text(first, at), pointer.words, {}, pointer.parts};
    }
    return primary();
  }

  CudaNode primary() {
    size_t first = at;
    if (accept("(")) {
      CudaNode inner = sum();
      expect(")");
      inner.text = text(first, at);
      return inner;
    }
    std::string word(expect(Kind::Word));
    if (word == "static_cast" || word == "reinterpret_cast") {
      expect("<");
      size_t type = at;
      while (token().kind == Kind::Word || token().is("*") || token().is("&"))
        ++at;
      CudaNode result{word, "", {plainType(text(type, at))}};
      expect(">");
      expect("(");
      result.parts.push_back(sum());
      expect(")");
      result.text = text(first, at);
      return result;
    }
    if (token().is("(")) {
      CudaNode result{"call", "", {word}};
      size_t close = closing(tokens, at++);
      if (close >= end)
        throw Unknown();
      while (at < close) {
        result.parts.push_back(within(std::min(outside(","), close)));
        at += at < close;
      }
      ++at;
      result.text = text(first, at);
      return result;
    }
    if (token().is(".") && token(1).kind == Kind::Word && token(1).text.size() == 1) {
      size_t place = std::string_view("xyzw").find(token(1).text);
      if (place == std::string_view::npos)
        throw Unknown();
      at += 2;
      return {"part", text(first, at), {word}, int64_t(place)};
    }
    return {"name", word, {word}};
  }

  static std::variant<int64_t, uint64_t, double> numberOf(std::string_view digits) {
    uint64_t value = 0;
    auto [rest, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (problem != std::errc() || rest != digits.data() + digits.size() || value > uint64_t(INT64_MAX))
      throw Unknown();
    return int64_t(value);
  }

  CudaNode literal(std::string_view digits, bool negative, size_t first) const {
    bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
    if (!hexadecimal && digits.find('.') != std::string_view::npos)
      return floating(digits, negative, first);
    std::string_view all = digits;
    if (hexadecimal)
      digits.remove_prefix(2);
    uint64_t value = 0;
    auto [rest, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
    std::string_view suffix(rest, digits.data() + digits.size() - rest);
    bool octal = !hexadecimal && all.size() > 1 && all[0] == '0' && isDigit(all[1]);
    bool word = suffix.find_first_not_of("uUlL") == std::string_view::npos;
    if (problem != std::errc() || octal || !word || value > uint64_t(INT64_MAX) || (negative && !suffix.empty()) ||
        (hexadecimal && value >= uint64_t(1) << 31 && (negative || suffix.empty())))
      throw Unknown(); // types that hang on more than the digits
    CudaNode result{"integer", text(first, at), {""}, negative ? -int64_t(value) : int64_t(value)};
    bool isUnsigned = suffix.find_first_of("uU") != std::string_view::npos;
    bool wide = suffix.find_first_of("lL") != std::string_view::npos || value >> (isUnsigned ? 32 : 31);
    if (!suffix.empty() || value >> 31)
      result.words[0] = std::string(isUnsigned ? "u" : "") + (wide ? "int64" : "int32");
    return result;
  }

  CudaNode floating(std::string_view digits, bool negative, size_t first) const {
    bool single = digits.ends_with('f') || digits.ends_with('F');
    digits.remove_suffix(single);
    double value = 0;
    auto [rest, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (problem != std::errc() || rest != digits.data() + digits.size())
      throw Unknown();
    return {"float", text(first, at), {single ? "float32" : "float64"}, negative ? -value : value};
  }

  static constexpr int deepest = 100;
  std::string_view source;
  const std::vector<Token> &tokens;
  size_t at, end;
  int depth = 0;
};

} // namespace

CudaNode blockOf(std::string_view source, const std::vector<Token> &tokens, size_t begin, size_t end) {
  return Parser(source, tokens, begin, end).block();
}

CudaNode expressionOf(std::string_view source, const std::vector<Token> &tokens, size_t begin, size_t end) {
  return Parser(source, tokens, begin, end).expression();
}

} // namespace tilery::foreign
