// Inversion, products and division of layouts.
#include "compiler/layout/layout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cassert>

namespace tilery::layout {
namespace {
using Digit = Layout::Digit;
using Vector = Layout::Vector;

bool isPowerOfTwo(int64_t x) { return llvm::isPowerOf2_64(uint64_t(x)); }

/// Solves for the digits that flip bits, over the field of two elements.
class BitInverse {
public:
  struct Column {
    unsigned input;
    int64_t place;
    Vector bits;
  };
  llvm::SmallVector<Column, 16> columns;

  /// inverse[r]: the columns whose bits sum to row r = (output, bit) alone. False if there is no unique answer.
  bool solve(llvm::ArrayRef<std::pair<unsigned, int64_t>> rows, llvm::SmallVectorImpl<uint64_t> &inverse) const {
    size_t n = columns.size();
    if (rows.size() != n || n > 64)
      return false;
    llvm::SmallVector<uint64_t, 16> matrix(n, 0); // row r: which columns have it
    inverse.clear();
    for (size_t r = 0; r < n; ++r) {
      for (size_t c = 0; c < n; ++c)
        if (columns[c].bits[rows[r].first] & rows[r].second)
          matrix[r] |= uint64_t(1) << c;
      inverse.push_back(uint64_t(1) << r);
    }
    // After it, matrix is the identity and inverse[c] says which rows make column c.
    for (size_t c = 0; c < n; ++c) {
      size_t pivot = c;
      while (pivot < n && !(matrix[pivot] >> c & 1))
        ++pivot;
      if (pivot == n)
        return false;
      std::swap(matrix[c], matrix[pivot]), std::swap(inverse[c], inverse[pivot]);
      for (size_t r = 0; r < n; ++r)
        if (r != c && (matrix[r] >> c & 1))
          matrix[r] ^= matrix[c], inverse[r] ^= inverse[c];
    }
    llvm::SmallVector<uint64_t, 16> byRow(n, 0);
    for (size_t c = 0; c < n; ++c)
      for (size_t r = 0; r < n; ++r)
        byRow[r] |= (inverse[c] >> r & 1) << c;
    inverse.assign(byRow.begin(), byRow.end());
    return true;
  }
};
} // namespace

std::optional<Layout> invert(const Layout &original) {
  Layout layout = original.canonical();
  struct Adding {
    unsigned input;
    int64_t place, extent, step;
    unsigned output;
  };
  llvm::SmallVector<Adding, 8> adding;
  BitInverse bits;
  Vector flipped(layout.outputs().size(), 0);
  llvm::SmallVector<Layout::Output, 2> outputs;
  for (auto [number, input] : llvm::enumerate(layout.inputs())) {
    outputs.push_back({input.axis, input.extent()});
    int64_t next = 1;
    for (const Digit &digit : input.digits) {
      int64_t place = next;
      next *= digit.extent;
      if (digit.isZero())
        continue;
      if (digit.hasFlips()) {
        BitInverse::Column column{unsigned(number), place, digit.step};
        for (unsigned d = 0; d < flipped.size(); ++d) {
          if (digit.step[d] & digit.flips[d])
            return std::nullopt;
          flipped[d] |= column.bits[d] |= digit.flips[d];
        }
        if (!isPowerOfTwo(place))
          return std::nullopt;
        bits.columns.push_back(column);
        continue;
      }
      if (llvm::count_if(digit.step, [](int64_t step) { return step != 0; }) != 1)
        return std::nullopt;
      unsigned d = llvm::find_if(digit.step, [](int64_t step) { return step != 0; }) - digit.step.begin();
      adding.push_back({unsigned(number), place, digit.extent, digit.step[d], d});
    }
  }
  llvm::SmallVector<std::pair<unsigned, int64_t>, 16> rows;
  for (unsigned d = 0; d < flipped.size(); ++d)
    for (int64_t bit = 1; bit <= flipped[d]; bit <<= 1)
      if (flipped[d] & bit)
        rows.push_back({d, bit});
  llvm::SmallVector<uint64_t> solution;
  if (!bits.solve(rows, solution))
    return std::nullopt;

  Layout result((llvm::ArrayRef<Layout::Output>(outputs)));
  size_t usedAdding = 0;
  for (auto [d, output] : llvm::enumerate(layout.outputs())) {
    int64_t place = 1;
    while (place < output.extent) {
      auto next = llvm::find_if(adding, [&, d = d](const Adding &a) { return a.output == d && a.step == place; });
      Digit digit{2, Vector(outputs.size(), 0), Vector(outputs.size(), 0)};
      if (next != adding.end()) {
        digit.extent = next->extent;
        digit.step[next->input] = next->place;
        ++usedAdding;
      } else {
        auto row = llvm::find(rows, std::pair<unsigned, int64_t>(d, place));
        if (row == rows.end())
          return std::nullopt;
        for (size_t c = 0; c < bits.columns.size(); ++c)
          if (solution[row - rows.begin()] >> c & 1)
            digit.flips[bits.columns[c].input] |= bits.columns[c].place;
      }
      place *= digit.extent;
      result.add(output.axis, digit);
    }
    if (place != output.extent)
      return std::nullopt;
  }
  if (usedAdding != adding.size() ||
      llvm::any_of(rows, [&](auto row) { return row.second >= layout.outputs()[row.first].extent; }))
    return std::nullopt;
  return result.canonical();
}

Layout product(const Layout &inner, const Layout &outer) {
  assert(inner.outputs().size() == outer.outputs().size());
  llvm::SmallVector<Layout::Output, 2> outputs;
  for (auto [a, b] : llvm::zip(inner.outputs(), outer.outputs())) {
    assert(a.axis == b.axis && "products are over the same axes");
    outputs.push_back({a.axis, a.extent * b.extent});
  }
  Layout result((llvm::ArrayRef<Layout::Output>(outputs)));
  for (const Layout::Input &input : inner.inputs())
    for (const Digit &digit : input.digits)
      result.add(input.axis, digit);
  for (const Layout::Input &input : outer.inputs())
    for (Digit digit : input.digits) {
      for (unsigned d = 0; d < outputs.size(); ++d) {
        int64_t extent = inner.outputs()[d].extent;
        assert((!digit.flips[d] || isPowerOfTwo(extent)) && "flips of whole tiles whose extent is no power of two");
        digit.step[d] *= extent, digit.flips[d] *= extent;
      }
      result.add(input.axis, digit);
    }
  return result.canonical();
}

std::optional<Layout> divide(const Layout &layout, const Layout &inner) {
  Layout whole = layout.canonical(), part = inner.canonical();
  if (whole.outputs().size() != part.outputs().size())
    return std::nullopt;
  llvm::SmallVector<Layout::Output, 2> outputs;
  for (auto [a, b] : llvm::zip(whole.outputs(), part.outputs())) {
    if (a.axis != b.axis || a.extent % b.extent)
      return std::nullopt;
    outputs.push_back({a.axis, a.extent / b.extent});
  }
  Layout result((llvm::ArrayRef<Layout::Output>(outputs)));
  for (const Layout::Input &input : part.inputs())
    if (whole.digits(input.axis).empty())
      return std::nullopt;
  for (const Layout::Input &input : whole.inputs()) {
    llvm::SmallVector<Digit, 4> rest(input.digits);
    size_t at = 0;
    for (const Digit &digit : part.digits(input.axis)) {
      if (at == rest.size() || rest[at].step != digit.step || rest[at].flips != digit.flips || rest[at].extent % digit.extent)
        return std::nullopt;
      rest[at].extent /= digit.extent;
      for (int64_t &step : rest[at].step)
        step *= digit.extent;
      if (rest[at].extent == 1)
        ++at;
    }
    for (; at < rest.size(); ++at) {
      for (unsigned d = 0; d < outputs.size(); ++d) {
        int64_t extent = part.outputs()[d].extent;
        if (rest[at].step[d] % extent || rest[at].flips[d] % extent || (rest[at].flips[d] && !isPowerOfTwo(extent)))
          return std::nullopt;
        rest[at].step[d] /= extent, rest[at].flips[d] /= extent;
      }
      result.add(input.axis, rest[at]);
    }
  }
  return result.canonical();
}

} // namespace tilery::layout
