#include "tilery/arrange.h"
#include <algorithm>
#include <atomic>
#include <cstring>
#include <regex>
#include <set>

namespace tilery::arrange {

/// Without what names of symbols have in front of the label, and the numbers of tensors without a name.
static std::string asWritten(const std::string &message) {
  static const std::regex inFront("ninetoothed_((constexpr|meta|next_power_of_2)_prefix_)*(tensor_[0-9]+_)?");
  return std::regex_replace(message, inFront, "");
}

ArrangementError::ArrangementError(Diagnostic::Kind kind, const std::string &message, std::string hint)
    : Error({kind, asWritten(message), std::move(hint), {}}) {}

struct Symbol::Node {
  ExprKind kind;
  int64_t value = 0;
  Name name;
  std::vector<Symbol> args;
  int depth = 0; ///< of operations inside each other
};

namespace {

constexpr int deepest = 1000; // operations inside each other: functions that follow them use the stack

/// A value, unless it has more than 64 bits.
using Checked = std::optional<int64_t>;

/// No divisor is 0.
Checked floorDivInt(int64_t a, int64_t b) {
  if (b == -1)
    return a == INT64_MIN ? Checked() : -a;
  int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

int64_t floorModInt(int64_t a, int64_t b) {
  int64_t rest = b == -1 ? 0 : a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Checked powerInt(int64_t base, int64_t exponent) {
  if (exponent < 0)
    throw ArrangementError(Diagnostic::Kind::Value, "A size cannot be raised to a negative power.");
  if (base >= -1 && base <= 1) // all others have more than 64 bits soon
    exponent = base == -1 ? exponent % 2 : std::min<int64_t>(exponent, 1);
  int64_t result = 1;
  for (; exponent > 0; --exponent)
    if (__builtin_mul_overflow(result, base, &result))
      return {};
  return result;
}

Checked fold(ExprKind kind, int64_t a, int64_t b) {
  int64_t result;
  switch (kind) {
  case ExprKind::add:
    return __builtin_add_overflow(a, b, &result) ? Checked() : result;
  case ExprKind::sub:
    return __builtin_sub_overflow(a, b, &result) ? Checked() : result;
  case ExprKind::mul:
    return __builtin_mul_overflow(a, b, &result) ? Checked() : result;
  case ExprKind::floordiv:
    return b == 0 ? 0 : floorDivInt(a, b);
  case ExprKind::mod:
    return b == 0 ? 0 : floorModInt(a, b);
  case ExprKind::truediv:
    if (b == 0 || floorModInt(a, b) != 0)
      throw ArrangementError(Diagnostic::Kind::Value,
                             std::to_string(a) + " / " + std::to_string(b) + " is not an integer. Use `//`.");
    return floorDivInt(a, b);
  case ExprKind::power:
    return powerInt(a, b);
  case ExprKind::less:
    return a < b;
  case ExprKind::lessEqual:
    return a <= b;
  case ExprKind::greater:
    return a > b;
  case ExprKind::greaterEqual:
    return a >= b;
  case ExprKind::bitAnd:
    return a & b;
  case ExprKind::bitOr:
    return a | b;
  case ExprKind::bitXor:
    return a ^ b;
  case ExprKind::minimum:
    return a < b ? a : b;
  case ExprKind::maximum:
    return a < b ? b : a;
  default:
    return 0;
  }
}

bool isConstant(const Symbol &s, int64_t value) { return s.constant() == value; }

// Python's precedence of the printed operator, loosest first.
struct Spelling {
  const char *text;
  int precedence;
};
Spelling spelling(ExprKind kind) {
  switch (kind) {
  case ExprKind::less:
    return {" < ", 1};
  case ExprKind::lessEqual:
    return {" <= ", 1};
  case ExprKind::greater:
    return {" > ", 1};
  case ExprKind::greaterEqual:
    return {" >= ", 1};
  case ExprKind::bitOr:
    return {" | ", 2};
  case ExprKind::bitXor:
    return {" ^ ", 3};
  case ExprKind::bitAnd:
    return {" & ", 4};
  case ExprKind::add:
    return {" + ", 6};
  case ExprKind::sub:
    return {" - ", 6};
  case ExprKind::mul:
    return {" * ", 7};
  case ExprKind::floordiv:
    return {" // ", 7};
  case ExprKind::truediv:
    return {" / ", 7};
  case ExprKind::mod:
    return {" % ", 7};
  case ExprKind::negate:
    return {"-", 8};
  case ExprKind::power:
    return {" ** ", 9};
  default:
    return {"", 10};
  }
}

std::string print(const Symbol &s, int outer);

std::string printAll(const std::vector<Symbol> &parts) {
  std::string text;
  for (const Symbol &part : parts)
    text += (text.empty() ? "" : ", ") + print(part, 0);
  return text;
}

std::string print(const Symbol &s, int outer) {
  Spelling how = spelling(s.kind());
  std::string text;
  switch (s.kind()) {
  case ExprKind::constant: {
    int64_t value = *s.constant();
    return value < 0 && outer > 8 ? "(" + std::to_string(value) + ")" : std::to_string(value);
  }
  case ExprKind::name:
    return s.name().text;
  case ExprKind::tuple:
    return "(" + printAll(s.args()) + (s.args().size() == 1 ? ",)" : ")");
  case ExprKind::item:
    return print(s.args()[0], 10) + "[" +
           (s.args()[1].args().size() > 1 && s.args()[1].kind() == ExprKind::tuple ? printAll(s.args()[1].args())
                                                                                   : print(s.args()[1], 0)) +
           "]";
  case ExprKind::slice:
    return "slice(" + printAll(s.args()) + ")";
  case ExprKind::none:
    return "None";
  case ExprKind::absolute:
    return "abs(" + print(s.args()[0], 0) + ")";
  case ExprKind::minimum:
    return "min(" + print(s.args()[0], 0) + ", " + print(s.args()[1], 0) + ")";
  case ExprKind::maximum:
    return "max(" + print(s.args()[0], 0) + ", " + print(s.args()[1], 0) + ")";
  case ExprKind::negate:
    text = "-" + print(s.args()[0], how.precedence);
    break;
  default: {
    // The right operand of a left-associative operator needs parentheses at the same precedence; of a comparison both do.
    bool comparison = how.precedence == 1, power = s.kind() == ExprKind::power;
    text = print(s.args()[0], how.precedence + (comparison || power)) + how.text + print(s.args()[1], how.precedence + !power);
  }
  }
  return how.precedence < outer ? "(" + text + ")" : text;
}

} // namespace

Symbol::Symbol(int64_t value) : node(std::make_shared<Node>(Node{ExprKind::constant, value, {}, {}, 0})) {}

Symbol Symbol::plain(const std::string &text) {
  Symbol result;
  result.node = std::make_shared<Node>(Node{ExprKind::name, 0, Name{text, text, Role::plain, {}, {}, false}, {}, 0});
  return result;
}

Symbol Symbol::named(const std::string &label, Role role, std::optional<int64_t> lower, std::optional<int64_t> upper,
                     std::optional<bool> powerOfTwo) {
  Name name{label, label, role, lower, upper, powerOfTwo.value_or(role == Role::meta)};
  if (role == Role::meta) {
    name.text = "ninetoothed_meta_prefix_" + label;
    name.lower = lower.value_or(32);
    name.upper = upper.value_or(1024);
  } else if (role == Role::constant) {
    name.text = "ninetoothed_constexpr_prefix_" + label;
    name.lower = lower.value_or(1);
    name.upper = upper.value_or(int64_t(1) << 20);
  }
  if (name.lower && name.upper && *name.lower > *name.upper)
    throw ArrangementError(Diagnostic::Kind::Value, "`lower_bound` " + std::to_string(*name.lower) + " of `" + label +
                                                        "` is above `upper_bound` " + std::to_string(*name.upper) + ".");
  Symbol result;
  result.node = std::make_shared<Node>(Node{ExprKind::name, 0, std::move(name), {}, 0});
  return result;
}

static int64_t folded(ExprKind kind, int64_t a, int64_t b) {
  if (Checked value = fold(kind, a, b))
    return *value;
  throw ArrangementError(Diagnostic::Kind::Value,
                         "`" + std::to_string(a) + spelling(kind).text + std::to_string(b) + "` has more than 64 bits.");
}

/// The element of a tuple at a known place.
static std::optional<Symbol> picked(const Symbol &of, const Symbol &index) {
  auto at = index.constant();
  if (of.kind() != ExprKind::tuple || !at)
    return {};
  int64_t count = of.args().size(), place = *at < 0 ? *at + count : *at;
  if (place < 0 || place >= count)
    throw ArrangementError(Diagnostic::Kind::Index, "Index " + std::to_string(*at) + " is out of range for `" + of.str() + "`.");
  return of.args()[place];
}

Symbol Symbol::make(ExprKind kind, std::vector<Symbol> args) {
  auto operation = [&] {
    int depth = 0;
    for (const Symbol &arg : args)
      depth = std::max(depth, arg.node->depth);
    if (depth >= deepest)
      throw ArrangementError(Diagnostic::Kind::Value,
                             "An expression has more than " + std::to_string(deepest) + " operations inside each other.");
    Symbol result;
    result.node = std::make_shared<Node>(Node{kind, 0, {}, std::move(args), depth + 1});
    return result;
  };
  if (kind >= ExprKind::tuple) {
    if (auto element = kind == ExprKind::item ? picked(args[0], args[1]) : std::nullopt)
      return *element;
    return operation();
  }
  const Symbol &a = args.front();
  if (kind == ExprKind::negate || kind == ExprKind::absolute) {
    if (auto value = a.constant())
      return *value >= 0 && kind == ExprKind::absolute ? *value : folded(ExprKind::sub, 0, *value);
    if (kind == ExprKind::negate && a.kind() == ExprKind::negate)
      return a.args()[0];
  } else {
    const Symbol &b = args.back();
    auto x = a.constant(), y = b.constant();
    if (x && y)
      return folded(kind, *x, *y);
    bool sum = kind == ExprKind::add, product = kind == ExprKind::mul;
    if ((sum && isConstant(a, 0)) || (product && isConstant(a, 1)))
      return b;
    if (((sum || kind == ExprKind::sub) && isConstant(b, 0)) ||
        ((product || kind == ExprKind::floordiv || kind == ExprKind::truediv || kind == ExprKind::power) && isConstant(b, 1)))
      return a;
    if ((kind == ExprKind::minimum || kind == ExprKind::maximum) && a.equals(b))
      return a;
  }
  return operation();
}

ExprKind Symbol::kind() const { return node->kind; }
std::optional<int64_t> Symbol::constant() const {
  return node->kind == ExprKind::constant ? std::optional(node->value) : std::nullopt;
}
const Name &Symbol::name() const { return node->name; }
const std::vector<Symbol> &Symbol::args() const { return node->args; }
std::string Symbol::str() const { return print(*this, 0); }

bool Symbol::equals(const Symbol &other) const {
  if (node == other.node)
    return true;
  if (kind() != other.kind() || node->value != other.node->value || node->name.text != other.node->name.text ||
      args().size() != other.args().size())
    return false;
  for (size_t i = 0; i < args().size(); ++i)
    if (!args()[i].equals(other.args()[i]))
      return false;
  return true;
}

std::vector<Symbol> Symbol::names() const {
  std::map<std::string, Symbol> found;
  std::function<void(const Symbol &)> visit = [&](const Symbol &s) {
    if (s.isName())
      found.emplace(s.name().text, s);
    for (const Symbol &arg : s.args())
      visit(arg);
  };
  visit(*this);
  std::vector<Symbol> result;
  for (auto &[text, symbol] : found)
    result.push_back(symbol);
  return result;
}

Symbol Symbol::substitute(const Values &values) const {
  if (isName()) {
    auto it = values.find(name().text);
    return it == values.end() ? *this : it->second;
  }
  if (args().empty())
    return *this;
  std::vector<Symbol> replaced;
  for (const Symbol &arg : args())
    replaced.push_back(arg.substitute(values));
  return make(kind(), std::move(replaced));
}

Symbol Symbol::replace(const Symbol &target, const Symbol &replacement) const {
  if (equals(target))
    return replacement;
  if (args().empty())
    return *this;
  std::vector<Symbol> replaced;
  for (const Symbol &arg : args())
    replaced.push_back(arg.replace(target, replacement));
  return make(kind(), std::move(replaced));
}

Symbol operator+(const Symbol &a, const Symbol &b) { return Symbol::make(ExprKind::add, {a, b}); }
Symbol operator-(const Symbol &a, const Symbol &b) { return Symbol::make(ExprKind::sub, {a, b}); }
Symbol operator*(const Symbol &a, const Symbol &b) { return Symbol::make(ExprKind::mul, {a, b}); }
Symbol operator-(const Symbol &a) { return Symbol::make(ExprKind::negate, {a}); }
Symbol floorDiv(const Symbol &a, const Symbol &b) { return Symbol::make(ExprKind::floordiv, {a, b}); }
Symbol floorMod(const Symbol &a, const Symbol &b) { return Symbol::make(ExprKind::mod, {a, b}); }
Symbol ceilDiv(const Symbol &a, const Symbol &b) { return floorDiv(a + b - 1, b); }

bool isRowLength(const Symbol &symbol) {
  return symbol.isName() && symbol.name().label.starts_with("ninetoothed_") && symbol.name().label.ends_with("_seq_len") &&
         !symbol.name().label.ends_with("_max_seq_len");
}

Symbol longest(const Symbol &expr) {
  Symbol::Values values;
  for (const Symbol &name : expr.names())
    if (isRowLength(name)) {
      std::string label = name.name().label;
      values.emplace(name.name().text, Symbol::plain(label.substr(0, label.size() - strlen("seq_len")) + "max_seq_len"));
    }
  return values.empty() ? expr : expr.substitute(values);
}

Symbol blockSize(std::optional<int64_t> lower, std::optional<int64_t> upper) {
  static std::atomic<int64_t> counter{0};
  return Symbol::named("ninetoothed_BLOCK_SIZE_" + std::to_string(counter++), Role::meta, lower, upper);
}

} // namespace tilery::arrange
