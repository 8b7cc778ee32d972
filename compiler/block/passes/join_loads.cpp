// join-loads: a branch that only says where a tile is loaded from becomes a load at a place that is chosen.
//
// Numbers are chosen as deep as the two ways to compute them are alike, so that what is one multiple of a stride stays one: the place is a
// box where both were.
#include "compiler/block/passes/passes.h"
#include "compiler/ir/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <map>

using namespace mlir;

namespace tilery::block {
namespace {

class Choice {
public:
  explicit Choice(scf::IfOp branch) : branch(branch), builder(branch) {}

  bool join() {
    for (auto [then, other] : llvm::zip(branch.thenYield().getOperands(), branch.elseYield().getOperands()))
      if (!areAlike(then, other))
        return false;
    for (Region *region : branch.getRegions())
      for (Operation &op : region->front().without_terminator())
        if (!isa<tile::LoadOp>(op) && !(isPure(&op) && op.getNumRegions() == 0))
          return false;
    for (Region *region : branch.getRegions())
      for (Operation &op : llvm::make_early_inc_range(region->front().without_terminator()))
        if (!isa<tile::LoadOp>(op))
          op.moveBefore(branch);
    SmallVector<Value> results;
    for (auto [then, other] : llvm::zip(branch.thenYield().getOperands(), branch.elseYield().getOperands()))
      results.push_back(loaded(then.getDefiningOp<tile::LoadOp>(), other.getDefiningOp<tile::LoadOp>()));
    branch.replaceAllUsesWith(results);
    branch.erase();
    return true;
  }

private:
  tile::AccessOp placeOf(tile::LoadOp load) const { return load.getPlace().getDefiningOp<tile::AccessOp>(); }

  /// Loads of the branch that differ in numbers alone.
  bool areAlike(Value then, Value other) const {
    auto a = then.getDefiningOp<tile::LoadOp>(), b = other.getDefiningOp<tile::LoadOp>();
    if (!a || !b || !isa<RankedTensorType>(a.getType()) || a->getParentOp() != branch || b->getParentOp() != branch ||
        a.getIsVolatile() || b.getIsVolatile() || a->getAttrs() != b->getAttrs() || a.getOther() != b.getOther())
      return false;
    tile::AccessOp from = placeOf(a), to = placeOf(b);
    auto isNumber = [](Value value) { return !isa<RankedTensorType>(value.getType()); };
    return from && to && from.getBase() == to.getBase() && llvm::equal(from.getSteps(), to.getSteps()) && !from.getResidual() &&
           !to.getResidual() && from.getBoundKinds() == to.getBoundKinds() && llvm::all_of(from->getOperands(), isNumber) &&
           llvm::all_of(to->getOperands(), isNumber);
  }

  Value loaded(tile::LoadOp then, tile::LoadOp other) {
    tile::AccessOp from = placeOf(then), to = placeOf(other);
    SmallVector<Value> bounds;
    for (auto [a, b] : llvm::zip(from.getBounds(), to.getBounds()))
      bounds.push_back(chosen(a, b));
    Value place =
        tile::AccessOp::create(builder, from.getLoc(), from.getType(), from.getBase(), chosen(from.getOffset(), to.getOffset()),
                               from.getSteps(), bounds, Value(), from.getBoundKinds());
    auto load = cast<tile::LoadOp>(builder.clone(*then));
    load.getPlaceMutable().assign(place);
    return load;
  }

  Value chosen(Value then, Value other) {
    if (then == other)
      return then;
    Value &known = choices[{then.getAsOpaquePointer(), other.getAsOpaquePointer()}];
    if (known)
      return known;
    Operation *a = then.getDefiningOp(), *b = other.getDefiningOp();
    if (!a || !b || a->getName() != b->getName() || a->getNumResults() != 1 || a->getNumRegions() || !isPure(a) ||
        !llvm::equal(a->getOperandTypes(), b->getOperandTypes()) || then.getType() != other.getType() ||
        a->getAttrDictionary() != b->getAttrDictionary() || a->hasTrait<OpTrait::ConstantLike>())
      return known = arith::SelectOp::create(builder, branch.getLoc(), branch.getCondition(), then, other);
    SmallVector<Value> operands;
    for (auto [x, y] : llvm::zip(a->getOperands(), b->getOperands()))
      operands.push_back(chosen(x, y));
    Operation *again = builder.clone(*a);
    again->setOperands(operands);
    return choices[{then.getAsOpaquePointer(), other.getAsOpaquePointer()}] = again->getResult(0);
  }

  scf::IfOp branch;
  OpBuilder builder;
  std::map<std::pair<const void *, const void *>, Value> choices;
};
} // namespace

void runJoinLoads(tile::KernelOp kernel) {
  SmallVector<scf::IfOp> branches;
  kernel.walk([&](scf::IfOp branch) {
    if (branch.getNumResults())
      branches.push_back(branch);
  });
  for (scf::IfOp branch : branches)
    Choice(branch).join();
}

} // namespace tilery::block
