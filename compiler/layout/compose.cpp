// Composition of layouts.
#include "compiler/layout/layout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tilery::layout {
namespace {
using Digit = Layout::Digit;
using Vector = Layout::Vector;

/// A digit and what a 1 in it is worth in the number of its axis.
struct Placed : Digit {
  int64_t place;
  Vector moved; // steps that have become flips
};
using PlacedDigits = llvm::SmallVector<Placed, 8>;

bool isPowerOfTwo(int64_t x) { return llvm::isPowerOf2_64(uint64_t(x)); }

PlacedDigits placed(llvm::ArrayRef<Digit> digits) {
  PlacedDigits result;
  int64_t place = 1;
  for (const Digit &digit : digits) {
    result.push_back(Placed{digit, place, Vector(digit.step.size(), 0)});
    place *= digit.extent;
  }
  return result;
}

/// Makes each bit of `flipped` a digit of its own that flips and does not add. False if one is only part of a digit.
bool exposeBits(PlacedDigits &digits, int64_t flipped) {
  PlacedDigits result;
  for (Placed digit : digits) {
    auto movesBits = [&] { // of what is left of the digit
      for (int64_t bit = llvm::PowerOf2Ceil(digit.place); bit < digit.place * digit.extent; bit *= 2)
        if (flipped & bit)
          return true;
      return false;
    };
    while (movesBits()) {
      if (!isPowerOfTwo(digit.place) || digit.extent % 2)
        return false;
      Placed low = digit;
      low.extent = 2;
      if (flipped & digit.place)
        for (unsigned d = 0; d < low.step.size(); ++d) {
          if (low.step[d] & low.flips[d])
            return false;
          low.flips[d] |= low.moved[d] = low.step[d];
          low.step[d] = 0;
        }
      result.push_back(low);
      digit.extent /= 2;
      digit.place *= 2;
      for (unsigned d = 0; d < digit.step.size(); ++d)
        digit.step[d] *= 2, digit.flips[d] = 0;
    }
    if (digit.extent > 1)
      result.push_back(digit);
  }
  digits = std::move(result);
  return true;
}

/// Composition of canonical layouts: g(f(x)).
class Composition {
public:
  Composition(const Layout &g, const Layout &f) : g(g), f(f), result(g.outputs()) {}

  std::optional<Layout> run() {
    if (!prepare())
      return std::nullopt;
    for (const Layout::Input &input : f.inputs())
      for (const Digit &digit : input.digits)
        if (!addImage(input.axis, digit))
          return std::nullopt;
    for (size_t d = 0; d < middle.size(); ++d)
      for (size_t i = 0; i < middle[d].size(); ++i)
        if (used[d][i] > (isFlipped(d, i) ? 0 : middle[d][i].extent - 1))
          return std::nullopt; // it would carry
    return result.canonical();
  }

private:
  bool isFlipped(size_t d, size_t i) const { return (flipped[d] & middle[d][i].place) && middle[d][i].extent == 2; }

  bool prepare() {
    flipped.assign(f.outputs().size(), 0);
    for (const Layout::Input &input : f.inputs())
      for (const Digit &digit : input.digits)
        for (size_t d = 0; d < flipped.size(); ++d)
          flipped[d] |= digit.flips[d];
    Vector flips(g.outputs().size(), 0);
    for (const Layout::Input &input : g.inputs())
      for (const Digit &digit : input.digits)
        for (size_t o = 0; o < flips.size(); ++o)
          flips[o] |= digit.flips[o];
    for (size_t d = 0; d < flipped.size(); ++d) {
      PlacedDigits digits = placed(g.digits(f.outputs()[d].axis));
      int64_t extent = digits.empty() ? 1 : digits.back().place * digits.back().extent;
      if (flipped[d] >= extent || !exposeBits(digits, flipped[d]))
        return false;
      for (const Placed &digit : digits) // a sum is an exclusive or only where no bit meets another
        for (size_t o = 0; o < flips.size(); ++o) {
          if (digit.moved[o] & flips[o])
            return false;
          flips[o] |= digit.moved[o];
        }
      used.emplace_back(digits.size(), 0);
      middle.push_back(std::move(digits));
    }
    return true;
  }

  /// Adds what becomes of a digit of f. A digit that walks over the end of one of g's is split there.
  bool addImage(Axis axis, Digit digit) {
    while (digit.extent > 1) {
      int64_t extent = digit.extent;
      Digit image{0, Vector(g.outputs().size(), 0), Vector(g.outputs().size(), 0)};
      for (size_t d = 0; d < middle.size(); ++d) {
        int64_t rest = digit.step[d];
        for (const Placed &at : middle[d]) {
          int64_t count = rest % at.extent;
          rest /= at.extent;
          if ((extent - 1) * count >= at.extent) {
            if (at.extent % count)
              return false;
            extent = std::min(extent, at.extent / count);
          }
          for (size_t o = 0; o < image.step.size(); ++o) {
            image.step[o] += count * at.step[o];
            image.flips[o] ^= count % 2 ? at.flips[o] : 0;
          }
        }
        if (rest)
          return false; // beyond g
        for (size_t i = 0; i < middle[d].size(); ++i)
          if (digit.flips[d] & (isFlipped(d, i) ? middle[d][i].place : 0))
            for (size_t o = 0; o < image.step.size(); ++o)
              image.flips[o] ^= middle[d][i].flips[o];
      }
      if (extent < 2 || digit.extent % extent)
        return false;
      for (size_t d = 0; d < middle.size(); ++d) {
        int64_t rest = digit.step[d];
        for (size_t i = 0; i < middle[d].size(); ++i) {
          used[d][i] += (extent - 1) * (rest % middle[d][i].extent);
          rest /= middle[d][i].extent;
        }
      }
      image.extent = extent;
      if (extent > 2 && image.hasFlips())
        return false;
      result.add(axis, image);
      digit.extent /= extent;
      for (size_t d = 0; d < digit.step.size(); ++d)
        digit.step[d] *= extent, digit.flips[d] = 0;
    }
    return true;
  }

  const Layout &g, &f;
  Layout result;
  llvm::SmallVector<PlacedDigits, 2> middle;                // g's digits, for each output of f
  llvm::SmallVector<llvm::SmallVector<int64_t, 8>, 2> used; // the largest number that the digit gets
  Vector flipped;                                           // bits of f's outputs that several of its digits flip
};
} // namespace

std::optional<Layout> compose(const Layout &outer, const Layout &inner) {
  Layout g = outer.canonical(), f = inner.canonical();
  return Composition(g, f).run();
}

} // namespace tilery::layout
