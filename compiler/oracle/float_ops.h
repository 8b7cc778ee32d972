#pragma once
// Lanewise float operations at declared precision, with their shadows.
#include "compiler/oracle/interpreter.h"
#include <cmath>

namespace tilery::oracle {

/// Sets the interval of each lane whose operands are rounded (or of all, where the order of operations is free).
/// range(i) is the interval before rounding; `ulps` bounds the error of one operation in units of the last place.
template <typename F>
void shadowLanes(Interpreter &in, Tile &result, llvm::ArrayRef<const Tile *> operands, bool isRounded, double ulps, F range) {
  if (!in.run.options.shadow || !(isRounded || in.run.forceRounding || hasRanges(operands)))
    return;
  for (int64_t i = 0; i < result.size(); ++i) {
    bool exact = llvm::all_of(operands, [&](const Tile *operand) { return operand->range(laneOf(*operand, i)).isExact(); });
    if (exact && !isRounded && !in.run.forceRounding)
      continue;
    Interval bound = widen(result.element, range(i), ulps);
    if (!bound.contains(decode(result.element, result.lanes[i])))
      bound = unknown();
    result.setRange(i, bound);
  }
}

/// f(x...) on lanes as float (f16, bf16 and f8: rounded afterwards) or double.
template <typename F> Tile floatUnary(const Tile &a, F f) {
  Tile result = lanewiseResult(a.element, {&a});
  Element e = a.element;
  for (int64_t i = 0, n = result.size(); i < n; ++i) {
    if (e.format == Format::F64)
      result.lanes[i] = std::bit_cast<uint64_t>(double(f(std::bit_cast<double>(a.lanes[i]))));
    else if (e.format == Format::F32)
      result.lanes[i] = std::bit_cast<uint32_t>(float(f(std::bit_cast<float>(uint32_t(a.lanes[i])))));
    else
      result.lanes[i] = encode(e, float(f(float(decode(e, a.lanes[i])))));
  }
  return result;
}

template <typename F> Tile floatBinary(const Tile &a, const Tile &b, F f) {
  Tile result = lanewiseResult(a.element, {&a, &b});
  Element e = a.element;
  int64_t strideA = a.size() > 1, strideB = b.size() > 1, n = result.size();
  if (e.format == Format::F32)
    for (int64_t i = 0; i < n; ++i)
      result.lanes[i] = std::bit_cast<uint32_t>(
          float(f(std::bit_cast<float>(uint32_t(a.lanes[i * strideA])), std::bit_cast<float>(uint32_t(b.lanes[i * strideB])))));
  else if (e.format == Format::F64)
    for (int64_t i = 0; i < n; ++i)
      result.lanes[i] = std::bit_cast<uint64_t>(
          double(f(std::bit_cast<double>(a.lanes[i * strideA]), std::bit_cast<double>(b.lanes[i * strideB]))));
  else
    for (int64_t i = 0; i < n; ++i)
      result.lanes[i] = encode(e, float(f(float(decode(e, a.lanes[i * strideA])), float(decode(e, b.lanes[i * strideB])))));
  return result;
}

} // namespace tilery::oracle
