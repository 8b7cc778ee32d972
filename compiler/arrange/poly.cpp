#include "compiler/arrange/poly.h"
#include <algorithm>
#include <tuple>

namespace tilery::arrange {

Poly::Poly(int64_t constant) { add({}, constant); }

void Poly::add(const Monomial &monomial, int64_t factor) {
  if (factor == 0)
    return;
  auto [it, inserted] = terms.try_emplace(monomial, factor);
  if (!inserted && (it->second += factor) == 0)
    terms.erase(it);
}

Poly Poly::atom(const Symbol &expr) {
  Poly result;
  std::string text = expr.str();
  result.terms[{text}] = 1;
  result.atoms.emplace(text, expr);
  return result;
}

Poly Poly::operator+(const Poly &other) const {
  Poly result = *this;
  result.atoms.insert(other.atoms.begin(), other.atoms.end());
  for (auto &[monomial, factor] : other.terms)
    result.add(monomial, factor);
  return result;
}

Poly Poly::operator-(const Poly &other) const { return *this + other * Poly(-1); }

Poly Poly::operator*(const Poly &other) const {
  Poly result;
  result.atoms = atoms;
  result.atoms.insert(other.atoms.begin(), other.atoms.end());
  for (auto &[left, x] : terms)
    for (auto &[right, y] : other.terms) {
      Monomial product(left);
      product.insert(product.end(), right.begin(), right.end());
      std::sort(product.begin(), product.end());
      result.add(product, x * y);
    }
  return result;
}

std::optional<int64_t> Poly::constant() const {
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms.begin()->first.empty())
    return terms.begin()->second;
  return std::nullopt;
}

Symbol Poly::symbol() const {
  // Higher monomials first and the constant last, as people write it; negative terms are subtracted.
  std::vector<std::pair<Monomial, int64_t>> ordered(terms.begin(), terms.end());
  std::sort(ordered.begin(), ordered.end(), [](auto &a, auto &b) {
    return std::tuple(a.second < 0, -int64_t(a.first.size()), a.first) <
           std::tuple(b.second < 0, -int64_t(b.first.size()), b.first);
  });
  Symbol sum = 0;
  for (auto &[monomial, factor] : ordered) {
    Symbol product = 1;
    for (const std::string &text : monomial)
      product = product * atoms.at(text);
    bool subtract = factor < 0 && sum.constant() != 0;
    int64_t scale = subtract ? -factor : factor;
    product = monomial.empty() ? Symbol(scale) : product * scale;
    sum = subtract ? sum - product : sum + product;
  }
  return sum;
}

bool Poly::contains(const std::string &name) const {
  for (auto &[monomial, factor] : terms)
    for (const std::string &text : monomial)
      for (const Symbol &inside : atoms.at(text).names())
        if (inside.name().text == name)
          return true;
  return false;
}

std::optional<Poly> Poly::coefficient(const std::string &name) const {
  Poly result;
  result.atoms = atoms;
  for (auto &[monomial, factor] : terms) {
    auto it = std::find(monomial.begin(), monomial.end(), name);
    if (it == monomial.end())
      continue;
    Monomial rest(monomial);
    rest.erase(rest.begin() + (it - monomial.begin()));
    result.add(rest, factor);
  }
  return result.contains(name) || without(name).contains(name) ? std::nullopt : std::optional(result);
}

Poly Poly::without(const std::string &name) const {
  Poly result;
  result.atoms = atoms;
  for (auto &[monomial, factor] : terms)
    if (std::find(monomial.begin(), monomial.end(), name) == monomial.end())
      result.add(monomial, factor);
  return result;
}

Poly Poly::divide(const Poly &numerator, const Poly &denominator, bool remainder, const Ranges &ranges) {
  // Split the numerator into quotient * denominator + rest where a monomial of the denominator shows how. Sound for every positive
  // denominator; a size of 0 makes every bound that guards the result false.
  Poly quotient, rest = numerator;
  if (denominator.terms.size() == 1) {
    auto &[divisor, scale] = *denominator.terms.begin();
    rest = Poly();
    rest.atoms = quotient.atoms = numerator.atoms;
    for (auto &[monomial, factor] : numerator.terms) {
      bool divisible =
          scale > 0 && factor % scale == 0 && std::includes(monomial.begin(), monomial.end(), divisor.begin(), divisor.end());
      if (!divisible) {
        rest.add(monomial, factor);
        continue;
      }
      Monomial left;
      std::set_difference(monomial.begin(), monomial.end(), divisor.begin(), divisor.end(), std::back_inserter(left));
      quotient.add(left, factor / scale);
    }
  }
  bool small = rest.terms.empty() || (rest.isNonNegative(ranges) && (denominator - rest - Poly(1)).isNonNegative(ranges));
  if (remainder)
    return small ? rest : atom(floorMod(rest.symbol(), denominator.symbol()));
  if (small)
    return quotient;
  Symbol divided = floorDiv(rest.symbol(), denominator.symbol());
  return quotient + (divided.constant() ? Poly(*divided.constant()) : atom(divided));
}

Poly Poly::of(const Symbol &expr, const Ranges &ranges) {
  if (auto value = expr.constant())
    return Poly(*value);
  if (expr.isName())
    return atom(expr);
  std::vector<Poly> args;
  for (const Symbol &arg : expr.args())
    args.push_back(of(arg, ranges));
  switch (expr.kind()) {
  case ExprKind::negate:
    return Poly(-1) * args[0];
  case ExprKind::add:
    return args[0] + args[1];
  case ExprKind::sub:
    return args[0] - args[1];
  case ExprKind::mul:
    return args[0] * args[1];
  case ExprKind::floordiv:
  case ExprKind::mod:
    // Division by a constant 0 gives 0 by definition; no rule above it may say otherwise.
    if (args[1].constant() != 0 && !(args[0].constant() && args[1].constant()))
      return divide(args[0], args[1], expr.kind() == ExprKind::mod, ranges);
    break;
  case ExprKind::minimum:
  case ExprKind::maximum: {
    bool wantsFirst = expr.kind() == ExprKind::minimum;
    if ((args[1] - args[0]).isNonNegative(ranges))
      return args[wantsFirst ? 0 : 1];
    if ((args[0] - args[1]).isNonNegative(ranges))
      return args[wantsFirst ? 1 : 0];
    break;
  }
  default:
    break;
  }
  std::vector<Symbol> simplified;
  for (const Poly &arg : args)
    simplified.push_back(arg.symbol());
  Symbol rebuilt = Symbol::make(expr.kind(), std::move(simplified));
  return rebuilt.constant() ? Poly(*rebuilt.constant()) : atom(rebuilt);
}

bool Poly::isNonNegative(const Ranges &ranges) const { return isNonNegative(ranges, 0); }

bool Poly::isNonNegative(const Ranges &ranges, int depth) const {
  auto isPositiveTerm = [&](const std::string &text) {
    const Symbol &expr = atoms.at(text);
    if (expr.isName()) {
      auto it = ranges.find(text);
      return it == ranges.end() || of(it->second.lower).isNonNegative({}, depth + 1);
    }
    switch (expr.kind()) {
    case ExprKind::floordiv:
    case ExprKind::mod:
      return (expr.kind() == ExprKind::mod || of(expr.args()[0]).isNonNegative(ranges, depth + 1)) &&
             of(expr.args()[1]).isNonNegative(ranges, depth + 1);
    case ExprKind::minimum:
      return of(expr.args()[0]).isNonNegative(ranges, depth + 1) && of(expr.args()[1]).isNonNegative(ranges, depth + 1);
    case ExprKind::maximum:
      return of(expr.args()[0]).isNonNegative(ranges, depth + 1) || of(expr.args()[1]).isNonNegative(ranges, depth + 1);
    case ExprKind::absolute:
    case ExprKind::less:
    case ExprKind::lessEqual:
    case ExprKind::greater:
    case ExprKind::greaterEqual:
      return true;
    default:
      return false;
    }
  };
  bool positive = true;
  for (const auto &[monomial, factor] : terms)
    positive = positive && factor > 0 && std::all_of(monomial.begin(), monomial.end(), isPositiveTerm);
  if (positive)
    return true;
  if (depth > 6)
    return false;
  // A name in a negative term does most harm at its largest value.
  for (const auto &term : terms) {
    if (term.second > 0)
      continue;
    for (const std::string &text : term.first) {
      auto it = ranges.find(text);
      if (it == ranges.end() || !it->second.upper)
        continue;
      auto factor = coefficient(text);
      if (!factor || !(Poly() - *factor).isNonNegative(ranges, depth + 1))
        continue;
      if ((without(text) + *factor * of(*it->second.upper)).isNonNegative(ranges, depth + 1))
        return true;
    }
  }
  return false;
}

Symbol simplify(const Symbol &expr) { return Poly::of(expr).symbol(); }

} // namespace tilery::arrange
