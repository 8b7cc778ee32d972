#include "compiler/passes/known_masks.h"
#include "compiler/analysis/interval.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include <functional>

using namespace mlir;

namespace tilery::passes {
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

bool isCondition(Value value) { return getElementTypeOrSelf(value.getType()).isInteger(1); }
bool isTrue(Value mask) { return mask && isCondition(mask) && matchPattern(mask, m_One()); }

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

TypedAttr constantOf(Type type, bool value) {
  auto one = IntegerAttr::get(IntegerType::get(type.getContext(), 1), value);
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? TypedAttr(DenseElementsAttr::get(tile, one.getValue())) : TypedAttr(one);
}
} // namespace

void decideMask(Operation *op) {
  OpBuilder builder(op);
  auto become = [&](bool value) {
    Value result = op->getResult(0);
    result.replaceAllUsesWith(arith::ConstantOp::create(builder, op->getLoc(), constantOf(result.getType(), value)));
  };
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    if (std::optional<bool> result = decided(compare))
      become(*result);
  } else if (auto both = dyn_cast<arith::AndIOp>(op)) {
    if (isTrue(both.getLhs()) || isTrue(both.getRhs()))
      both.replaceAllUsesWith(isTrue(both.getLhs()) ? both.getRhs() : both.getLhs());
  } else if (isa<tile::BroadcastOp, tile::ReshapeOp, tile::ExpandDimsOp>(op)) {
    if (isTrue(op->getOperand(0)))
      become(true);
  } else if (auto access = dyn_cast<tile::AccessOp>(op)) {
    simplify(access);
  }
}

void separateBounds(tile::KernelOp kernel) {
  using Predicate = arith::CmpIPredicate;
  kernel.walk([](arith::CmpIOp compare) {
    Value number = compare.getLhs(), extent = compare.getRhs();
    std::optional<Interval> x = analysis::intervalOf(number), end = analysis::intervalOf(extent);
    if (compare.getPredicate() != Predicate::ult || !isa<RankedTensorType>(number.getType()) || !end || end->least < 0)
      return;
    OpBuilder b(compare);
    Location loc = compare.getLoc();
    Value inside = arith::CmpIOp::create(b, loc, Predicate::slt, number, extent);
    if (!x || x->least < 0) {
      Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(number.getType()));
      inside = arith::AndIOp::create(b, loc, arith::CmpIOp::create(b, loc, Predicate::sge, number, zero), inside);
    }
    compare.replaceAllUsesWith(inside);
    compare.erase();
  });
}

void decideMasks(tile::KernelOp kernel) {
  SmallVector<tile::AccessOp> accesses;
  llvm::SetVector<Operation *> conditions; // operands before users
  std::function<void(Value)> collect = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !isCondition(value) || conditions.contains(op))
      return;
    llvm::for_each(op->getOperands(), collect);
    conditions.insert(op);
  };
  kernel.walk([&](tile::AccessOp access) {
    accesses.push_back(access);
    llvm::for_each(access.getBounds(), collect);
    if (access.getResidual())
      collect(access.getResidual());
  });
  llvm::for_each(conditions, decideMask);
  llvm::for_each(accesses, decideMask);
}

} // namespace tilery::passes
