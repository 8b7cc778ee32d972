// What the copy engine stores: the boxes of a result.
#include "compiler/analysis/divisor.h"
#include "compiler/analysis/sign.h"
#include "compiler/block/recognise/find_boxes.h"
#include "compiler/block/recognise/find_kernel.h"
#include "compiler/block/recognise/map_boxes.h"

using namespace mlir;

namespace tilery::block {
using analysis::IndexPolynomial;

/// Rows begin at multiples of `whole` elements, if a launch keeps what is asked of it.
static bool beginsWhole(Box &box, int64_t whole) {
  for (const auto &[monomial, coefficient] : box.dimensions[0].start.terms()) {
    if (analysis::divisorOf(IndexPolynomial::term(monomial, coefficient)) % whole == 0)
      continue;
    IndexPolynomial::Monomial known;
    llvm::copy_if(monomial, std::back_inserter(known),
                  [](Value atom) { return analysis::hostKnows(IndexPolynomial::Monomial{atom}); });
    if (known.empty())
      return false;
    box.conditions.push_back({IndexPolynomial::term(known, coefficient), whole});
  }
  return true;
}

static std::optional<MappedTile> mapStored(const StoredTile &tileStored, unsigned m, unsigned n, bool mayMake, std::string &why) {
  auto no = [&](const char *reason) -> std::optional<MappedTile> {
    why = reason;
    return std::nullopt;
  };
  auto stored = dyn_cast<RankedTensorType>(tileStored.value.getType());
  SmallVector<int> numbers = stored ? sameButOnes(stored.getShape(), {m, n}) : SmallVector<int>();
  if (numbers.empty())
    return no("it has not the product's shape");
  auto place = tileStored.place.getDefiningOp<tile::AccessOp>();
  if (!place)
    return no("its addresses have no order");
  unsigned bytes = stored.getElementType().isIntOrFloat() ? stored.getElementType().getIntOrFloatBitWidth() / 8 : 0;
  if (!(bytes == 2 || bytes == 4) || n % (128 / bytes))
    return no("its rows are no multiples of 128 bytes of 2 or 4 an element");
  if (tileStored.adds && !stored.getElementType().isF32())
    return no("the copy engine adds f32 alone, here");
  std::optional<Box> box = findBox(place, why, {}, {mayMake ? tileStored.op : nullptr, promisedOf(tileStored.op), true});
  if (!box)
    return std::nullopt;
  // A window behind the tile's first lane: boxes of it that lie in front of the tensor are an illegal instruction (measured on an H200).
  for (const BoxDimension &dimension : box->dimensions)
    if (auto own = dimension.start.terms().find({});
        dimension.mayBeNegative && own != dimension.start.terms().end() && own->second < 0)
      return no("its tile begins in front of its lanes");
  box->renumber(numbers);
  if (box->dimensions[0].tile != 1)
    return no("the elements of its rows are no neighbours in memory");
  // The copy engine writes 16 bytes or none: what lies behind rows that end between would be overwritten (measured on an H200).
  const IndexPolynomial &columns = box->dimensions[0].extent;
  int64_t whole = 16 / bytes;
  if (columns.constant().value_or(0) % whole)
    return no("its rows end between multiples of 16 bytes");
  if (analysis::divisorOf(columns) % whole)
    (analysis::hostKnows(columns) ? box->conditions : box->guards).push_back({columns, whole});
  // Boxes that begin between, too, are an illegal instruction (measured on an H200).
  if (!beginsWhole(*box, whole))
    return no("its rows begin between multiples of 16 bytes");
  std::optional<MappedTile> tile = coverBox(*box, {64, 128 / bytes}, stored.getElementType());
  return tile ? tile : no("boxes of the copy engine do not cover it");
}

std::optional<MappedTile> mapStored(const StoredTile &stored, unsigned m, unsigned n, std::string &why) {
  return mapStored(stored, m, n, stored.op->hasAttr("block.device_map"), why);
}

std::optional<MappedTile> mapStored(const StoredTile &stored, const BoxProduct &product, std::string &why) {
  if (!product.swapped)
    return mapStored(stored, product.m, product.n, !stored.adds, why);
  auto type = dyn_cast<RankedTensorType>(stored.value.getType());
  if (product.inRegisters() && product.n % 64 == 0 && type && tile::elementBytes(type.getElementType()) == 2)
    return mapStored(stored, product.n, product.m, !stored.adds, why);
  why = "its columns lie in registers where other products' rows do";
  return std::nullopt;
}

} // namespace tilery::block
