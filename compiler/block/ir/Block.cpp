// Types and attributes: their text, what they ask of their parameters, aliases.
#include "compiler/block/ir/Block.h"
#include "compiler/block/forms/product_form.h"
#include "compiler/block/forms/memory.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::block;

// What the formats of types in BlockTypes.td name.
static ParseResult parseShape(AsmParser &parser, SmallVectorImpl<int64_t> &shape, Type &element) {
  return failure(parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element));
}

static void printShape(AsmPrinter &printer, ArrayRef<int64_t> shape, Type element) {
  for (int64_t size : shape)
    printer << size << "x";
  printer << element;
}

// "128x64xbf16 #layout".
static ParseResult parseTiles(AsmParser &parser, SmallVectorImpl<SharedType> &tiles) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    SmallVector<int64_t> shape;
    Type element;
    Attribute layout;
    if (parseShape(parser, shape, element))
      return failure();
    OptionalParseResult hasLayout = parser.parseOptionalAttribute(layout);
    if (hasLayout.has_value() && (failed(*hasLayout) || !isa<LayoutAttr>(layout)))
      return failure();
    tiles.push_back(parser.getChecked<SharedType>(parser.getContext(), shape, element, dyn_cast_or_null<LayoutAttr>(layout)));
    return success(bool(tiles.back()));
  });
}

static void printTiles(AsmPrinter &printer, ArrayRef<SharedType> tiles) {
  printer << "[";
  llvm::interleaveComma(tiles, printer, [&](SharedType tile) {
    printShape(printer, tile.getShape(), tile.getElementType());
    if (LayoutAttr layout = tile.getLayout())
      printer << " " << layout;
  });
  printer << "]";
}

#include "compiler/block/ir/BlockDialect.cpp.inc"
#include "compiler/block/ir/BlockEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/block/ir/BlockAttributes.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/block/ir/BlockTypes.cpp.inc"

namespace {
/// #acc: sums of a warpgroup; #sw: swizzled memory; #memory, #registers: others.
struct Aliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attribute, raw_ostream &os) const final {
    auto encoding = dyn_cast<LayoutAttr>(attribute);
    if (!encoding)
      return AliasResult::NoAlias;
    const layout::Layout &layout = encoding.getLayout();
    bool swizzled = llvm::any_of(layout.digits(layout::Offset), [](const auto &digit) { return digit.hasFlips(); });
    if (layout.extent(layout::Offset) > 1)
      os << (swizzled ? "sw" : "memory");
    else
      os << (layout.outputs().size() == 2 && divide(layout, layout::warpgroupForm().sums(8, layout::Rows::InOrder))
                 ? "acc"
                 : "registers");
    return AliasResult::OverridableAlias;
  }
};
} // namespace

void BlockDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/block/ir/BlockAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/block/ir/BlockTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/block/ir/BlockOps.cpp.inc"
      >();
  addInterfaces<Aliases>();
}

Attribute BlockDialect::parseAttribute(DialectAsmParser &parser, Type) const {
  StringRef text = parser.getFullSymbolSpec();
  std::optional<layout::Layout> layout;
  if (text.consume_front("layout<") && text.consume_back(">"))
    layout = layout::parse(text);
  if (layout)
    return LayoutAttr::get(getContext(), *layout);
  parser.emitError(parser.getNameLoc(), "expected layout<AXIS: EXTENT*(STEP,...)^(FLIPS,...) ...; ... -> SIZExSIZE...>");
  return {};
}
void BlockDialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  printer << "layout<" << cast<LayoutAttr>(attribute).getLayout().print() << ">";
}

static bool isTile(const layout::Layout &layout, ArrayRef<int64_t> shape) {
  return llvm::equal(layout.outputs(), shape, [](const auto &output, int64_t extent) { return output.extent == extent; });
}
LogicalResult LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type, function_ref<InFlightDiagnostic()> emitError) const {
  if (!isTile(getLayout(), shape))
    return emitError() << "this is no layout of a tile of that shape: " << *this;
  if (getLayout().extent(layout::Offset) > 1)
    return emitError() << "tiles in registers lie in registers, lanes and warps, not at offsets: " << *this;
  return success();
}

// ---- types

LogicalResult MapType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> box, Type element,
                              unsigned swizzle) {
  if (box.empty() || box.size() > 5)
    return emitError() << "the copy engine knows tensors of rank 1 to 5, not " << box.size();
  for (int64_t extent : box)
    if (extent < 1 || extent > 256)
      return emitError() << "a box has 1 to 256 elements a dimension, not " << extent;
  if (!element.isIntOrFloat())
    return emitError() << "the copy engine moves numbers, not " << element;
  if (!llvm::is_contained({16u, 32u, 64u, 128u}, swizzle))
    return emitError() << "swizzles are of 32, 64 or 128 bytes, 16 is none; not " << swizzle;
  int64_t bytes = box.back() * tile::elementBytes(element);
  if (bytes % 16)
    return emitError() << "a row of a box is a multiple of 16 bytes, not " << bytes;
  if (swizzle != 16 && bytes > swizzle)
    return emitError() << "a row of " << bytes << " bytes does not fit the swizzle of " << swizzle;
  return success();
}

LogicalResult SharedType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type element,
                                 LayoutAttr layout) {
  if (shape.empty() || !tile::isTileValue(element))
    return emitError() << "shared memory holds tiles of rank 1 or more of numbers or pointers";
  if (!layout)
    return success();
  if (!isTile(layout.getLayout(), shape))
    return emitError() << "this is no layout of a tile of that shape: " << layout;
  for (const layout::Layout::Input &input : layout.getLayout().inputs())
    if (input.axis != layout::Offset)
      return emitError() << "tiles in shared memory lie at offsets: " << layout;
  return success();
}
int64_t SharedType::getBytes() const {
  int64_t elements = getLayout() ? getLayout().getLayout().extent(layout::Offset) : ShapedType::getNumElements(getShape());
  return elements * tile::elementBytes(getElementType());
}
RankedTensorType SharedType::getTileType() const { return RankedTensorType::get(getShape(), getElementType()); }

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t count, ArrayRef<SharedType> tiles) {
  if (count < 1)
    return emitError() << "a ring has at least one slot, not " << count;
  if (tiles.empty())
    return emitError() << "a slot holds at least one tile";
  return success();
}

LayoutAttr block::layoutOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<LayoutAttr>(tensor.getEncoding()) : LayoutAttr();
}
