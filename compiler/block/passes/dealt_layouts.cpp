#include "compiler/block/passes/dealt_layouts.h"
#include "compiler/block/forms/transfer.h"
#include "compiler/block/forms/memory.h"
#include "compiler/block/ir/gpu.h"
#include <numeric>

using namespace mlir;

namespace tilery::block {
using layout::Layout;

static constexpr unsigned widestAccess = 16;

Layout dealt(ArrayRef<int64_t> shape, int64_t width, unsigned warps) {
  SmallVector<Layout::Output, 2> outputs;
  for (auto [d, extent] : llvm::enumerate(shape))
    outputs.push_back({layout::dim(d), extent});
  Layout result(outputs);
  SmallVector<int64_t> taken(shape.size(), 1); // of each dimension
  auto add = [&](layout::Axis axis, unsigned d, int64_t extent) {
    Layout::Vector step(shape.size(), 0);
    step[d] = taken[d];
    taken[d] *= extent;
    if (extent > 1)
      result.add(axis, extent, step);
  };
  unsigned inner = shape.size() - 1;
  add(layout::Register, inner, std::gcd(shape[inner], width));
  for (auto [axis, count] : {std::pair(layout::Lane, int64_t(warpLanes)), std::pair(layout::Warp, int64_t(warps))}) {
    int64_t left = count;
    for (unsigned d = shape.size(); d-- > 0;) {
      int64_t extent = std::gcd(shape[d] / taken[d], left);
      add(axis, d, extent);
      left /= extent;
    }
    if (left > 1)
      result.add(axis, left, Layout::Vector(shape.size(), 0)); // copies
  }
  for (unsigned d = shape.size(); d-- > 0;)
    add(layout::Register, d, shape[d] / taken[d]);
  return result.canonical();
}

int64_t widestOf(unsigned elementBytes) { return widestAccess / std::min(elementBytes, widestAccess); }

Layout dealtToBlocks(ArrayRef<int64_t> shape, unsigned elementBytes, unsigned warps, unsigned blocks) {
  Layout together = dealt(shape, widestOf(elementBytes), warps * blocks), result(together.outputs());
  for (const Layout::Input &input : together.inputs()) {
    int64_t left = warps; // of the digits that are a block's own
    for (Layout::Digit digit : input.digits) {
      int64_t own = input.axis == layout::Warp ? std::gcd(digit.extent, left) : digit.extent;
      Layout::Digit rest = digit;
      digit.extent = own, rest.extent /= own;
      for (int64_t &step : rest.step)
        step *= own;
      if (own > 1)
        result.add(input.axis, digit);
      if (rest.extent > 1)
        result.add(layout::Block, rest);
      if (input.axis == layout::Warp)
        left /= own;
    }
  }
  return result.canonical();
}

/// Rows of a fetched tile: vectors, `lanes` of them side by side in each row; the other lanes have rows that are `spread` apart, and warps
/// those between them and the ones behind.
static Layout dealtLines(ArrayRef<int64_t> shape, const FetchShape &fetch, int64_t spread, int64_t warps) {
  Layout result({{layout::dim(0), shape[0]}, {layout::dim(1), shape[1]}});
  int64_t taken[2] = {1, 1}, left[2] = {warpLanes, warps}; // of each dimension; lanes, warps
  auto add = [&](layout::Axis axis, unsigned d, int64_t most) {
    int64_t extent = std::gcd(most, shape[d] / taken[d]);
    Layout::Vector step{0, 0};
    step[d] = taken[d];
    taken[d] *= extent;
    if (extent > 1)
      result.add(axis, extent, step);
    return extent;
  };
  add(layout::Register, 1, fetch.width);
  add(layout::Register, 0, fetch.across);
  left[0] /= add(layout::Lane, 1, fetch.lanes);
  if (fetch.lanes == 1) // what tells places along the rows is the same for a warp: the less of it the better
    left[1] /= add(layout::Warp, 1, warps);
  left[1] /= add(layout::Warp, 0, std::gcd(spread, left[1]));
  for (unsigned which : {0, 1}) {
    layout::Axis axis = which ? layout::Warp : layout::Lane;
    left[which] /= add(axis, 0, left[which]);
    left[which] /= add(axis, 1, left[which]);
    if (left[which] > 1)
      result.add(axis, left[which], {0, 0}); // copies
  }
  for (unsigned d : {1, 0})
    add(layout::Register, d, shape[d] / taken[d]);
  return result.canonical();
}

Layout fetchLayout(SharedType shared, const FetchShape &fetch, int64_t warps) {
  std::optional<Layout> places = invert(shared.getLayout().getLayout()), best;
  unsigned least = ~0u;
  for (int64_t spread : {1, 2, 4}) {
    Layout each = dealtLines(shared.getShape(), fetch, spread, warps);
    auto transfer = layout::cheapestTransfer(each, *places, tile::elementBytes(shared.getElementType()));
    if (transfer && transfer->passes < least)
      best = each, least = transfer->passes;
  }
  return best ? *best : dealt(shared.getShape(), fetch.width, warps);
}

FetchShape shapeOfCopies(SharedType shared) {
  unsigned width = widestAccess / tile::elementBytes(shared.getElementType());
  return {1, width, std::gcd(warpLanes, unsigned(shared.getShape()[1]) / width), 1};
}

} // namespace tilery::block
