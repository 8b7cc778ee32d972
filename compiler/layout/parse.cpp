// The text form of layouts.
#include "compiler/layout/layout.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace tilery::layout {
namespace {

llvm::SmallVector<llvm::StringRef> parts(llvm::StringRef text, char between) {
  llvm::SmallVector<llvm::StringRef> result;
  text.split(result, between); // also empty ones, which are no numbers
  return result;
}

std::optional<Axis> axisOf(llvm::StringRef name) {
  unsigned d;
  if (name.consume_front("dim"))
    return name.getAsInteger(10, d) ? std::nullopt : std::optional(dim(d));
  return llvm::StringSwitch<std::optional<Axis>>(name)
      .Case("register", Register)
      .Case("lane", Lane)
      .Case("warp", Warp)
      .Case("block", Block)
      .Case("offset", Offset)
      .Default(std::nullopt);
}

/// "(1,0)" of `count` numbers, none negative.
std::optional<Layout::Vector> vectorOf(llvm::StringRef text, size_t count) {
  if (!text.consume_front("(") || !text.consume_back(")"))
    return std::nullopt;
  Layout::Vector result;
  for (llvm::StringRef number : parts(text, ','))
    if (number.trim().getAsInteger(10, result.emplace_back()) || result.back() < 0)
      return std::nullopt;
  return result.size() == count ? std::optional(result) : std::nullopt;
}

/// "4*(0,2)" or "2*(1,0)^(0,8)".
std::optional<Layout::Digit> digitOf(llvm::StringRef text, size_t count) {
  auto [extent, vectors] = text.split('*');
  auto [step, flips] = vectors.split('^');
  Layout::Digit digit{0, {}, Layout::Vector(count, 0)};
  std::optional<Layout::Vector> steps = vectorOf(step, count), flipped = digit.flips;
  if (!flips.empty())
    flipped = vectorOf(flips, count);
  if (extent.getAsInteger(10, digit.extent) || digit.extent < 1 || !steps || !flipped)
    return std::nullopt;
  digit.step = *steps, digit.flips = *flipped;
  return digit.extent == 2 || !digit.hasFlips() ? std::optional(digit) : std::nullopt;
}
} // namespace

std::optional<Layout> parse(llvm::StringRef text) {
  auto [places, tile] = text.split("->");
  llvm::SmallVector<Layout::Output, 2> outputs;
  for (llvm::StringRef extent : parts(tile.trim(), 'x'))
    if (extent.getAsInteger(10, outputs.emplace_back(Layout::Output{dim(outputs.size()), 0}).extent) || outputs.back().extent < 1)
      return std::nullopt;
  Layout result((llvm::ArrayRef<Layout::Output>(outputs)));
  for (llvm::StringRef input : parts(places.trim(), ';')) {
    if (input.trim().empty())
      continue;
    auto [name, digits] = input.trim().split(':');
    std::optional<Axis> axis = axisOf(name.trim());
    if (!axis)
      return std::nullopt;
    for (llvm::StringRef part : parts(digits, ' ')) {
      std::optional<Layout::Digit> digit = part.empty() ? std::nullopt : digitOf(part, outputs.size());
      if (digit)
        result.add(*axis, *digit);
      else if (!part.empty())
        return std::nullopt;
    }
  }
  return result;
}

llvm::hash_code hash_value(const Layout &layout) { return llvm::hash_value(layout.canonical().print()); }

} // namespace tilery::layout
