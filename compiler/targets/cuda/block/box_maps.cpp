#include "compiler/targets/cuda/block/box_maps.h"
#include "compiler/ir/dtype_of.h"
#include "compiler/targets/cuda/ptx/host_numbers.h"

using namespace mlir;

namespace tilery::cuda {
using analysis::IndexPolynomial;
namespace {
PolynomialInfo hostNumber(Value value) { return hostPolynomial(analysis::polynomialOf(value, analysis::Wrapping::address)); }
} // namespace

void describeMap(block::MapOp map, GpuInfo &kernel) {
  TensorMapInfo &info = kernel.maps.emplace_back();
  block::MapType type = map.getType();
  Value base = map.getBase();
  while (auto cast = base.getDefiningOp<tile::PtrCastOp>()) // to elements of the same size
    base = cast.getPtr();
  auto isPointer = [](auto &monomial) { return monomial.size() == 1 && isa<tile::PtrType>(monomial.front().getType()); };
  IndexPolynomial place = analysis::polynomialOf(base, analysis::Wrapping::address), pointer = place.where(isPointer);
  info.slot = cast<BlockArgument>(pointer.terms().begin()->first.front()).getArgNumber();
  info.offset = hostPolynomial(place - pointer);
  info.dtype = *dtypeOf(type.getElementType());
  for (int d = int(type.getRank()) - 1; d >= 0; --d) {
    PolynomialInfo stride = d + 1 == type.getRank() ? PolynomialInfo(1) : hostNumber(map.getStrides()[d]);
    info.dimensions.push_back({hostNumber(map.getExtents()[d]), std::move(stride), uint32_t(type.getBox()[d])});
  }
  info.swizzle = type.getSwizzle() == 16 ? 0 : type.getSwizzle();
}

void describeCondition(block::RequireOp require, GpuInfo &kernel) {
  ConditionInfo needed{hostNumber(require.getNumber()), uint64_t(require.getDivisor().value_or(0))};
  addCondition(std::move(needed), kernel.conditions);
}

} // namespace tilery::cuda
