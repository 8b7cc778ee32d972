// Layouts of tiles that lose, gain or exchange dimensions.
#include "compiler/layout/layout.h"

namespace tilery::layout {

/// The same places; each vector of steps and flips, and the list of outputs, by `change`, which works on a list of any type.
template <typename F> static Layout withOutputs(const Layout &layout, F change) {
  llvm::SmallVector<Layout::Output, 2> outputs(layout.outputs());
  change(outputs);
  for (unsigned d = 0; d < outputs.size(); ++d)
    outputs[d].axis = dim(d);
  Layout result((llvm::ArrayRef<Layout::Output>(outputs)));
  for (const Layout::Input &input : layout.inputs())
    for (Layout::Digit digit : input.digits) {
      change(digit.step), change(digit.flips);
      if (input.axis != Register || !digit.isZero())
        result.add(input.axis, digit);
    }
  return result.canonical();
}

Layout slice(const Layout &layout, unsigned d) {
  return withOutputs(layout, [d](auto &list) { list.erase(list.begin() + d); });
}

Layout expanded(const Layout &layout, unsigned d) {
  struct Insert {
    unsigned d;
    void operator()(Layout::Vector &list) const { list.insert(list.begin() + d, 0); }
    void operator()(llvm::SmallVector<Layout::Output, 2> &list) const { list.insert(list.begin() + d, {dim(d), 1}); }
  };
  return withOutputs(layout, Insert{d});
}

Layout permuted(const Layout &layout, llvm::ArrayRef<int64_t> order) {
  return withOutputs(layout, [order](auto &list) {
    auto before = list;
    for (size_t i = 0; i < order.size(); ++i)
      list[i] = before[order[i]];
  });
}

std::optional<Layout> reshaped(const Layout &layout, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<Layout::Output, 2> outputs;
  for (unsigned d = 0; d < shape.size(); ++d)
    outputs.push_back({dim(d), shape[d]});
  Layout result((llvm::ArrayRef<Layout::Output>(outputs)));
  llvm::SmallVector<int64_t, 4> most(shape.size(), 0); // that coordinates come to
  for (const Layout::Input &input : layout.inputs())
    for (const Layout::Digit &digit : input.digits) {
      if (digit.hasFlips())
        return std::nullopt;
      int64_t step = 0, left = digit.extent; // of the row-major number
      for (unsigned d = 0; d < layout.outputs().size(); ++d)
        step = step * layout.outputs()[d].extent + digit.step[d];
      if (step == 0)
        result.add(input.axis, left, Layout::Vector(shape.size(), 0));
      int64_t pitch = 1; // of dimension d
      for (unsigned d = shape.size(); step && d-- > 0 && left > 1; pitch *= shape[d]) {
        if (step >= pitch * shape[d])
          continue;
        if (step % pitch)
          return std::nullopt;
        Layout::Vector own(shape.size(), 0);
        own[d] = step / pitch;
        int64_t inside = std::min<int64_t>(left, (shape[d] + own[d] - 1) / own[d]);
        if (left % inside || (inside < left && shape[d] % own[d]))
          return std::nullopt;
        result.add(input.axis, inside, own);
        most[d] += (inside - 1) * own[d];
        left /= inside;
        step *= inside;
      }
      if (step && left > 1)
        return std::nullopt;
    }
  for (unsigned d = 0; d < shape.size(); ++d)
    if (most[d] >= shape[d])
      return std::nullopt;
  return result.canonical();
}

std::optional<Layout> piece(const Layout &layout, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<Layout::Output, 2> outputs(layout.outputs());
  for (unsigned d = 0; d < outputs.size(); ++d)
    outputs[d].extent = shape[d];
  Layout result((llvm::ArrayRef<Layout::Output>(outputs))), canonical = layout.canonical();
  for (const Layout::Input &input : canonical.inputs())
    for (Layout::Digit digit : input.digits) {
      int64_t kept = digit.extent; // of its places, those that stay within a piece
      for (unsigned d = 0; d < shape.size(); ++d) {
        if (digit.flips[d] >= shape[d])
          return std::nullopt;
        if (digit.step[d] && digit.step[d] * (digit.extent - 1) >= shape[d])
          kept = std::min(kept, std::max<int64_t>(1, shape[d] / digit.step[d]));
      }
      if (digit.extent % kept || (kept < digit.extent && input.axis != Register))
        return std::nullopt;
      digit.extent = kept;
      if (kept > 1)
        result.add(input.axis, digit);
    }
  return result.canonical();
}

} // namespace tilery::layout
