// open-numbers: a tile of one lane that a loop carries, and that is a number in each step (a variable of TileLang's), is carried as that number:
// branches, lengths and places that hang on it hang on no tile.
#include "compiler/block/passes.h"
#include "compiler/ir/Tile.h"
#include "compiler/passes/dead_carried.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tilery::block {
namespace {

/// The number in a tile of one lane; null: it is computed as a tile.
Value numberIn(OpBuilder &builder, Value tile) {
  if (auto splat = tile.getDefiningOp<tile::SplatOp>())
    return splat.getValue();
  SplatElementsAttr same;
  if (!matchPattern(tile, m_Constant(&same)))
    return {};
  return arith::ConstantOp::create(builder, tile.getLoc(), same.getSplatValue<TypedAttr>());
}

bool isNumber(Value tile) {
  return tile.getDefiningOp<tile::SplatOp>() || matchPattern(tile, m_Constant<SplatElementsAttr>(nullptr));
}

/// Of the loop's carried values, the tiles of one lane that are numbers.
SmallVector<unsigned> carriedNumbers(scf::ForOp loop) {
  SmallVector<unsigned> numbers;
  for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    bool isUsed = !argument.use_empty() || !loop.getResult(i).use_empty();
    if (type && isUsed && type.getNumElements() == 1 && isNumber(loop.getInitArgs()[i]) && isNumber(loop.getYieldedValues()[i]))
      numbers.push_back(i);
  }
  return numbers;
}

/// The loop carries them as numbers; what is left of the tiles nobody takes.
void open(scf::ForOp loop, ArrayRef<unsigned> which) {
  IRRewriter rewriter(loop);
  SmallVector<Value> inits;
  for (unsigned i : which)
    inits.push_back(numberIn(rewriter, loop.getInitArgs()[i]));
  auto yields = [&](OpBuilder &builder, Location, ArrayRef<BlockArgument>) {
    return llvm::map_to_vector(which, [&](unsigned i) { return numberIn(builder, loop.getYieldedValues()[i]); });
  };
  unsigned before = loop.getNumResults();
  auto made =
      cast<scf::ForOp>(*loop.replaceWithAdditionalYields(rewriter, inits, /*replaceInitOperandUsesInLoop=*/false, yields));
  auto splat = [&](Value tile, Value number) {
    tile.replaceAllUsesWith(tile::SplatOp::create(rewriter, tile.getLoc(), tile.getType(), number));
  };
  for (auto [number, i] : llvm::enumerate(which)) {
    rewriter.setInsertionPointToStart(made.getBody());
    splat(made.getRegionIterArg(i), made.getRegionIterArg(before + number));
    rewriter.setInsertionPointAfter(made);
    splat(made.getResult(i), made.getResult(before + number));
  }
}

struct OpenNumbers : PassWrapper<OpenNumbers, OperationPass<tile::KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OpenNumbers)
  StringRef getArgument() const final { return "open-numbers"; }
  StringRef getDescription() const final { return "numbers that loops carry as tiles of one lane are carried as numbers"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<arith::ArithDialect, scf::SCFDialect>(); }
  void runOnOperation() final {
    tile::KernelOp kernel = getOperation();
    SmallVector<scf::ForOp> loops;
    kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); }); // inner loops first
    bool opened = false;
    for (scf::ForOp loop : loops)
      if (SmallVector<unsigned> numbers = carriedNumbers(loop); !numbers.empty()) {
        open(loop, numbers);
        opened = true;
      }
    if (!opened)
      return;
    SmallVector<tile::ExtractOp> extracts;
    kernel.walk([&](tile::ExtractOp op) { extracts.push_back(op); });
    for (tile::ExtractOp op : extracts)
      if (auto splat = op.getValue().getDefiningOp<tile::SplatOp>();
          splat && llvm::all_of(op.getIndices(), [](Value index) { return matchPattern(index, m_Zero()); })) {
        op.replaceAllUsesWith(splat.getValue());
        op.erase();
      }
    removeDeadCarried(kernel);
  }
};
} // namespace

std::unique_ptr<Pass> createOpenNumbers() { return std::make_unique<OpenNumbers>(); }

} // namespace tilery::block
