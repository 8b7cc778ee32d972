// open-numbers: a tile of one lane that a loop carries, and that is a number in each step (a variable of TileLang's), is carried as that number:
// branches, lengths and places that hang on it hang on no tile.
#include "compiler/block/passes.h"
#include "compiler/ir/Tile.h"
#include "compiler/passes/dead_carried.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilery::block {
namespace {

/// What a tile of one lane is made of by ops that change nothing but its shape: a number, or a constant.
Value sourceOf(Value tile) {
  for (Operation *op = tile.getDefiningOp(); isa_and_nonnull<tile::SplatOp, tile::ReshapeOp, tile::ExpandDimsOp>(op);
       op = tile.getDefiningOp())
    tile = op->getOperand(0);
  return tile;
}

bool isNumber(Value tile) {
  Value source = sourceOf(tile);
  return !isa<RankedTensorType>(source.getType()) || matchPattern(source, m_Constant<SplatElementsAttr>(nullptr));
}

/// The number in such a tile; null: it is computed as a tile.
Value numberIn(OpBuilder &builder, Value tile) {
  Value source = sourceOf(tile);
  if (!isa<RankedTensorType>(source.getType()))
    return source;
  SplatElementsAttr same;
  if (!matchPattern(source, m_Constant(&same)))
    return {};
  return arith::ConstantOp::create(builder, source.getLoc(), same.getSplatValue<TypedAttr>());
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

/// The op and what was made for it alone.
void eraseUnused(Operation *op) {
  while (op && isOpTriviallyDead(op)) {
    Operation *before = op->getOperand(0).getDefiningOp();
    op->erase();
    op = isa_and_nonnull<tile::SplatOp, tile::ReshapeOp, tile::ExpandDimsOp>(before) ? before : nullptr;
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
    bool changed = false;
    for (scf::ForOp loop : loops)
      if (SmallVector<unsigned> numbers = carriedNumbers(loop); !numbers.empty()) {
        open(loop, numbers);
        changed = true;
      }
    // Numbers that were tiles for a moment.
    SmallVector<Operation *> ends;
    kernel.walk([&](Operation *op) {
      bool takesOne =
          isa<tile::ExtractOp>(op) || (isa<tile::ReshapeOp>(op) && !isa<RankedTensorType>(op->getResult(0).getType()));
      auto type = takesOne ? dyn_cast<RankedTensorType>(op->getOperand(0).getType()) : RankedTensorType();
      if (type && type.getNumElements() == 1)
        ends.push_back(op);
    });
    for (Operation *op : ends) {
      OpBuilder builder(op);
      Value number = numberIn(builder, op->getOperand(0));
      if (!number)
        continue;
      op->getResult(0).replaceAllUsesWith(number);
      eraseUnused(op);
      changed = true;
    }
    if (changed)
      removeDeadCarried(kernel);
  }
};
} // namespace

std::unique_ptr<Pass> createOpenNumbers() { return std::make_unique<OpenNumbers>(); }

} // namespace tilery::block
