#include "check.h"

using namespace mlir;

namespace tilery::fuzz {
namespace {

/// The op at place `number` of a walk, in any clone of one module.
Operation *operationAt(ModuleOp module, size_t number) {
  Operation *found = nullptr;
  size_t at = 0;
  module.walk([&](Operation *op) {
    if (at++ == number)
      found = op;
  });
  return found;
}

void eraseUnused(ModuleOp module) {
  bool changed = true;
  while (changed) {
    changed = false;
    module.walk([&](Operation *op) {
      if (op->use_empty() && (isOpTriviallyDead(op) || isa<tile::AllocOp>(op))) {
        op->erase();
        changed = true;
      }
    });
  }
}

Value zero(OpBuilder &b, Location loc, Type type) {
  Type element = getElementTypeOrSelf(type);
  if (!isa<IntegerType, FloatType>(element))
    return {};
  return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
}

// One way to make the op go away: 0 erases it, k replaces its results by its k-th operand of the same type, the last by zero.
bool simplify(Operation *op, unsigned way) {
  if (op->hasTrait<OpTrait::IsTerminator>() || isa<ModuleOp, tile::KernelOp>(op) ||
      isa<tile::ReduceOp, tile::ScanOp>(op->getParentOp()))
    return false; // a combine region that changes is no longer associative
  if (op->getNumResults() == 0) {
    if (way == 0)
      op->erase();
    return way == 0;
  }
  if (way == 0 || isa<arith::ConstantOp>(op))
    return false;
  OpBuilder b(op);
  SmallVector<Value> replacements;
  for (Value result : op->getResults()) {
    Value replacement;
    if (way <= op->getNumOperands()) {
      if (op->getOperand(way - 1).getType() == result.getType())
        replacement = op->getOperand(way - 1);
    } else
      replacement = zero(b, op->getLoc(), result.getType());
    if (!replacement)
      return false;
    replacements.push_back(replacement);
  }
  op->replaceAllUsesWith(replacements);
  op->erase();
  return true;
}

} // namespace

void reduce(ModuleOp module, llvm::function_ref<bool(ModuleOp)> fails) {
  bool changed = true;
  while (changed) {
    changed = false;
    size_t count = 0;
    module.walk([&](Operation *) { ++count; });
    for (size_t number = count; number-- > 0;) {
      Operation *here = operationAt(module, number);
      if (!here)
        continue;
      for (unsigned way = 0, ways = here->getNumOperands() + 2; way < ways; ++way) {
        OwningOpRef<ModuleOp> trial = module.clone();
        if (!simplify(operationAt(*trial, number), way))
          continue;
        eraseUnused(*trial);
        if (!fails(*trial))
          continue;
        module.getBodyRegion().takeBody(trial->getBodyRegion());
        changed = true;
        break;
      }
    }
  }
}

} // namespace tilery::fuzz
