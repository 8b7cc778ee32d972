// transpose-products: a product whose rows are no multiple of what the tensor cores take at once, and whose columns are, is computed as the
// transpose of its transposed factors' product.
//
// A step of attention's backward that adds few rows of queries to memory is one: its factors are at hand both ways, and threads store or add
// what they hold at any place.
#include "compiler/block/passes/passes.h"
#include "compiler/ir/Tile.h"

using namespace mlir;

namespace tilery::block {
namespace {
constexpr int64_t leastRows = 64;

/// The search for a kernel of one product turns it where that helps.
bool isAlone(tile::KernelOp kernel) {
  unsigned products = 0;
  kernel.walk([&](Operation *op) { products += isa<tile::DotOp, tile::ContractOp>(op); });
  return products == 1;
}

void turn(tile::DotOp dot) {
  OpBuilder builder(dot);
  auto transposed = [&](Value tile) {
    if (auto permute = tile.getDefiningOp<tile::PermuteOp>())
      return permute.getValue();
    auto type = cast<RankedTensorType>(tile.getType());
    auto turned = RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)}, type.getElementType());
    if (auto splat = tile.getDefiningOp<tile::SplatOp>())
      return Value(tile::SplatOp::create(builder, dot.getLoc(), turned, splat.getValue()));
    DenseElementsAttr dense;
    if (matchPattern(tile, m_Constant(&dense)) && dense.isSplat())
      return Value(arith::ConstantOp::create(builder, dot.getLoc(), dense.resizeSplat(turned)));
    return Value(tile::PermuteOp::create(builder, dot.getLoc(), turned, tile, ArrayRef<int64_t>{1, 0}));
  };
  Value acc = transposed(dot.getAcc()), a = transposed(dot.getB()), b = transposed(dot.getA());
  SmallVector<Value, 2> live(llvm::reverse(dot.getLive()));
  Value product = tile::DotOp::create(builder, dot.getLoc(), acc.getType(), a, b, acc, dot.getClear(), dot.getPrecision(),
                                      dot.getBUnsigned(), dot.getAUnsigned(), live);
  dot.replaceAllUsesWith(
      tile::PermuteOp::create(builder, dot.getLoc(), dot.getType(), product, ArrayRef<int64_t>{1, 0}).getResult());
  dot.erase();
}
} // namespace

void runTransposeProducts(tile::KernelOp kernel) {
  SmallVector<tile::DotOp> dots;
  kernel.walk([&](tile::DotOp dot) {
    auto type = cast<RankedTensorType>(dot.getType());
    if (type.getRank() == 2 && type.getDimSize(0) % leastRows && type.getDimSize(1) % leastRows == 0)
      dots.push_back(dot);
  });
  if (!isAlone(kernel))
    for (tile::DotOp dot : dots)
      turn(dot);
}

} // namespace tilery::block
