#include "compiler/layout/registers.h"

namespace tilery::layout {

llvm::SmallVector<int64_t, 4> coordinatesOf(const Layout &layout, unsigned number, int64_t lane, int64_t warp) {
  auto at = layout.at({{Register, number}, {Lane, lane % layout.extent(Lane)}, {Warp, warp % layout.extent(Warp)}});
  return llvm::SmallVector<int64_t, 4>(at.begin(), at.end());
}

Layout neighboursFirst(const Layout &layout, unsigned dimension) {
  Layout canonical = layout.canonical();
  auto isNeighbours = [&](const Layout::Digit &digit) {
    for (auto [d, step] : llvm::enumerate(digit.step))
      if (step != (d == dimension))
        return false;
    return !digit.hasFlips();
  };
  auto digits = canonical.digits(Register);
  const auto *first = llvm::find_if(digits, isNeighbours);
  if (first == digits.end() || first == digits.begin())
    return layout;
  Layout result(canonical.outputs());
  result.add(Register, *first);
  for (const Layout::Input &input : canonical.inputs())
    for (const Layout::Digit &digit : input.digits)
      if (&digit != first)
        result.add(input.axis, digit);
  return result;
}

} // namespace tilery::layout
