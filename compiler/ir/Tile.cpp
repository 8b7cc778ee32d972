#include "compiler/ir/machine_ops.h"

using namespace mlir;
using namespace tilery::tile;

#include "compiler/ir/TileEnums.cpp.inc"
#include "compiler/ir/TileDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/ir/TileTypes.cpp.inc"

void TileDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/ir/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/ir/TileOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/ir/TileMachineOps.cpp.inc"
      >();
}

bool tilery::tile::isTileValue(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (!tensor.hasStaticShape() || tensor.getRank() == 0)
      return false;
    type = tensor.getElementType();
  }
  return isa<IntegerType, FloatType, PtrType>(type);
}

llvm::ArrayRef<int64_t> tilery::tile::shapeOf(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getShape();
  return {};
}

Type tilery::tile::tileOf(ArrayRef<int64_t> shape, Type element) {
  return shape.empty() ? element : Type(RankedTensorType::get(shape, element));
}

bool tilery::tile::sameTile(Type a, Type b) {
  return getElementTypeOrSelf(a) == getElementTypeOrSelf(b) && isa<RankedTensorType>(a) == isa<RankedTensorType>(b) &&
         shapeOf(a) == shapeOf(b);
}

unsigned tilery::tile::elementBytes(Type element) {
  if (isa<PtrType>(element))
    return 8;
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}

Type AccessType::getTileType() const { return tileOf(getShape(), getElementType()); }
Type ViewType::getTileType() const { return tileOf(getShape(), getElementType()); }
Type BufferType::getTileType() const { return tileOf(getShape(), getElementType()); }

// "<128x64xf32" without the closing ">".
static ParseResult parseShaped(AsmParser &parser, SmallVectorImpl<int64_t> &shape, Type &element) {
  return failure(parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element));
}
static void printShaped(AsmPrinter &printer, ArrayRef<int64_t> shape, Type element) {
  printer << "<";
  for (int64_t size : shape)
    printer << size << "x";
  printer << element;
}
template <typename T> static Type parseShapedType(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  if (parseShaped(parser, shape, element) || parser.parseGreater())
    return {};
  return T::get(shape, element);
}
template <typename T> static Type parseRankedType(AsmParser &parser) {
  SmallVector<int64_t> dims;
  Type element;
  if (parseShaped(parser, dims, element) || parser.parseGreater())
    return {};
  if (dims.size() != 1) {
    parser.emitError(parser.getCurrentLocation(), "expected RANKxTYPE");
    return {};
  }
  return T::get(parser.getContext(), dims[0], element);
}

Type PtrType::parse(AsmParser &parser) {
  Type pointee;
  if (parser.parseLess() || parser.parseType(pointee))
    return {};
  bool isConst = succeeded(parser.parseOptionalComma());
  if ((isConst && parser.parseKeyword("const")) || parser.parseGreater())
    return {};
  return PtrType::get(parser.getContext(), pointee, isConst);
}
void PtrType::print(AsmPrinter &printer) const { printer << "<" << getPointee() << (getIsConst() ? ", const>" : ">"); }
Type AccessType::parse(AsmParser &parser) { return parseShapedType<AccessType>(parser); }
void AccessType::print(AsmPrinter &printer) const {
  printShaped(printer, getShape(), getElementType());
  printer << ">";
}
Type ViewType::parse(AsmParser &parser) { return parseShapedType<ViewType>(parser); }
void ViewType::print(AsmPrinter &printer) const {
  printShaped(printer, getShape(), getElementType());
  printer << ">";
}
Type RootType::parse(AsmParser &parser) { return parseRankedType<RootType>(parser); }
void RootType::print(AsmPrinter &printer) const { printer << "<" << getRank() << "x" << getElementType() << ">"; }
Type TensorArgType::parse(AsmParser &parser) { return parseRankedType<TensorArgType>(parser); }
void TensorArgType::print(AsmPrinter &printer) const { printer << "<" << getRank() << "x" << getElementType() << ">"; }
Type BufferType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  StringRef space;
  if (parseShaped(parser, shape, element) || parser.parseComma() || parser.parseKeyword(&space) || parser.parseGreater())
    return {};
  auto value = symbolizeSpace(space);
  if (!value) {
    parser.emitError(parser.getCurrentLocation(), "expected shared, fragment, local or global");
    return {};
  }
  return BufferType::get(shape, element, *value);
}
void BufferType::print(AsmPrinter &printer) const {
  printShaped(printer, getShape(), getElementType());
  printer << ", " << stringifySpace(getSpace()) << ">";
}
