// open-contractions: a contraction beside other products (linear attention's chunks: two sums from one loop, multiplied behind it) becomes
// its loop again; contractions over the same steps share one, and what they load alike.
#include "compiler/block/passes/passes.h"
#include "compiler/ir/Tile.h"
#include "compiler/ir/partial_sums.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilery::block {
namespace {

/// Everything that the contraction takes from outside is there in front of `place`.
bool canStandAt(tile::ContractOp contract, Operation *place) {
  bool can = true;
  auto look = [&](Value value) {
    Operation *op = value.getDefiningOp();
    can &= !op || contract->isAncestor(op) || op->getBlock() != place->getBlock() || op->isBeforeInBlock(place);
  };
  contract->walk([&](Operation *op) { llvm::for_each(op->getOperands(), look); });
  return can;
}

/// Contractions of a block, and of what stands in it, that one loop makes: nothing between them has effects.
void addGroups(Block &block, SmallVectorImpl<SmallVector<tile::ContractOp>> &groups) {
  bool goesOn = false;
  for (Operation &op : block) {
    if (auto contract = dyn_cast<tile::ContractOp>(op)) {
      if (!goesOn || contract.getSteps() != groups.back()[0].getSteps() || !canStandAt(contract, groups.back()[0]))
        groups.emplace_back();
      groups.back().push_back(contract);
      goesOn = true;
    } else {
      size_t before = groups.size();
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          addGroups(inner, groups);
      goesOn &= groups.size() == before && (isMemoryEffectFree(&op) || isa<tile::LoadOp>(op));
    }
  }
}

/// An op of the block that does the same.
Operation *sameOp(Operation *made) {
  for (Operation &op : *made->getBlock())
    if (&op == made)
      return nullptr;
    else if (!op.getNumRegions() && (isMemoryEffectFree(&op) || isa<tile::LoadOp>(op)) &&
             OperationEquivalence::isEquivalentTo(&op, made, OperationEquivalence::IgnoreLocations))
      return &op;
  return nullptr;
}

void makeLoop(ArrayRef<tile::ContractOp> group) {
  tile::ContractOp first = group[0];
  OpBuilder b(first);
  Location location = first.getLoc();
  auto number = [&](int32_t value) -> Value { return arith::ConstantOp::create(b, location, b.getI32IntegerAttr(value)); };
  Value steps = arith::TruncIOp::create(b, location, b.getI32Type(), first.getSteps());
  SmallVector<Value> sums;
  for (tile::ContractOp contract : group)
    sums.push_back(contract.getAcc());
  auto loop = scf::ForOp::create(b, location, number(0), steps, number(1), sums);
  if (auto stages = first.getNumStagesAttr())
    loop->setAttr("tile.num_stages", stages);
  b.setInsertionPointToStart(loop.getBody());
  Value step = arith::ExtSIOp::create(b, location, b.getI64Type(), loop.getInductionVar());
  SmallVector<Value> results;
  for (auto [each, sum] : llvm::zip(group, loop.getRegionIterArgs())) {
    tile::ContractOp contract = each;
    Block &body = contract.getBody().front();
    IRMapping map;
    map.map(body.getArgument(0), step);
    for (Operation &op : body.without_terminator()) {
      Operation *made = b.clone(op, map);
      if (Operation *same = sameOp(made)) {
        for (auto [from, to] : llvm::zip(op.getResults(), same->getResults()))
          map.map(from, to);
        made->erase();
      }
    }
    Operation *yield = body.getTerminator();
    auto type = cast<RankedTensorType>(contract.getType());
    bool addsApart = tile::partialSums(contract);
    Value start = addsApart ? Value(arith::ConstantOp::create(b, location, b.getZeroAttr(type))) : sum;
    Value result = tile::DotOp::create(b, contract.getLoc(), type, map.lookupOrDefault(yield->getOperand(0)),
                                       map.lookupOrDefault(yield->getOperand(1)), start, Value(), contract.getPrecision(),
                                       contract.getAUnsigned(), contract.getBUnsigned(), contract.getLive());
    results.push_back(addsApart ? Value(arith::AddFOp::create(b, contract.getLoc(), sum, result)) : result);
  }
  scf::YieldOp::create(b, location, results);
  for (auto [contract, result] : llvm::zip(group, loop.getResults())) {
    tile::ContractOp(contract).getResult().replaceAllUsesWith(result);
    tile::ContractOp(contract).erase();
  }
}

unsigned countProducts(tile::KernelOp kernel) {
  unsigned count = 0;
  kernel.walk(
      [&](Operation *op) { count += isa<tile::ContractOp, tile::DotOp>(op) && !op->getParentOfType<tile::ContractOp>(); });
  return count;
}
} // namespace

bool openContractions(tile::KernelOp kernel) {
  SmallVector<SmallVector<tile::ContractOp>> groups;
  addGroups(kernel.getBody().front(), groups);
  for (ArrayRef<tile::ContractOp> group : groups)
    makeLoop(group);
  return !groups.empty();
}

void runOpenContractions(tile::KernelOp kernel) {
  if (countProducts(kernel) > 1)
    openContractions(kernel);
}

} // namespace tilery::block
