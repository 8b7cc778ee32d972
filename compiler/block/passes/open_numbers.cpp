// open-numbers: a tile of one lane that a loop carries or a branch gives, and that is a number on each way there (a variable of TileLang's), is
// that number instead: branches, lengths and places that hang on it hang on no tile.
#include "compiler/block/passes/passes.h"
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

bool isOneLane(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getNumElements() == 1;
}

/// The number in such a tile; taken out of it where it is not there yet.
Value numberIn(OpBuilder &builder, Value tile, bool isTaken) {
  Value source = sourceOf(tile);
  auto type = dyn_cast<RankedTensorType>(source.getType());
  SplatElementsAttr same;
  if (!type)
    return source;
  if (matchPattern(source, m_Constant(&same)))
    return arith::ConstantOp::create(builder, source.getLoc(), same.getSplatValue<TypedAttr>());
  if (!isTaken)
    return {};
  Value zero = arith::ConstantOp::create(builder, source.getLoc(), builder.getI64IntegerAttr(0));
  return tile::ExtractOp::create(builder, source.getLoc(), type.getElementType(), source,
                                 SmallVector<Value>(type.getRank(), zero));
}

/// The tiles of one lane that loops carry and branches give, and that are numbers wherever they come from.
class Numbers {
public:
  explicit Numbers(tile::KernelOp kernel) {
    kernel.walk([&](Operation *op) { // inner ops first
      if (isa<scf::ForOp, scf::IfOp>(op) && op->getNumResults())
        ops.push_back(op);
    });
    for (Operation *op : ops)
      for (OpResult result : op->getResults())
        if (isOneLane(result) && isUsed(result))
          found.insert(result);
    while (llvm::any_of(ops, [&](Operation *op) { return removeOthers(op); }))
      ;
  }

  ArrayRef<Operation *> holders() const { return ops; }

  SmallVector<unsigned> of(Operation *op) const {
    SmallVector<unsigned> numbers;
    for (OpResult result : op->getResults())
      if (found.contains(result))
        numbers.push_back(result.getResultNumber());
    return numbers;
  }

private:
  static bool isUsed(OpResult result) {
    auto loop = dyn_cast<scf::ForOp>(result.getOwner());
    return !result.use_empty() || (loop && !loop.getRegionIterArg(result.getResultNumber()).use_empty());
  }

  bool isNumber(Value tile) const {
    Value source = sourceOf(tile);
    if (auto argument = dyn_cast<BlockArgument>(source))
      if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()); loop && argument.getArgNumber() > 0)
        source = loop.getResult(argument.getArgNumber() - 1);
    return !isa<RankedTensorType>(source.getType()) || found.contains(source) ||
           matchPattern(source, m_Constant<SplatElementsAttr>(nullptr));
  }

  bool removeOthers(Operation *op) {
    bool removed = false;
    for (OpResult result : op->getResults()) {
      unsigned i = result.getResultNumber();
      auto loop = dyn_cast<scf::ForOp>(op);
      bool holds =
          llvm::all_of(op->getRegions(), [&](Region &region) { return isNumber(region.front().getTerminator()->getOperand(i)); });
      if (!holds || (loop && !isNumber(loop.getInitArgs()[i])))
        removed |= found.erase(result);
    }
    return removed;
  }

  SmallVector<Operation *> ops;
  DenseSet<Value> found;
};

void replaceBySplat(OpBuilder &builder, Value tile, Value number) {
  tile.replaceAllUsesWith(tile::SplatOp::create(builder, tile.getLoc(), tile.getType(), number));
}

/// The loop carries them as numbers; what is left of the tiles nobody takes.
void open(scf::ForOp loop, ArrayRef<unsigned> which) {
  IRRewriter rewriter(loop);
  SmallVector<Value> inits;
  for (unsigned i : which)
    inits.push_back(numberIn(rewriter, loop.getInitArgs()[i], true));
  auto yields = [&](OpBuilder &builder, Location, ArrayRef<BlockArgument>) {
    return llvm::map_to_vector(which, [&](unsigned i) { return numberIn(builder, loop.getYieldedValues()[i], true); });
  };
  unsigned before = loop.getNumResults();
  auto made =
      cast<scf::ForOp>(*loop.replaceWithAdditionalYields(rewriter, inits, /*replaceInitOperandUsesInLoop=*/false, yields));
  for (auto [number, i] : llvm::enumerate(which)) {
    rewriter.setInsertionPointToStart(made.getBody());
    replaceBySplat(rewriter, made.getRegionIterArg(i), made.getRegionIterArg(before + number));
    rewriter.setInsertionPointAfter(made);
    replaceBySplat(rewriter, made.getResult(i), made.getResult(before + number));
  }
}

/// The branch gives numbers in place of the tiles.
void open(scf::IfOp branch, ArrayRef<unsigned> which) {
  OpBuilder builder(branch);
  SmallVector<Type> types(branch.getResultTypes());
  for (unsigned i : which) {
    types[i] = getElementTypeOrSelf(types[i]);
    for (Region &region : branch->getRegions()) {
      Operation *yield = region.front().getTerminator();
      builder.setInsertionPoint(yield);
      yield->setOperand(i, numberIn(builder, yield->getOperand(i), true));
    }
  }
  builder.setInsertionPoint(branch);
  auto made = scf::IfOp::create(builder, branch.getLoc(), types, branch.getCondition());
  made->setAttrs(branch->getAttrs());
  made.getThenRegion().takeBody(branch.getThenRegion());
  made.getElseRegion().takeBody(branch.getElseRegion());
  for (auto [i, results] : llvm::enumerate(llvm::zip_equal(branch.getResults(), made.getResults()))) {
    auto [old, result] = results;
    if (llvm::is_contained(which, unsigned(i)))
      replaceBySplat(builder, old, result);
    else
      old.replaceAllUsesWith(result);
  }
  branch.erase();
}

/// The op and what was made for it alone.
void eraseUnused(Operation *op) {
  while (op && isOpTriviallyDead(op)) {
    Operation *before = op->getOperand(0).getDefiningOp();
    op->erase();
    op = isa_and_nonnull<tile::SplatOp, tile::ReshapeOp, tile::ExpandDimsOp>(before) ? before : nullptr;
  }
}
} // namespace

void runOpenNumbers(tile::KernelOp kernel) {
  Numbers numbers(kernel);
  SmallVector<std::pair<Operation *, SmallVector<unsigned>>> opened;
  for (Operation *op : numbers.holders())
    if (SmallVector<unsigned> which = numbers.of(op); !which.empty())
      opened.emplace_back(op, which);
  for (auto &[op, which] : opened)
    if (auto loop = dyn_cast<scf::ForOp>(op))
      open(loop, which);
    else
      open(cast<scf::IfOp>(op), which);
  bool changed = !opened.empty();
  // Numbers that were tiles for a moment.
  SmallVector<Operation *> ends;
  kernel.walk([&](Operation *op) {
    bool takesOne = isa<tile::ExtractOp>(op) || (isa<tile::ReshapeOp>(op) && !isa<RankedTensorType>(op->getResult(0).getType()));
    bool isFirst =
        llvm::all_of(op->getOperands().drop_front(takesOne), [](Value index) { return matchPattern(index, m_Zero()); });
    if (takesOne && isOneLane(op->getOperand(0)) && isFirst)
      ends.push_back(op);
  });
  for (Operation *op : ends) {
    OpBuilder builder(op);
    Value number = numberIn(builder, op->getOperand(0), false);
    if (!number)
      continue;
    op->getResult(0).replaceAllUsesWith(number);
    eraseUnused(op);
    changed = true;
  }
  if (changed)
    removeDeadCarried(kernel);
}

} // namespace tilery::block
