// decide-masks: comparisons that come out the same for every element that threads fetch are no part of their masks, and a choice between
// what is loaded and zero is part of the load's.
//
// A window of an image that begins before the last row minus the window's height lies inside: no lane needs to ask.
#include "compiler/analysis/interval.h"
#include "compiler/block/find_kernel.h"
#include "compiler/block/passes.h"
#include "compiler/ir/zero.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilery::block {
namespace {
using analysis::Interval;

/// Nothing where elements differ, or may.
std::optional<bool> decided(arith::CmpIOp compare) {
  std::optional<Interval> x = analysis::intervalOf(compare.getLhs()), y = analysis::intervalOf(compare.getRhs());
  if (!x || !y)
    return std::nullopt;
  auto below = [](const Interval &a, const Interval &b) -> std::optional<bool> { // a < b
    return a.greatest < b.least ? std::optional(true) : a.least >= b.greatest ? std::optional(false) : std::nullopt;
  };
  auto opposite = [](std::optional<bool> value) { return value ? std::optional(!*value) : value; };
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::ult:
    return x->least >= 0 && y->least >= 0 ? below(*x, *y) : std::nullopt;
  case arith::CmpIPredicate::slt:
    return below(*x, *y);
  case arith::CmpIPredicate::sgt:
    return below(*y, *x);
  case arith::CmpIPredicate::sge:
    return opposite(below(*x, *y));
  case arith::CmpIPredicate::sle:
    return opposite(below(*y, *x));
  default:
    return std::nullopt;
  }
}

bool isTrue(Value mask) { return mask && matchPattern(mask, m_One()); }

/// Tiles of ops that the fetched factors are computed from, operands before users.
llvm::SetVector<Operation *> fetchedOps(const BoxProduct &product) {
  llvm::SetVector<Operation *> reached;
  auto add = [&](auto &self, Value value) -> void {
    Operation *op = value.getDefiningOp();
    if (!op || reached.contains(op))
      return;
    for (Value operand : op->getOperands())
      self(self, operand);
    reached.insert(op);
  };
  for (const std::optional<FetchedFactor> *factor : {&product.fetchedA, &product.fetchedB})
    if (*factor)
      add(add, (*factor)->tile);
  return reached;
}

/// The access without bounds that always hold.
void simplify(tile::AccessOp access) {
  if (isTrue(access.getResidual()))
    access.getResidualMutable().clear();
  SmallVector<int32_t> kinds(access.getBoundKinds());
  SmallVector<Value> bounds;
  for (auto [d, kind] : llvm::enumerate(kinds)) {
    OperandRange bound = access.getBound(d);
    if (bound.size() == 1 && isTrue(bound[0]))
      kind = 0;
    else
      llvm::append_range(bounds, bound);
  }
  access.setBoundKinds(kinds);
  access.getBoundsMutable().assign(bounds);
}

/// `condition ? load : 0` as a load of the lanes for which it holds; null: it is anything else.
Value maskedLoad(arith::SelectOp choice, OpBuilder &builder) {
  auto load = choice.getTrueValue().getDefiningOp<tile::LoadOp>();
  auto access = load ? load.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
  bool isZero = tile::isPlusZero(choice.getFalseValue());
  auto type = dyn_cast<RankedTensorType>(choice.getType());
  if (!access || !type || !isZero || load.getIsVolatile() || !load->hasOneUse() ||
      !isa<RankedTensorType>(choice.getCondition().getType()) || (load.getOther() && !tile::isPlusZero(load.getOther())))
    return {};
  Value mask = choice.getCondition(), before = access.getResidual();
  if (before && !isa<RankedTensorType>(before.getType()))
    before = tile::SplatOp::create(builder, choice.getLoc(), mask.getType(), before);
  if (before)
    mask = arith::AndIOp::create(builder, choice.getLoc(), before, mask);
  auto place = cast<tile::AccessOp>(builder.clone(*access));
  place.getResidualMutable().assign(mask);
  return tile::LoadOp::create(builder, load.getLoc(), type, place, Value(), false, load.getCacheAttr(), load.getEvictionAttr());
}

struct DecideMasks : PassWrapper<DecideMasks, OperationPass<tile::KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DecideMasks)
  StringRef getArgument() const final { return "decide-masks"; }
  StringRef getDescription() const final { return "masks of fetched factors lose comparisons whose results are known"; }

  void runOnOperation() final {
    std::string why;
    std::optional<FoundKernel> found = findAnyKernel(getOperation(), why);
    auto *kernel = found ? std::get_if<ProductKernel>(&*found) : nullptr;
    if (!kernel)
      return;
    for (Operation *op : fetchedOps(kernel->product)) {
      OpBuilder builder(op);
      if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
        if (std::optional<bool> result = decided(compare))
          compare.replaceAllUsesWith(
              arith::ConstantOp::create(builder, op->getLoc(), constantOf(compare.getType(), *result)).getResult());
      } else if (auto both = dyn_cast<arith::AndIOp>(op)) {
        if (isTrue(both.getLhs()) || isTrue(both.getRhs()))
          both.replaceAllUsesWith(isTrue(both.getLhs()) ? both.getRhs() : both.getLhs());
      } else if (isa<tile::BroadcastOp, tile::ReshapeOp, tile::ExpandDimsOp>(op) && isTrue(op->getOperand(0))) {
        op->getResult(0).replaceAllUsesWith(
            arith::ConstantOp::create(builder, op->getLoc(), constantOf(op->getResult(0).getType(), true)).getResult());
      } else if (auto access = dyn_cast<tile::AccessOp>(op)) {
        simplify(access);
      } else if (auto choice = dyn_cast<arith::SelectOp>(op)) {
        if (Value load = maskedLoad(choice, builder))
          choice.replaceAllUsesWith(load);
      }
    }
  }

  static TypedAttr constantOf(Type type, bool value) {
    auto one = IntegerAttr::get(IntegerType::get(type.getContext(), 1), value);
    auto tile = dyn_cast<RankedTensorType>(type);
    return tile ? TypedAttr(DenseElementsAttr::get(tile, one.getValue())) : TypedAttr(one);
  }
};
} // namespace

std::unique_ptr<Pass> createDecideMasks() { return std::make_unique<DecideMasks>(); }

} // namespace tilery::block
