#include "compiler/block/forms/memory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <cassert>

namespace tilery::layout {

Layout copyBox(int64_t outer, int64_t inner, unsigned elementBytes, Swizzle swizzle) {
  int64_t chunk = 16 / elementBytes, row = int64_t(swizzle) / elementBytes;
  assert((swizzle == Swizzle::None || inner == row) && "a swizzled box is as wide as the swizzle");
  Layout result({{dim(0), outer}, {dim(1), inner}});
  if (swizzle == Swizzle::None)
    return result.add(Offset, inner, {0, 1}).add(Offset, outer, {1, 0});
  result.add(Offset, chunk, {0, 1});
  for (int64_t bit = chunk; bit < row; bit *= 2)
    result.flip(Offset, {0, bit});
  // Bits 4.. of the address are flipped by bits 7.. of it, which are row bits where a row is shorter than 128 bytes, too.
  int64_t rows = 128 / int64_t(swizzle);
  result.add(Offset, rows, {1, 0});
  for (int64_t bit = chunk; bit < row; bit *= 2, rows *= 2)
    result.flip(Offset, {rows, bit});
  assert(outer % rows == 0 && "whole groups of rows");
  return result.add(Offset, outer / rows, {rows, 0});
}

Layout copyBoxes(int64_t outer, int64_t inner, unsigned elementBytes, Swizzle swizzle) {
  int64_t row = swizzle == Swizzle::None ? inner : std::min<int64_t>(inner, int64_t(swizzle) / elementBytes);
  Layout box = copyBox(outer, row, elementBytes, swizzle);
  return product(box, Layout({{dim(0), 1}, {dim(1), inner / row}}).add(Offset, inner / row, {0, 1}));
}

std::optional<Swizzle> swizzleOf(const Layout &memory, unsigned elementBytes) {
  if (memory.outputs().size() != 2)
    return std::nullopt;
  int64_t outer = memory.outputs()[0].extent, inner = memory.outputs()[1].extent;
  for (Swizzle swizzle : {Swizzle::B128, Swizzle::B64, Swizzle::B32, Swizzle::None}) {
    bool fits = swizzle == Swizzle::None || (inner * elementBytes % int64_t(swizzle) == 0 && outer % 8 == 0);
    if (fits && memory == copyBoxes(outer, inner, elementBytes, swizzle))
      return swizzle;
  }
  return std::nullopt;
}

uint64_t MatrixDescriptor::bits() const {
  uint64_t mode = swizzle == Swizzle::B128 ? 1 : swizzle == Swizzle::B64 ? 2 : swizzle == Swizzle::B32 ? 3 : 0;
  return mode << 62 | uint64_t(stride / 16) << 32 | uint64_t(leading / 16) << 16;
}

std::optional<MatrixDescriptor> matrixDescriptor(const Layout &memory, unsigned elementBytes) {
  if (memory.outputs().size() != 2)
    return std::nullopt;
  int64_t k = memory.outputs()[1].extent;
  if (std::optional<Swizzle> swizzle = swizzleOf(memory, elementBytes); swizzle && *swizzle != Swizzle::None) {
    if (k * elementBytes == int64_t(*swizzle)) // one block of k
      return MatrixDescriptor{true, *swizzle, 16, 8 * unsigned(*swizzle), 32};
    return std::nullopt;
  }
  std::optional<Swizzle> swizzle = swizzleOf(memory.transposed(), elementBytes);
  if (!swizzle || *swizzle == Swizzle::None || elementBytes != 2) // only 16-bit elements are read across k
    return std::nullopt;
  unsigned row = unsigned(*swizzle);
  return MatrixDescriptor{false, *swizzle, unsigned(k) * row, 8 * row, 16 * row};
}

int64_t contiguous(const Layout &memory, Axis axis) {
  Layout m = memory.canonical();
  llvm::ArrayRef<Layout::Digit> digits = m.digits(axis);
  if (digits.empty() || digits[0].hasFlips() || digits[0].step[0] != 1)
    return 1;
  int64_t run = digits[0].extent & -digits[0].extent;
  for (const Layout::Input &input : m.inputs())
    for (const Layout::Digit &digit : input.digits)
      if (&digit != &digits[0] || digit.extent != run)
        for (int64_t number : {&digit == &digits[0] ? run : digit.step[0], digit.flips[0]})
          if (number)
            run = std::min(run, number & -number);
  return run;
}

unsigned widestVector(const Layout &access, unsigned elementBytes, unsigned maxBytes) {
  return std::min<int64_t>(contiguous(access, Register), maxBytes / elementBytes);
}

BankUse bankUse(const Layout &access, unsigned bytes) {
  unsigned words = std::max(1u, bytes / 4), lanes = 32 / words; // that one pass can serve
  BankUse use{0, 0};
  int64_t all = std::min<int64_t>(32, access.extent(Lane));
  for (int64_t first = 0; first < all; first += lanes) {
    std::array<llvm::SmallVector<int64_t, 4>, 32> banks;
    for (int64_t lane = first; lane < std::min<int64_t>(all, first + lanes); ++lane)
      for (unsigned w = 0; w < words; ++w) {
        int64_t word = access.at({{Lane, lane}})[0] / 4 + w;
        if (!llvm::is_contained(banks[word % 32], word)) // one word serves all lanes
          banks[word % 32].push_back(word);
      }
    size_t most = 0;
    for (const auto &bank : banks)
      most = std::max(most, bank.size());
    use.passes += most;
    ++use.least;
  }
  return use;
}

} // namespace tilery::layout
