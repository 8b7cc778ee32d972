#pragma once
// Integer polynomials over any atoms: the normal form in which index arithmetic is compared, divided and split.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

namespace tilery::analysis {

/// A sum of products of atoms with i64 coefficients. `Less` orders atoms; those of which neither comes first are equal.
/// Arithmetic is modulo 2^64: coefficients wrap as the values do that they describe.
template <class Atom, class Less = std::less<Atom>> class Polynomial {
public:
  /// Atoms in order, each as often as its exponent. Empty: the constant term.
  using Monomial = std::vector<Atom>;
  struct MonomialLess {
    bool operator()(const Monomial &x, const Monomial &y) const {
      return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end(), Less());
    }
  };
  using Terms = std::map<Monomial, int64_t, MonomialLess>; // no coefficient is 0

  Polynomial() = default;
  explicit Polynomial(int64_t constant) { add({}, constant); }
  static Polynomial of(const Atom &atom) {
    Polynomial result;
    result.add({atom}, 1);
    return result;
  }

  const Terms &terms() const { return sum; }
  /// coefficient * product of the monomial's atoms.
  static Polynomial term(Monomial monomial, int64_t coefficient) {
    Polynomial result;
    result.add(std::move(monomial), coefficient);
    return result;
  }
  /// The sum of the terms whose monomials satisfy the predicate.
  template <class Predicate> Polynomial where(Predicate predicate) const {
    Polynomial result;
    for (auto &[monomial, coefficient] : sum)
      if (predicate(monomial))
        result.sum.emplace(monomial, coefficient);
    return result;
  }
  bool isZero() const { return sum.empty(); }
  /// Its value if no atom is left.
  std::optional<int64_t> constant() const {
    if (sum.empty())
      return 0;
    if (sum.size() == 1 && sum.begin()->first.empty())
      return sum.begin()->second;
    return std::nullopt;
  }
  /// Every atom of every term satisfies the predicate.
  template <class Predicate> bool all(Predicate predicate) const {
    return std::all_of(sum.begin(), sum.end(),
                       [&](const auto &term) { return std::all_of(term.first.begin(), term.first.end(), predicate); });
  }
  bool uses(const Atom &atom) const {
    return !all([&](const Atom &other) { return Less()(atom, other) || Less()(other, atom); });
  }

  Polynomial operator+(const Polynomial &other) const { return plus(other, 1); }
  Polynomial operator-(const Polynomial &other) const { return plus(other, -1); }
  Polynomial operator*(const Polynomial &other) const {
    Polynomial product;
    for (auto &[x, a] : sum)
      for (auto &[y, b] : other.sum) {
        Monomial both;
        std::merge(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(both), Less());
        product.add(std::move(both), wrapping(uint64_t(a) * uint64_t(b)));
      }
    return product;
  }
  bool operator==(const Polynomial &other) const {
    MonomialLess less;
    return std::equal(sum.begin(), sum.end(), other.sum.begin(), other.sum.end(), [&](const auto &x, const auto &y) {
      return x.second == y.second && !less(x.first, y.first) && !less(y.first, x.first);
    });
  }

  /// The quotient q of the terms that `divisor`, a single term, divides: *this == q * divisor + rest. Zero for any other divisor.
  Polynomial divided(const Polynomial &divisor, Polynomial &rest) const {
    Polynomial quotient, others;
    if (divisor.sum.size() != 1) {
      rest = *this;
      return quotient;
    }
    auto &[factor, scale] = *divisor.sum.begin();
    for (auto &[monomial, coefficient] : sum) {
      bool divides = std::includes(monomial.begin(), monomial.end(), factor.begin(), factor.end(), Less()) &&
                     (scale == -1 || coefficient % scale == 0);
      if (!divides) {
        others.sum.emplace(monomial, coefficient);
        continue;
      }
      Monomial left;
      std::set_difference(monomial.begin(), monomial.end(), factor.begin(), factor.end(), std::back_inserter(left), Less());
      quotient.add(std::move(left), scale == -1 ? wrapping(-uint64_t(coefficient)) : coefficient / scale);
    }
    rest = std::move(others);
    return quotient;
  }
  /// *this == result * atom + rest, where no term of `rest` holds the atom.
  Polynomial coefficient(const Atom &atom, Polynomial &rest) const { return divided(of(atom), rest); }

private:
  static int64_t wrapping(uint64_t value) { return int64_t(value); }
  void add(Monomial monomial, int64_t coefficient) {
    if (!coefficient)
      return;
    auto [term, isNew] = sum.try_emplace(std::move(monomial), coefficient);
    if (isNew)
      return;
    term->second = wrapping(uint64_t(term->second) + uint64_t(coefficient));
    if (!term->second)
      sum.erase(term);
  }
  Polynomial plus(const Polynomial &other, int64_t sign) const {
    Polynomial result(*this);
    for (auto &[monomial, coefficient] : other.sum)
      result.add(monomial, wrapping(uint64_t(sign) * uint64_t(coefficient)));
    return result;
  }

  Terms sum;
};

} // namespace tilery::analysis
