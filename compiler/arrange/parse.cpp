#include "tilery/arrange.h"
#include <cctype>

namespace tilery::arrange {
namespace {

/// Precedence climbing over Python's integer operators.
class Parser {
public:
  explicit Parser(const std::string &text) : text(text) {}

  Symbol parse() {
    Symbol result = binary(1);
    skipSpace();
    if (at != text.size())
      fail();
    return result;
  }

private:
  struct Operator {
    const char *text;
    ExprKind kind;
    int precedence;
  };
  // Longer spellings first, so that "//" is not read as "/".
  static constexpr Operator operators[] = {
      {"**", ExprKind::power, 9},        {"//", ExprKind::floordiv, 7}, {"<=", ExprKind::lessEqual, 1},
      {">=", ExprKind::greaterEqual, 1}, {"<", ExprKind::less, 1},      {">", ExprKind::greater, 1},
      {"|", ExprKind::bitOr, 2},         {"^", ExprKind::bitXor, 3},    {"&", ExprKind::bitAnd, 4},
      {"+", ExprKind::add, 6},           {"-", ExprKind::sub, 6},       {"*", ExprKind::mul, 7},
      {"/", ExprKind::truediv, 7},       {"%", ExprKind::mod, 7},
  };

  [[noreturn]] void fail() const {
    throw ArrangementError(Diagnostic::Kind::Value, "`" + text + "` is not an integer expression.");
  }
  void skipSpace() {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])))
      ++at;
  }
  bool accept(const std::string &token) {
    skipSpace();
    if (text.compare(at, token.size(), token) != 0)
      return false;
    at += token.size();
    return true;
  }

  Symbol binary(int precedence) {
    if (++depth > deepest)
      fail();
    Symbol result = operations(precedence);
    --depth;
    return result;
  }

  Symbol operations(int precedence) {
    Symbol lhs = unary();
    while (true) {
      skipSpace();
      const Operator *found = nullptr;
      for (const Operator &op : operators)
        if (text.compare(at, std::string(op.text).size(), op.text) == 0) {
          found = &op;
          break;
        }
      if (!found || found->precedence < precedence)
        return lhs;
      at += std::string(found->text).size();
      // ** binds to the right.
      lhs = Symbol::make(found->kind, {lhs, binary(found->precedence + (found->kind != ExprKind::power))});
    }
  }

  Symbol unary() {
    if (accept("-"))
      return -binary(8);
    if (accept("+"))
      return binary(8);
    return primary();
  }

  /// What stands between a bracket and its end; a comma makes it a tuple.
  std::vector<Symbol> listed(const std::string &end, bool &comma) {
    std::vector<Symbol> parts;
    comma = false;
    while (!accept(end)) {
      if (!parts.empty() && !comma)
        fail();
      parts.push_back(binary(1));
      comma = accept(",");
    }
    comma = comma || parts.size() != 1;
    return parts;
  }

  Symbol call(ExprKind kind, size_t arity) {
    bool comma;
    std::vector<Symbol> args = listed(")", comma);
    if (args.size() != arity)
      fail();
    return Symbol::make(kind, std::move(args));
  }

  Symbol bracketed(const std::string &end) {
    bool comma;
    std::vector<Symbol> parts = listed(end, comma);
    return comma ? Symbol::make(ExprKind::tuple, std::move(parts)) : parts[0];
  }

  Symbol primary() {
    Symbol result = first();
    while (accept("[")) {
      Symbol index = bracketed("]");
      if (index.kind() == ExprKind::tuple && index.args().empty())
        fail();
      result = Symbol::make(ExprKind::item, {result, index});
    }
    return result;
  }

  Symbol first() {
    skipSpace();
    if (accept("("))
      return bracketed(")");
    size_t begin = at;
    auto isWord = [&] { return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_'); };
    while (isWord())
      ++at;
    std::string word = text.substr(begin, at - begin);
    if (word.empty())
      fail();
    if (std::isdigit(static_cast<unsigned char>(word[0]))) {
      if (word.find_first_not_of("0123456789") != std::string::npos || word.size() > 18)
        fail();
      return std::stoll(word);
    }
    if (word == "None")
      return Symbol::make(ExprKind::none, {});
    if (word == "slice" && accept("("))
      return call(ExprKind::slice, 3);
    if (word == "abs" && accept("("))
      return call(ExprKind::absolute, 1);
    if (word == "min" && accept("("))
      return call(ExprKind::minimum, 2);
    if (word == "max" && accept("("))
      return call(ExprKind::maximum, 2);
    return Symbol::plain(word);
  }

  const std::string &text;
  size_t at = 0;
  int depth = 0; // of brackets and operators inside each other, each of which takes some of the stack
  static constexpr int deepest = 1000;
};

} // namespace

Symbol Symbol::parse(const std::string &text) { return Parser(text).parse(); }

} // namespace tilery::arrange
