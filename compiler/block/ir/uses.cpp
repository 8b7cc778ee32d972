#include "compiler/block/ir/uses.h"
#include "compiler/block/ir/Block.h"

using namespace mlir;

namespace tilery::block {

/// Where the value of this use comes out again.
static void addOutlets(OpOperand &use, SmallVectorImpl<Value> &outlets) {
  Operation *user = use.getOwner();
  unsigned number = use.getOperandNumber();
  auto carried = [&](auto loop, OperandRange inits, auto arguments) {
    if (number < inits.getBeginOperandIndex())
      return;
    outlets.push_back(arguments[number - inits.getBeginOperandIndex()]);
    outlets.push_back(loop->getResult(number - inits.getBeginOperandIndex()));
  };
  if (auto loop = dyn_cast<scf::ForOp>(user))
    return carried(loop, loop.getInitArgs(), loop.getRegionIterArgs());
  if (auto loop = dyn_cast<ProgramsOp>(user))
    return carried(loop, loop.getInits(), loop.getCarried());
  if (!isa<scf::YieldOp, YieldOp>(user))
    return;
  Operation *parent = user->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    outlets.push_back(loop.getRegionIterArg(number));
  if (auto loop = dyn_cast<ProgramsOp>(parent))
    outlets.push_back(loop.getCarried()[number]);
  if (number < parent->getNumResults())
    outlets.push_back(parent->getResult(number));
}

SmallVector<Value> flowOf(Value value) {
  llvm::SetVector<Value> flow;
  flow.insert(value);
  for (size_t i = 0; i < flow.size(); ++i)
    for (OpOperand &use : flow[i].getUses()) {
      SmallVector<Value> outlets;
      addOutlets(use, outlets);
      flow.insert(outlets.begin(), outlets.end());
    }
  return flow.takeVector();
}

static PathUses usesIn(Block &block, Value value, function_ref<bool(OpOperand &)> counts);

static PathUses usesIn(Region &region, Value value, function_ref<bool(OpOperand &)> counts) {
  return region.empty() ? PathUses{} : usesIn(region.front(), value, counts);
}

/// Of the op itself and of its regions.
static PathUses usesOf(Operation &op, Value value, function_ref<bool(OpOperand &)> counts) {
  PathUses result;
  for (OpOperand &operand : op.getOpOperands())
    if (operand.get() == value && counts(operand))
      ++result.least, ++result.most;
  if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
    PathUses branches{~0u, 0};
    for (Region &region : op.getRegions()) {
      PathUses inside = usesIn(region, value, counts);
      branches = {std::min(branches.least, inside.least), std::max(branches.most, inside.most)};
    }
    return {result.least + branches.least, result.most + branches.most};
  }
  bool once = isa<TurnOp, scf::ExecuteRegionOp>(op);
  for (Region &region : op.getRegions()) {
    PathUses inside = usesIn(region, value, counts);
    result.least += once ? inside.least : 0;
    result.most += once ? inside.most : 2 * inside.most;
  }
  return result;
}

static PathUses usesIn(Block &block, Value value, function_ref<bool(OpOperand &)> counts) {
  PathUses result;
  llvm::SmallPtrSet<Operation *, 8> holders; // ops of the block that use the value, or hold its users
  for (Operation *user : value.getUsers())
    if (Operation *holder = block.findAncestorOpInBlock(*user))
      holders.insert(holder);
  for (Operation *holder : holders) {
    PathUses inside = usesOf(*holder, value, counts);
    result = {result.least + inside.least, std::min(2u, result.most + inside.most)};
  }
  return result;
}

PathUses usesOnPaths(Value value, function_ref<bool(OpOperand &)> counts) {
  return usesIn(*value.getParentBlock(), value, counts);
}

bool precedes(Operation *before, Operation *op) {
  Operation *holder = before->getBlock()->findAncestorOpInBlock(*op);
  return holder && before != holder && before->isBeforeInBlock(holder);
}

} // namespace tilery::block
