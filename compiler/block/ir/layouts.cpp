#include "compiler/block/ir/layouts.h"
#include "compiler/analysis/search.h"
#include "compiler/block/forms/memory.h"

using namespace mlir;
using namespace tilery;
using layout::Layout;

namespace tilery::block {

/// A tile of shape `from` under shape `to`.
static std::optional<Layout> reshaped(Layout layout, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  auto isOne = [](int64_t extent) { return extent == 1; };
  if (!llvm::equal(llvm::make_filter_range(from, std::not_fn(isOne)), llvm::make_filter_range(to, std::not_fn(isOne))))
    return layout::reshaped(layout, to);
  for (unsigned d = from.size(); d-- > 0;)
    if (from[d] == 1)
      layout = layout::slice(layout, d);
  for (unsigned d = 0; d < to.size(); ++d)
    if (to[d] == 1)
      layout = layout::expanded(layout, d);
  return layout;
}

std::optional<Layout> resultLayout(Operation *op, const Layout &operand) {
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op))
    return reshaped(operand, tile::shapeOf(reshape.getValue().getType()), tile::shapeOf(reshape.getType()));
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op))
    return layout::expanded(operand, expand.getAxis());
  if (auto permute = dyn_cast<tile::PermuteOp>(op))
    return layout::permuted(operand, permute.getOrder());
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return layout::slice(operand, reduce.getAxis());
  if (isa<tile::SplitOp>(op))
    return layout::slice(operand, operand.outputs().size() - 1);
  if (isa<tile::ScanOp>(op))
    return operand;
  return std::nullopt;
}

/// Each element becomes two registers, along a new last dimension.
static Layout doubled(const Layout &layout) {
  unsigned rank = layout.outputs().size();
  SmallVector<Layout::Output, 4> outputs;
  for (unsigned d = 0; d <= rank; ++d)
    outputs.push_back({layout::dim(d), d == rank ? 2 : 1});
  SmallVector<int64_t> step(rank + 1, 0);
  step[rank] = 1;
  return product(Layout(outputs).add(layout::Register, 2, step), layout::expanded(layout, rank)).canonical();
}

std::optional<Layout> operandLayout(Operation *op, const Layout &result) {
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op))
    return reshaped(result, tile::shapeOf(reshape.getType()), tile::shapeOf(reshape.getValue().getType()));
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op))
    return layout::slice(result, expand.getAxis());
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    Layout small = result;
    ArrayRef<int64_t> from = tile::shapeOf(broadcast.getValue().getType()), to = tile::shapeOf(broadcast.getType());
    for (unsigned d = 0; d < from.size(); ++d)
      if (from[d] != to[d])
        small = layout::expanded(layout::slice(small, d), d);
    return small;
  }
  if (auto permute = dyn_cast<tile::PermuteOp>(op)) {
    SmallVector<int64_t> inverse(permute.getOrder().size());
    for (auto [to, from] : llvm::enumerate(permute.getOrder()))
      inverse[from] = to;
    return layout::permuted(result, inverse);
  }
  if (isa<tile::ScanOp>(op))
    return result;
  if (isa<tile::SplitOp>(op))
    return doubled(result);
  if (isa<tile::JoinOp>(op))
    return layout::slice(result, result.outputs().size() - 1);
  if (auto join = dyn_cast<JoinOp>(op))
    return layout::piece(result, tile::shapeOf(join.getTiles()[0].getType()));
  return std::nullopt;
}

bool takesAnyLayout(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() || op->hasTrait<OpTrait::IsTerminator>() || isa<BlockDialect>(op->getDialect()) ||
         isa<scf::SCFDialect, ub::UBDialect>(op->getDialect()) ||
         isa<tile::SplatOp, tile::RangeOp, tile::AccessOp, tile::PointerAccessOp, tile::ViewOp, tile::LoadOp, tile::StoreOp,
             tile::AtomicRmwOp, tile::ExtractOp, tile::PrintOp, tile::AssertOp>(op);
}

static SmallVector<Type> tilesOf(TypeRange types) {
  SmallVector<Type> tiles;
  for (Type type : types)
    if (isa<RankedTensorType>(type))
      tiles.push_back(type);
  return tiles;
}

static std::string textOf(LayoutAttr layout) { return layout ? layout.getLayout().print() : "no layout"; }

/// All of `types` have the layout `wanted`.
static LogicalResult expect(Operation *op, ArrayRef<Type> types, LayoutAttr wanted, const char *what) {
  for (Type type : types)
    if (layoutOf(type) != wanted)
      return op->emitOpError() << "has " << what << " in " << textOf(layoutOf(type)) << " where " << textOf(wanted)
                               << " is wanted: convert it";
  return success();
}

static LogicalResult verifyOp(Operation *op) {
  SmallVector<Type> operands = tilesOf(op->getOperandTypes()), results = tilesOf(op->getResultTypes());
  auto hasLayout = [](Type type) { return bool(layoutOf(type)); };
  if (takesAnyLayout(op) || (llvm::none_of(operands, hasLayout) && llvm::none_of(results, hasLayout)))
    return success();
  if (OpTrait::hasElementwiseMappableTraits(op)) {
    LayoutAttr layout = layoutOf(results.empty() ? operands[0] : results[0]);
    return failed(expect(op, results, layout, "a result")) ? failure() : expect(op, operands, layout, "an operand");
  }
  MLIRContext *context = op->getContext();
  if (!operands.empty())
    if (LayoutAttr layout = layoutOf(operands[0]))
      if (std::optional<Layout> result = resultLayout(op, layout.getLayout()))
        return failed(expect(op, operands, layout, "an operand"))
                   ? failure()
                   : expect(op, results, LayoutAttr::get(context, *result), "a result");
  if (!results.empty())
    if (LayoutAttr layout = layoutOf(results[0]))
      if (std::optional<Layout> operand = operandLayout(op, layout.getLayout()))
        return expect(op, operands, LayoutAttr::get(context, *operand), "an operand");
  return op->emitOpError("has no rule for tiles with layouts");
}

LogicalResult verifyLayouts(Operation *root) {
  WalkResult result =
      root->walk([](Operation *op) { return failed(verifyOp(op)) ? WalkResult::interrupt() : WalkResult::advance(); });
  return failure(result.wasInterrupted());
}

bool canBeComputedAnywhere(Value tile) {
  for (analysis::Search<Value> values(tile); Value value = values.next();) {
    if (!isa<RankedTensorType>(value.getType()))
      continue;
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumRegions() || isa<MmaWaitOp, ReadOp>(op))
      return false;
    values.addAll(op->getOperands());
  }
  return true;
}

unsigned storedAlong(SharedType shared, MapType map, unsigned warpgroups) {
  ArrayRef<int64_t> shape = shared.getShape();
  auto walked = walkedDimensions(map, shape);
  for (unsigned d = 0; walked && warpgroups && d < shape.size(); ++d) {
    int64_t box = (*walked)[d] < 0 ? 1 : map.getBox()[(*walked)[d]];
    if (shape[d] % warpgroups == 0 && shape[d] / warpgroups % box == 0)
      return d;
  }
  return shape.size();
}

layout::Rows rowsOf(MmaStartOp start) {
  auto read = start.getA().getDefiningOp<ReadOp>();
  LayoutAttr memory = read ? read.getShared().getType().getLayout() : LayoutAttr();
  std::optional<Layout> places = memory ? invert(memory.getLayout()) : std::nullopt;
  bool isAcross = places && read.getShared().getType().getElementType().getIntOrFloatBitWidth() == 8 &&
                  layout::contiguous(*places, layout::dim(1)) == 1;
  return isAcross ? layout::Rows::Paired : layout::Rows::InOrder;
}

} // namespace tilery::block
