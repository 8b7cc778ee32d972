// Generated op definitions, results that follow from operands, folding. Verifiers: Verify*.cpp.
#include "compiler/block/ir/Block.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::block;

#define GET_OP_CLASSES
#include "compiler/block/ir/BlockOps.cpp.inc"

using Types = SmallVectorImpl<Type>;

LogicalResult PartOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                       DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                       Types &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto tiles = cast<SlotType>(adaptor.getSlot().getType()).getTiles();
  if (adaptor.getIndex() >= tiles.size())
    return emitOptionalError(location, "there is no tile ", adaptor.getIndex(), " in a slot of ", tiles.size());
  types.push_back(tiles[adaptor.getIndex()]);
  return success();
}
LogicalResult TransposeOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                                            DictionaryAttr, OpaqueProperties, RegionRange, Types &types) {
  auto type = cast<SharedType>(operands[0].getType());
  if (type.getRank() != 2)
    return emitOptionalError(location, "only tiles of rank 2 are transposed");
  LayoutAttr layout = type.getLayout();
  if (layout)
    layout = LayoutAttr::get(context, layout.getLayout().transposed());
  types.push_back(SharedType::get(context, {type.getShape()[1], type.getShape()[0]}, type.getElementType(), layout));
  return success();
}
static LogicalResult slotOfRing(MLIRContext *context, ValueRange operands, Types &types) {
  types.push_back(SlotType::get(context, cast<RingType>(operands[0].getType()).getTiles()));
  return success();
}
LogicalResult AcquireOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, ValueRange operands, DictionaryAttr,
                                          OpaqueProperties, RegionRange, Types &types) {
  return slotOfRing(context, operands, types);
}
LogicalResult TakeOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, ValueRange operands, DictionaryAttr,
                                       OpaqueProperties, RegionRange, Types &types) {
  return slotOfRing(context, operands, types);
}
LogicalResult ProgramsOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr attributes,
                                           OpaqueProperties properties, RegionRange regions, Types &types) {
  llvm::append_range(types, Adaptor(operands, attributes, properties, regions).getInits().getTypes());
  return success();
}

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  if (getValue().getType() == getType())
    return getValue();
  return {};
}

// ---- what is done with nothing

LogicalResult MmaSettleOp::canonicalize(MmaSettleOp op, PatternRewriter &rewriter) {
  if (!op.getProduct().getDefiningOp<NoneOp>())
    return failure();
  rewriter.eraseOp(op);
  return success();
}
LogicalResult MmaWaitOp::canonicalize(MmaWaitOp op, PatternRewriter &rewriter) {
  if (!op.getProduct().getDefiningOp<NoneOp>())
    return failure();
  rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, op.getType(), cast<TypedAttr>(rewriter.getZeroAttr(op.getType())));
  return success();
}
LogicalResult ReleaseOp::canonicalize(ReleaseOp op, PatternRewriter &rewriter) {
  if (!op.getSlot().getDefiningOp<NoneOp>())
    return failure();
  rewriter.eraseOp(op);
  return success();
}
