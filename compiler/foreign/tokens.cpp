#include "compiler/foreign/tokens.h"
#include "compiler/foreign/text.h"
#include <algorithm>

namespace tilery::foreign {
namespace {

class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}

  std::vector<Token> run() {
    while (at < text.size())
      step();
    add(Token::Kind::End, at, at, at);
    return std::move(tokens);
  }

private:
  char ahead(size_t distance) const { return at + distance < text.size() ? text[at + distance] : '\0'; }
  void add(Token::Kind kind, size_t begin, size_t from, size_t to) {
    tokens.push_back({kind, text.substr(from, to - from), begin, at});
  }

  void step() {
    char c = text[at];
    size_t begin = at;
    if (isSpace(c)) {
      fresh |= c == '\n';
      ++at;
    } else if (c == '/' && ahead(1) == '/') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '/' && ahead(1) == '*' && closes && comment()) {
    } else if (c == '#' && fresh) {
      directive();
    } else {
      fresh = false;
      if (c == '"' || c == '\'')
        quoted(c);
      else if (isDigit(c) || (c == '.' && isDigit(ahead(1))))
        number();
      else if (isWord(c))
        word();
      else {
        at += isPair() ? 2 : 1;
        add(Token::Kind::Mark, begin, begin, at);
      }
    }
  }

  /// False: it is never closed, so that it is none.
  bool comment() {
    size_t end = text.find("*/", at + 2);
    closes = end != std::string_view::npos;
    at = closes ? end + 2 : at;
    return closes;
  }

  void directive() {
    size_t begin = at;
    while (at < text.size() && text[at] != '\n')
      at += text[at] == '\\' ? 2 : 1; // a line that goes on
    at = std::min(at, text.size());
    std::string_view name = trimmed(text.substr(begin + 1, at - begin - 1));
    name = name.substr(0, std::ranges::find_if_not(name, isWord) - name.begin());
    for (const char *known : {"if", "ifdef", "ifndef", "else", "elif", "endif"})
      if (name == known)
        tokens.push_back({Token::Kind::Directive, name, begin, at});
  }

  void quoted(char quote) {
    size_t begin = at++;
    while (at < text.size() && text[at] != quote && text[at] != '\n')
      at += text[at] == '\\' ? 2 : 1;
    bool closed = at < text.size() && text[at] == quote;
    at = closed ? at + 1 : begin + 1;
    if (closed && quote == '"')
      add(Token::Kind::String, begin, begin + 1, at - 1);
    else
      add(Token::Kind::Mark, begin, begin, at);
  }

  void number() {
    size_t begin = at;
    bool hexadecimal = text[at] == '0' && (ahead(1) | 32) == 'x';
    while (at < text.size() && (isWord(text[at]) || text[at] == '.')) {
      bool exponent = !hexadecimal && (text[at] | 32) == 'e' && (ahead(1) == '-' || ahead(1) == '+');
      at += exponent ? 2 : 1;
    }
    add(Token::Kind::Number, begin, begin, at);
  }

  void word() {
    size_t begin = at;
    while (at < text.size() && (isWord(text[at]) || (text[at] == ':' && ahead(1) == ':' && isWord(ahead(2)))))
      at += text[at] == ':' ? 2 : 1;
    add(Token::Kind::Word, begin, begin, at);
  }

  /// An operator of two characters. Shifts are none, as two templates may end there; nor is `::` between parts of an asm statement.
  bool isPair() const {
    std::string_view both = text.substr(at, 2);
    if (both.size() < 2)
      return false;
    return both == "++" || both == "--" || both == "->" || both == "&&" || both == "||" ||
           (both[1] == '=' && std::string_view("=!<>+-*/%&|^").find(both[0]) != std::string_view::npos);
  }

  std::string_view text;
  size_t at = 0;
  bool fresh = true;  // nothing in this line yet
  bool closes = true; // a comment that begins here, for all that is known
  std::vector<Token> tokens;
};

} // namespace

std::vector<Token> tokensOf(std::string_view text) { return Lexer(text).run(); }

} // namespace tilery::foreign
