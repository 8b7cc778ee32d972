// scale-late: where a loop takes the maxima of the rows of a product times a number, and masks that first, it takes those of the product:
//
//   x = c s; y = mask ? x : -inf; top = max of y's rows; .. y - t ..
// becomes
//   y = mask ? s : -inf; top = c (max of y's rows); .. c y - t ..
//
// Rounding keeps the order, so for positive c both are the same to the last bit; what is left of an element's multiplication then goes into
// the instruction that subtracts. Where nobody knows c, the numbers decide: one of s 1 and c y, or c s and 1 y, which costs a branch.
#include "compiler/block/recognise/find_kernel.h"
#include "compiler/block/passes/kernel_pass.h"
#include "compiler/block/passes/passes.h"

using namespace mlir;

namespace tilery::block {
namespace {

std::optional<APFloat> constantOf(Value value) {
  if (auto splat = value.getDefiningOp<tile::SplatOp>())
    value = splat.getValue();
  if (DenseElementsAttr tile; matchPattern(value, m_Constant(&tile)) && tile.isSplat())
    return tile.getSplatValue<APFloat>();
  if (APFloat number(0.0f); matchPattern(value, m_ConstantFloat(&number)))
    return number;
  return std::nullopt;
}

bool isNothing(Value value) {
  std::optional<APFloat> number = constantOf(value);
  return number && number->isInfinity() && number->isNegative();
}

/// Of the rows, without anything else.
bool isMaximum(tile::ReduceOp reduce) {
  Block &combine = reduce.getCombine().front();
  return reduce->getNumResults() == 1 && reduce.getAxis() == 1 && llvm::hasSingleElement(combine.without_terminator()) &&
         isa<arith::MaxNumFOp, arith::MaximumFOp>(combine.front()) && combine.front().getOperand(0) == combine.getArgument(0) &&
         combine.front().getOperand(1) == combine.getArgument(1) &&
         combine.getTerminator()->getOperand(0) == combine.front().getResult(0);
}

/// The tile whose rows have maxima, from the outermost mask on.
struct Chain {
  SmallVector<arith::SelectOp> masks;
  arith::MulFOp scaled;
  Value sums, scale;
};

std::optional<Chain> chainOf(Value tile, scf::ForOp loop) {
  Chain chain;
  for (Value value = tile;;) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != loop.getBody() || (value != tile && !value.hasOneUse()))
      return std::nullopt;
    if (auto mask = dyn_cast<arith::SelectOp>(op)) {
      if (isNothing(mask.getTrueValue()) == isNothing(mask.getFalseValue()))
        return std::nullopt;
      chain.masks.push_back(mask);
      value = isNothing(mask.getTrueValue()) ? mask.getFalseValue() : mask.getTrueValue();
      continue;
    }
    chain.scaled = dyn_cast<arith::MulFOp>(op);
    break;
  }
  for (unsigned which : {0u, 1u}) {
    Value scale = chain.scaled ? chain.scaled->getOperand(1 - which) : Value();
    if (!scale || !chain.scaled->getOperand(which).getDefiningOp<tile::DotOp>())
      continue;
    if (auto splat = scale.getDefiningOp<tile::SplatOp>(); splat && !constantOf(scale)) {
      if (loop->isAncestor(splat.getValue().getParentBlock()->getParentOp()))
        continue;
      scale = splat.getValue();
    } else if (std::optional<APFloat> number = constantOf(scale); !number || !number->isFiniteNonZero() || number->isNegative()) {
      continue;
    }
    chain.sums = chain.scaled->getOperand(which), chain.scale = scale;
    return chain;
  }
  return std::nullopt;
}

/// In front of the loop: the number that the sums are multiplied with at once (null: none), and the one that comes later.
std::pair<Value, Value> scalesOf(const Chain &chain, scf::ForOp loop) {
  if (isa<RankedTensorType>(chain.scale.getType()) || constantOf(chain.scale))
    return {Value(), chain.scale};
  OpBuilder b(loop);
  Location location = chain.sums.getLoc();
  auto type = cast<FloatType>(chain.scale.getType());
  auto number = [&](const APFloat &value) { return arith::ConstantOp::create(b, location, b.getFloatAttr(type, value)); };
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  auto is = [&](arith::CmpFPredicate predicate, Value other) {
    return arith::CmpFOp::create(b, location, predicate, chain.scale, other);
  };
  Value one = number(APFloat::getOne(semantics));
  Value positive = arith::AndIOp::create(b, location, is(arith::CmpFPredicate::OGT, number(APFloat::getZero(semantics))),
                                         is(arith::CmpFPredicate::OLT, number(APFloat::getInf(semantics))));
  return {arith::SelectOp::create(b, location, positive, one, chain.scale),
          arith::SelectOp::create(b, location, positive, chain.scale, one)};
}

void rewrite(Value tile, const Chain &chain, scf::ForOp loop) {
  auto [now, later] = scalesOf(chain, loop);
  OpBuilder b(tile.getDefiningOp());
  Location location = tile.getLoc();
  auto times = [&](Value value, Value scale) -> Value {
    auto type = cast<RankedTensorType>(value.getType());
    if (std::optional<APFloat> number = constantOf(scale))
      scale = arith::ConstantOp::create(b, location, DenseElementsAttr::get(type, *number));
    else
      scale = tile::SplatOp::create(b, location, type, scale);
    return arith::MulFOp::create(b, location, value, scale);
  };
  Value sums = now ? times(chain.sums, now) : chain.sums;
  for (arith::SelectOp mask : llvm::reverse(chain.masks)) {
    bool isTrue = !isNothing(mask.getTrueValue());
    sums = arith::SelectOp::create(b, location, mask.getCondition(), isTrue ? sums : mask.getTrueValue(),
                                   isTrue ? mask.getFalseValue() : sums);
  }
  Value scaled = times(sums, later);
  for (Operation *user : llvm::to_vector(tile.getUsers()))
    if (auto reduce = dyn_cast<tile::ReduceOp>(user); reduce && isMaximum(reduce)) {
      reduce->setOperand(0, sums);
      b.setInsertionPointAfter(reduce);
      Value top = times(reduce.getResult(0), later);
      reduce.getResult(0).replaceAllUsesExcept(top, top.getDefiningOp());
    }
  tile.replaceAllUsesWith(scaled);
  for (arith::SelectOp mask : chain.masks)
    if (mask->use_empty())
      mask.erase();
  if (chain.scaled->use_empty())
    chain.scaled->erase();
}
} // namespace

void runScaleLate(KernelPass &pass) {
  if (!pass.getAnalysis<KernelAnalysis>().loops()) // elsewhere no mask, and no factor of 1, becomes a branch
    return pass.markAllAnalysesPreserved();
  SmallVector<std::pair<Value, scf::ForOp>> tiles;
  for (auto loop : pass.getOperation().getBody().getOps<scf::ForOp>())
    for (auto reduce : loop.getBody()->getOps<tile::ReduceOp>())
      if (isMaximum(reduce) && !llvm::is_contained(llvm::make_first_range(tiles), reduce.getOperand(0)))
        tiles.push_back({reduce.getOperand(0), loop});
  bool changes = false;
  for (auto [tile, loop] : tiles)
    if (std::optional<Chain> chain = chainOf(tile, loop)) {
      rewrite(tile, *chain, loop);
      changes = true;
    }
  if (!changes)
    pass.markAllAnalysesPreserved();
}

} // namespace tilery::block
