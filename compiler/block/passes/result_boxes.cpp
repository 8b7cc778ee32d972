#include "compiler/block/passes/result_boxes.h"
#include "compiler/block/passes/early_loads.h"
#include "compiler/ir/zero.h"

using namespace mlir;

namespace tilery::block {

/// The load's tile in boxes that lie row by row.
static std::optional<MappedTile> boxOf(tile::LoadOp load) {
  auto access = load.getPlace().getDefiningOp<tile::AccessOp>();
  std::string why;
  std::optional<MappedTile> tile = access ? mapTile(access, why) : std::nullopt;
  bool byRows = tile && !tile->box.made && ArrayRef<int64_t>(tile->order) == ArrayRef<int64_t>{0, 1};
  return byRows ? tile : std::nullopt;
}

/// Behind the product a tile is turned, its sums or another one: what is loaded may not lie as the sums do.
static bool turnsBehind(Operation *product) {
  for (Operation *op = product->getNextNode(); op; op = op->getNextNode())
    if (op->walk([](tile::PermuteOp) { return WalkResult::interrupt(); }).wasInterrupted())
      return true;
  return false;
}

std::optional<ResultBox> findResultBox(const BoxProduct &product, ArrayRef<BoxCondition> asked) {
  if (product.swapped || product.op->getParentOfType<tile::KernelOp>()->hasAttr("block.no_boxes") || turnsBehind(product.op))
    return std::nullopt;
  auto isAsked = [&](const BoxCondition &condition) {
    return llvm::any_of(
        asked, [&](const BoxCondition &other) { return other.value == condition.value && other.divisor == condition.divisor; });
  };
  SmallVector<LoadBehind> loads = loadsBehind(product.op, product.m, product.n);
  for (LoadBehind &behind : loads) {
    ArrayRef<int64_t> shape = tile::shapeOf(behind.load.getType());
    bool isZero = !behind.load.getOther() || tile::isPlusZero(behind.load.getOther());
    if (!isZero || shape != ArrayRef<int64_t>{int64_t(product.m), int64_t(product.n)})
      continue;
    if (std::optional<MappedTile> tile = boxOf(behind.load); tile && llvm::all_of(tile->box.conditions, isAsked))
      return ResultBox{behind.load, *tile};
  }
  return std::nullopt;
}

std::optional<ResultBox> markedResultBox(tile::KernelOp kernel) {
  tile::LoadOp marked;
  kernel.walk([&](tile::LoadOp load) {
    if (load->hasAttr("block.boxed"))
      marked = load;
  });
  std::optional<MappedTile> tile = marked ? boxOf(marked) : std::nullopt;
  return tile ? std::optional(ResultBox{marked, *tile}) : std::nullopt;
}

} // namespace tilery::block
