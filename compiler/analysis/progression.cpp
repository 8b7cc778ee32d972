#include "compiler/analysis/progression.h"
#include <cmath>

using namespace mlir;
using namespace tilery::analysis;

namespace {

Attribute numberOf(Attribute attribute) {
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute))
    return dense.isSplat() ? dense.getSplatValue<Attribute>() : Attribute();
  return isa<IntegerAttr, FloatAttr>(attribute) ? attribute : Attribute();
}

std::optional<Progression> ofIntegers(ArrayRef<Attribute> numbers) {
  auto at = [&](size_t i) { return cast<IntegerAttr>(numbers[i]).getValue(); };
  if (at(0).getBitWidth() == 1)
    return std::nullopt;
  Progression found{Progression::integers, at(0), at(1) - at(0)};
  for (size_t i = 2; i < numbers.size(); ++i)
    if (at(i) - at(i - 1) != found.step)
      return std::nullopt;
  return found;
}

std::optional<Progression> ofFloats(ArrayRef<Attribute> numbers) {
  auto at = [&](size_t i) { return cast<FloatAttr>(numbers[i]).getValue(); };
  Type type = cast<FloatAttr>(numbers[0]).getType();
  if (type.getIntOrFloatBitWidth() < 16)
    return std::nullopt;
  SmallVector<Attribute> whole;
  Type i32 = IntegerType::get(numbers[0].getContext(), 32);
  for (size_t i = 0; i < numbers.size(); ++i) {
    APSInt integer(32, false);
    bool exact = false;
    if (at(i).convertToInteger(integer, APFloat::rmTowardZero, &exact) == APFloat::opOK && exact && !at(i).isNegZero())
      whole.push_back(IntegerAttr::get(i32, integer));
  }
  if (whole.size() == numbers.size()) {
    std::optional<Progression> found = ofIntegers(whole);
    if (found)
      found->kind = Progression::whole_floats;
    return found;
  }
  if (!type.isF32())
    return std::nullopt;
  // The bits of each have to come out whether or not the product and the sum are rounded between.
  float first = at(0).convertToFloat(), last = at(numbers.size() - 1).convertToFloat();
  Progression found;
  found.kind = Progression::rounded;
  found.first = first;
  found.by = (double(last) - first) / (numbers.size() - 1);
  for (size_t i = 0; i < numbers.size(); ++i) {
    float rounded = float(found.first + double(i) * found.by), fused = float(std::fma(double(i), found.by, found.first));
    if (!APFloat(rounded).bitwiseIsEqual(at(i)) || !APFloat(fused).bitwiseIsEqual(at(i)))
      return std::nullopt;
  }
  return found;
}

} // namespace

std::optional<Progression> tilery::analysis::progressionOf(ArrayRef<Attribute> values) {
  if (llvm::all_equal(values))
    return Progression();
  SmallVector<Attribute> numbers = llvm::map_to_vector(values, numberOf);
  std::optional<Progression> found;
  if (llvm::all_of(numbers, llvm::IsaAndPresentPred<IntegerAttr>))
    found = ofIntegers(numbers);
  else if (llvm::all_of(numbers, llvm::IsaAndPresentPred<FloatAttr>))
    found = ofFloats(numbers);
  else
    return std::nullopt;
  if (!found) {
    found.emplace().kind = Progression::listed;
    found->numbers = llvm::map_to_vector(numbers, llvm::CastTo<TypedAttr>);
  }
  return found;
}
