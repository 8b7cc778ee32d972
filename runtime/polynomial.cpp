#include "runtime/polynomial.h"

namespace tilery {
namespace {

int64_t valueOf(uint32_t factor, const LaunchValues &launch) {
  if (factor >= PolynomialInfo::gridExtent)
    return launch.grid[factor - PolynomialInfo::gridExtent];
  uint64_t bits = launch.args[factor];
  switch (byteWidth(launch.info.args[factor].dtype)) { // kernels know integers by their width, and count with signs
  case 1:
    return int8_t(bits);
  case 2:
    return int16_t(bits);
  case 4:
    return int32_t(bits);
  default:
    return int64_t(bits);
  }
}

} // namespace

std::optional<int64_t> evaluate(const PolynomialInfo &polynomial, const LaunchValues &launch) {
  int64_t sum = 0;
  for (const PolynomialInfo::Term &term : polynomial.terms) {
    int64_t product = term.coefficient;
    for (uint32_t factor : term.factors)
      if (__builtin_mul_overflow(product, valueOf(factor, launch), &product))
        return std::nullopt;
    if (__builtin_add_overflow(sum, product, &sum))
      return std::nullopt;
  }
  return sum;
}

bool holds(const ConditionInfo &condition, const LaunchValues &launch) {
  std::optional<int64_t> value = evaluate(condition.value, launch);
  return value && (condition.divisor ? *value % int64_t(condition.divisor) == 0 : *value >= 0);
}

} // namespace tilery
