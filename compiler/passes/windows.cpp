#include "compiler/passes/windows.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilery::tile {

bool Window::meets(const Window &other) const {
  for (auto [x, n, y, m] : llvm::zip_equal(offsets, lengths, other.offsets, other.lengths))
    if (x + n <= y || y + m <= x)
      return false;
  return true;
}

std::optional<Window> constantWindow(SubviewOp view) {
  ArrayRef<int64_t> extents = view.getBuffer().getType().getShape();
  Window window{{}, SmallVector<int64_t>(extents.size(), 1)};
  for (auto [dim, size] : llvm::zip_equal(view.getDims(), view.getType().getShape()))
    window.lengths[dim] = size;
  for (auto [offset, extent, length] : llvm::zip_equal(view.getOffsets(), extents, window.lengths)) {
    APInt number;
    if (!matchPattern(offset, m_ConstantInt(&number)) || number.isNegative() || number.getSExtValue() + length > extent)
      return std::nullopt;
    window.offsets.push_back(number.getSExtValue());
  }
  return window;
}

} // namespace tilery::tile
