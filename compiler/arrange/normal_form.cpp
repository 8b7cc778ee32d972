#include "compiler/arrange/normal_form.h"
#include <numeric>
#include <set>
#include <tuple>

namespace tilery::arrange {
namespace {
Poly atom(const Symbol &expr) { return Poly::of(Term(expr)); }

/// A constant if it is one.
Poly folded(const Symbol &expr) { return expr.constant() ? Poly(*expr.constant()) : atom(expr); }

/// Numbers that divide the only term of the denominator and some of the numerator's.
std::set<int64_t> commonFactors(const Poly &numerator, const Poly &denominator) {
  std::set<int64_t> found;
  if (denominator.terms().size() == 1)
    for (auto &[monomial, factor] : numerator.terms())
      if (int64_t k = std::gcd(factor, denominator.terms().begin()->second); k > 1)
        found.insert(k);
  return found;
}

Poly divide(const Poly &numerator, const Poly &denominator, bool remainder, const Ranges &ranges) {
  // Split the numerator into quotient * denominator + rest where a term of the denominator shows how. Sound for every positive
  // denominator; a size of 0 makes every bound that guards the result false.
  Poly quotient, rest = numerator;
  if (denominator.terms().size() == 1 && denominator.terms().begin()->second > 0)
    quotient = numerator.divided(denominator, rest);
  bool small = rest.isZero() || (isNonNegative(rest, ranges) && isNonNegative(denominator - rest - Poly(1), ranges));
  for (int64_t k : small ? std::set<int64_t>() : commonFactors(rest, denominator)) {
    // k * n + below, divided by k * m, is n by m, and `below` stays.
    Poly below, others, n = rest.divided(Poly(k), below);
    if (!isNonNegative(below, ranges) || !isNonNegative(Poly(k - 1) - below, ranges))
      continue;
    Poly shared = divide(n, denominator.divided(Poly(k), others), remainder, ranges);
    return remainder ? Poly(k) * shared + below : quotient + shared;
  }
  if (remainder)
    return small ? rest : folded(floorMod(symbolOf(rest), symbolOf(denominator)));
  return small ? quotient : quotient + folded(floorDiv(symbolOf(rest), symbolOf(denominator)));
}
} // namespace

Poly polyOf(const Symbol &expr, const Ranges &ranges) {
  if (auto value = expr.constant())
    return Poly(*value);
  if (expr.isName())
    return atom(expr);
  std::vector<Poly> args;
  for (const Symbol &arg : expr.args())
    args.push_back(polyOf(arg, ranges));
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
    if (isNonNegative(args[1] - args[0], ranges))
      return args[wantsFirst ? 0 : 1];
    if (isNonNegative(args[0] - args[1], ranges))
      return args[wantsFirst ? 1 : 0];
    break;
  }
  default:
    break;
  }
  std::vector<Symbol> simplified;
  for (const Poly &arg : args)
    simplified.push_back(symbolOf(arg));
  return folded(Symbol::make(expr.kind(), std::move(simplified)));
}

Symbol symbolOf(const Poly &poly) {
  // Higher monomials first and the constant last, as people write it; negative terms are subtracted.
  std::vector<std::pair<Poly::Monomial, int64_t>> ordered(poly.terms().begin(), poly.terms().end());
  std::sort(ordered.begin(), ordered.end(), [](auto &a, auto &b) {
    return std::tuple(a.second < 0, -int64_t(a.first.size()), a.first) <
           std::tuple(b.second < 0, -int64_t(b.first.size()), b.first);
  });
  Symbol sum = 0;
  for (auto &[monomial, factor] : ordered) {
    Symbol product = 1;
    for (const Term &term : monomial)
      product = product * term.expr;
    bool subtract = factor < 0 && sum.constant() != 0;
    int64_t scale = subtract ? -factor : factor;
    product = monomial.empty() ? Symbol(scale) : product * scale;
    sum = subtract ? sum - product : sum + product;
  }
  return sum;
}

Symbol simplify(const Symbol &expr) { return symbolOf(polyOf(expr)); }

bool contains(const Poly &poly, const Symbol &name) {
  return !poly.all([&](const Term &term) {
    std::vector<Symbol> names = term.expr.names();
    return std::none_of(names.begin(), names.end(), [&](const Symbol &inside) { return inside.equals(name); });
  });
}

std::optional<Poly> factorOf(const Poly &poly, const Symbol &name) {
  Poly rest, factor = poly.coefficient(Term(name), rest);
  return contains(factor, name) || contains(rest, name) ? std::nullopt : std::optional(factor);
}

Poly without(const Poly &poly, const Symbol &name) {
  Poly rest;
  poly.coefficient(Term(name), rest);
  return rest;
}

static bool isNonNegative(const Poly &poly, const Ranges &ranges, int depth);

/// At least 0, given that sizes and strides are.
static bool isNonNegative(const Symbol &term, const Ranges &ranges, int depth) {
  auto is = [&](const Symbol &expr) { return isNonNegative(polyOf(expr, ranges), ranges, depth + 1); };
  if (term.isName()) {
    auto it = ranges.find(term.name().text);
    return it == ranges.end() || isNonNegative(polyOf(it->second.lower), {}, depth + 1);
  }
  const std::vector<Symbol> &args = term.args();
  switch (term.kind()) {
  case ExprKind::mod:
    return is(args[1]);
  case ExprKind::floordiv:
  case ExprKind::minimum:
    return is(args[0]) && is(args[1]);
  case ExprKind::maximum:
    return is(args[0]) || is(args[1]);
  case ExprKind::absolute:
  case ExprKind::less:
  case ExprKind::lessEqual:
  case ExprKind::greater:
  case ExprKind::greaterEqual:
    return true;
  default:
    return false;
  }
}

static bool isNonNegative(const Poly &poly, const Ranges &ranges, int depth) {
  bool positive = poly.all([&](const Term &term) { return isNonNegative(term.expr, ranges, depth); });
  for (auto &[monomial, factor] : poly.terms())
    positive = positive && factor > 0;
  if (positive)
    return true;
  if (depth > 6)
    return false;
  // A name in a negative term does most harm at its largest value.
  for (auto &[monomial, coefficient] : poly.terms()) {
    if (coefficient > 0)
      continue;
    for (const Term &term : monomial) {
      auto it = ranges.find(term.text);
      if (it == ranges.end() || !it->second.upper)
        continue;
      auto factor = factorOf(poly, term.expr);
      if (!factor || !isNonNegative(Poly() - *factor, ranges, depth + 1))
        continue;
      if (isNonNegative(without(poly, term.expr) + *factor * polyOf(*it->second.upper), ranges, depth + 1))
        return true;
    }
  }
  return false;
}

bool isNonNegative(const Poly &poly, const Ranges &ranges) { return isNonNegative(poly, ranges, 0); }

} // namespace tilery::arrange
