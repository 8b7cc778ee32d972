#include "compiler/targets/cuda/polynomial.h"
#include "mlir/IR/Matchers.h"
#include <algorithm>

using namespace mlir;

namespace tilery::cuda {

template <typename Op> static bool exact(Op op) {
  return bitEnumContainsAny(op.getOverflowFlags(), arith::IntegerOverflowFlags::nsw);
}

Polynomial Polynomial::of(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return Polynomial(constant.getSExtValue());
  if (auto extend = value.getDefiningOp<arith::ExtSIOp>())
    return of(extend.getIn());
  if (auto add = value.getDefiningOp<arith::AddIOp>(); add && exact(add))
    return of(add.getLhs()) + of(add.getRhs());
  if (auto sub = value.getDefiningOp<arith::SubIOp>(); sub && exact(sub))
    return of(sub.getLhs()) - of(sub.getRhs());
  if (auto mul = value.getDefiningOp<arith::MulIOp>(); mul && exact(mul))
    return of(mul.getLhs()) * of(mul.getRhs());
  Polynomial atom;
  atom.terms[{value.getAsOpaquePointer()}] = 1;
  return atom;
}

Polynomial Polynomial::combined(const Polynomial &other, int64_t factor) const {
  Polynomial sum(*this);
  for (auto &[monomial, coefficient] : other.terms)
    if ((sum.terms[monomial] += factor * coefficient) == 0)
      sum.terms.erase(monomial);
  return sum;
}

Polynomial Polynomial::operator*(const Polynomial &other) const {
  Polynomial product;
  for (auto &[x, a] : terms)
    for (auto &[y, b] : other.terms) {
      Monomial both;
      std::merge(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(both));
      if ((product.terms[both] += a * b) == 0)
        product.terms.erase(both);
    }
  return product;
}

std::optional<int64_t> Polynomial::constant() const {
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms.begin()->first.empty())
    return terms.begin()->second;
  return std::nullopt;
}

Polynomial Polynomial::divided(const Polynomial &divisor, Polynomial &rest) const {
  Polynomial quotient;
  rest = *this;
  if (divisor.terms.size() != 1)
    return quotient;
  auto &[factor, scale] = *divisor.terms.begin();
  for (auto &[monomial, coefficient] : terms) {
    if (!std::includes(monomial.begin(), monomial.end(), factor.begin(), factor.end()) || coefficient % scale)
      continue;
    Monomial left;
    std::set_difference(monomial.begin(), monomial.end(), factor.begin(), factor.end(), std::back_inserter(left));
    quotient.terms[left] = coefficient / scale;
    rest.terms.erase(monomial);
  }
  return quotient;
}

Polynomial Polynomial::coefficient(Value atom, Polynomial &rest) const {
  Polynomial divisor;
  divisor.terms[{atom.getAsOpaquePointer()}] = 1;
  return divided(divisor, rest);
}

bool Polynomial::all(llvm::function_ref<bool(Value)> predicate) const {
  for (auto &[monomial, coefficient] : terms)
    for (const void *atom : monomial)
      if (!predicate(Value::getFromOpaquePointer(atom)))
        return false;
  return true;
}

} // namespace tilery::cuda
