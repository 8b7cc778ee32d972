#include "compiler/targets/cuda/box_maps.h"
#include "compiler/analysis/index_polynomial.h"
#include "compiler/ir/dtype_of.h"

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

static PolynomialInfo hostNumber(Value value) {
  return hostPolynomial(analysis::polynomialOf(value, analysis::Wrapping::address));
}

void describeMap(block::MapOp map, GpuInfo &kernel) {
  TensorMapInfo &info = kernel.maps.emplace_back();
  block::MapType type = map.getType();
  // The base's polynomial: the pointer, and what is added to it.
  Value pointer = map.getBase();
  while (auto cast = pointer.getDefiningOp<tile::PtrCastOp>()) // to elements of the same size
    pointer = cast.getPtr();
  IndexPolynomial base = analysis::polynomialOf(pointer, analysis::Wrapping::address), offset;
  for (auto &[monomial, coefficient] : base.terms()) {
    bool isPointer = monomial.size() == 1 && isa<tile::PtrType>(monomial.front().getType());
    if (isPointer)
      info.slot = cast<BlockArgument>(monomial.front()).getArgNumber();
  }
  offset = base.where([](auto &monomial) { return monomial.size() != 1 || !isa<tile::PtrType>(monomial.front().getType()); });
  info.offset = hostPolynomial(offset);
  info.dtype = *dtypeOf(type.getElementType());
  for (int d = int(type.getRank()) - 1; d >= 0; --d) {
    PolynomialInfo stride = d + 1 == type.getRank() ? PolynomialInfo(1) : hostNumber(map.getStrides()[d]);
    info.dimensions.push_back({hostNumber(map.getExtents()[d]), std::move(stride), uint32_t(type.getBox()[d])});
  }
  info.swizzle = type.getSwizzle() == 16 ? 0 : type.getSwizzle();
}

void describeCondition(block::RequireOp require, GpuInfo &kernel) {
  ConditionInfo needed{hostNumber(require.getNumber()), uint64_t(require.getDivisor().value_or(0))};
  if (!llvm::is_contained(kernel.conditions, needed))
    kernel.conditions.push_back(std::move(needed));
}

} // namespace tilery::cuda
