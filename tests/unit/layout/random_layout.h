#pragma once
// Random layouts, and all places of a layout.
#include "compiler/layout/layout.h"
#include <algorithm>
#include <functional>
#include <random>

namespace tilery::layout {

/// Calls body for each place of the axes given.
inline void forEachPlace(const Layout &layout, const std::function<void(llvm::ArrayRef<Layout::Place>)> &body) {
  llvm::SmallVector<Layout::Place, 4> place;
  for (const Layout::Input &input : layout.inputs())
    place.push_back({input.axis, 0});
  for (;;) {
    body(place);
    size_t i = 0;
    while (i < place.size() && ++place[i].second == layout.extent(place[i].first))
      place[i++].second = 0;
    if (i == place.size())
      return;
  }
}

inline std::vector<Layout::Place> named(llvm::ArrayRef<Layout::Output> outputs, const Layout::Vector &numbers) {
  std::vector<Layout::Place> result;
  for (size_t d = 0; d < outputs.size(); ++d)
    result.push_back({outputs[d].axis, numbers[d]});
  return result;
}

class RandomLayouts {
public:
  explicit RandomLayouts(unsigned seed) : random(seed) {}
  int64_t upTo(int64_t n) { return std::uniform_int_distribution<int64_t>(0, n)(random); }

  std::vector<Layout::Output> tile() {
    static const int64_t odd[] = {1, 1, 3, 5};
    std::vector<Layout::Output> outputs{{dim(0), (int64_t(1) << upTo(4)) * odd[upTo(3)]}};
    if (upTo(2))
      outputs.push_back({dim(1), (int64_t(1) << upTo(3)) * odd[upTo(3)]});
    return outputs;
  }

  /// Each element of the tile at one place of `axes`; bits are mixed by a random invertible matrix if `mixed`.
  Layout bijection(const std::vector<Layout::Output> &outputs, llvm::ArrayRef<Axis> axes, bool mixed) {
    Layout result((llvm::ArrayRef<Layout::Output>(outputs)));
    size_t rank = outputs.size();
    std::vector<Layout::Vector> bits;
    std::vector<Layout::Digit> odd;
    for (size_t d = 0; d < rank; ++d) {
      int64_t step = 1;
      for (; outputs[d].extent / step % 2 == 0; step *= 2) {
        Layout::Vector v(rank, 0);
        v[d] = step;
        bits.push_back(v);
      }
      if (int64_t rest = outputs[d].extent / step; rest > 1) {
        Layout::Vector v(rank, 0);
        v[d] = step;
        odd.push_back({rest, v, Layout::Vector(rank, 0)});
      }
    }
    if (mixed && bits.size() > 1)
      for (int i = 0; i < 8; ++i) {
        size_t a = upTo(bits.size() - 1), b = upTo(bits.size() - 1);
        if (a != b)
          for (size_t d = 0; d < rank; ++d)
            bits[a][d] ^= bits[b][d];
      }
    std::vector<Layout::Digit> digits;
    for (const Layout::Vector &v : bits)
      digits.push_back({2, Layout::Vector(rank, 0), v});
    std::shuffle(digits.begin(), digits.end(), random);
    if (upTo(1)) { // not only above the bits
      digits.insert(digits.end(), odd.begin(), odd.end());
    } else if (!mixed) {
      digits.insert(digits.begin(), odd.begin(), odd.end());
      std::shuffle(digits.begin(), digits.end(), random);
    } else {
      digits.insert(digits.end(), odd.begin(), odd.end());
    }
    for (Layout::Digit &digit : digits)
      result.add(axes[upTo(axes.size() - 1)], digit);
    return result;
  }

  /// Any digits at all, below the extents.
  Layout any(const std::vector<Layout::Output> &outputs, llvm::ArrayRef<Axis> axes) {
    Layout result((llvm::ArrayRef<Layout::Output>(outputs)));
    static const int64_t extents[] = {2, 2, 3, 4};
    for (int64_t i = 0, n = upTo(4); i < n; ++i) {
      Layout::Digit digit{extents[upTo(3)], Layout::Vector(outputs.size(), 0), Layout::Vector(outputs.size(), 0)};
      for (size_t d = 0; d < outputs.size(); ++d)
        digit.step[d] = upTo(2) ? upTo((outputs[d].extent - 1) / digit.extent) : 0;
      if (digit.extent == 2 && upTo(1))
        std::swap(digit.step, digit.flips);
      result.add(axes[upTo(axes.size() - 1)], digit);
    }
    return result;
  }

  std::mt19937 random;
};

} // namespace tilery::layout
