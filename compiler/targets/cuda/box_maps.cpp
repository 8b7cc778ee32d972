#include "compiler/targets/cuda/box_maps.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
/// The polynomial as the host computes it.
PolynomialInfo hostPolynomial(const IndexPolynomial &p) {
  PolynomialInfo result;
  for (auto &[monomial, coefficient] : p.terms()) {
    PolynomialInfo::Term &term = result.terms.emplace_back(PolynomialInfo::Term{coefficient, {}});
    for (Value atom : monomial) {
      auto count = atom.getDefiningOp<tile::NumProgramsOp>();
      term.factors.push_back(count ? PolynomialInfo::gridExtent + count.getAxis() : cast<BlockArgument>(atom).getArgNumber());
    }
  }
  return result;
}
} // namespace

void describeBox(const Box &box, ArrayRef<unsigned> sizes, DType dtype, GpuInfo &kernel) {
  TensorMapInfo &info = kernel.maps.emplace_back();
  info.slot = cast<BlockArgument>(box.base).getArgNumber();
  info.dtype = dtype;
  info.offset = hostPolynomial(box.offset);
  for (auto [d, dimension] : llvm::enumerate(box.dimensions))
    info.dimensions.push_back(
        {hostPolynomial(dimension.extent), hostPolynomial(dimension.stride), d < sizes.size() ? sizes[d] : 1});
  info.swizzle = sizes[0] * byteWidth(dtype);
  for (const block::BoxCondition &condition : box.conditions) {
    ConditionInfo needed{hostPolynomial(condition.value), uint64_t(condition.divisor)};
    if (!llvm::is_contained(kernel.conditions, needed))
      kernel.conditions.push_back(std::move(needed));
  }
}

} // namespace tilery::cuda
