// Nests of updates: vectors of values and places are computed at once, then lanes are updated in order. Each is one indivisible step, unless
// nobody else updates memory at the time: then neighbours are updated as a vector, others by a load and a store each.
#include "compiler/explain/findings.h"
#include "compiler/lower/atomics.h"
#include "compiler/lower/loop.h"
#include "compiler/lower/nest.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace tilery::lower {
namespace {

/// A vector's lanes where single ones can be taken from: on the stack.
llvm::Value *spill(Emitter &e, llvm::Value *vector) {
  auto &b = e.b;
  llvm::AllocaInst *place;
  {
    llvm::IRBuilderBase::InsertPointGuard guard(b);
    llvm::BasicBlock &entry = b.GetInsertBlock()->getParent()->getEntryBlock();
    b.SetInsertPoint(&entry, entry.begin());
    place = b.CreateAlloca(vector->getType());
  }
  b.CreateStore(vector, place);
  return place;
}

} // namespace

void NestEmitter::updating() {
  sideBySide = 1; // lanes follow each other in any case
  twice(alone ? alone : e.b.getFalse(), [&](bool alone) {
    llvm::SaveAndRestore meets(indivisible, !alone);
    outer(0);
  });
}

void NestEmitter::update(tile::AtomicRmwOp op, Lanes values) {
  auto &b = e.b;
  explain::atomics(op);
  Address where = evaluator.addresses.ofPlace(op.getPlace(), point);
  Type element = elementOf(op.getValue());
  unsigned width = evaluator.width();
  AtomicOrder order{orderOf(op.getOrder()), op.getScope()};
  auto one = [&](llvm::Value *pointer, llvm::Value *value) {
    if (indivisible) {
      readModifyWrite(e, op.getKind(), element, pointer, value, order);
      return;
    }
    Address single = where;
    single.pointer = pointer;
    single.step = 0;
    single.offsets = single.exists = nullptr;
    Evaluator::Vector scope(evaluator, 1);
    evaluator.memory.store(single, combined(e, op.getKind(), element, evaluator.memory.load(single), value));
  };
  auto block = [&] { return llvm::BasicBlock::Create(e.context(), "", b.GetInsertBlock()->getParent()); };
  if (width > 1 && !indivisible && !where.offsets && where.step == 1) {
    values = e.splat(values, width);
    Lanes old = evaluator.memory.load(where);
    return evaluator.memory.store(where, combined(e, op.getKind(), element, old, values));
  }
  if (width == 1) {
    llvm::BasicBlock *yes = nullptr, *after = nullptr;
    if (where.exists) {
      b.CreateCondBr(where.exists, yes = block(), after = block());
      b.SetInsertPoint(yes);
    }
    one(where.pointer, values);
    if (after) {
      b.CreateBr(after);
      b.SetInsertPoint(after);
    }
    return;
  }
  // Lane by lane, those that exist.
  llvm::Type *memory = e.memoryType(element), *bits = b.getIntNTy(width);
  bool same = e.lanesOf(values) == 1;
  llvm::Value *from = same ? nullptr : spill(e, e.toMemory(values, element));
  llvm::Value *offsets = where.offsets;
  if (where.step) {
    llvm::Value *steps = b.CreateMul(e.iota(b.getInt64Ty(), width), e.splat(e.i64(where.step), width));
    offsets = offsets ? b.CreateAdd(offsets, steps) : steps;
  }
  llvm::Value *to = offsets ? spill(e, offsets) : nullptr;
  llvm::Value *exist = where.exists ? b.CreateBitCast(e.splat(where.exists, width), bits) : llvm::Constant::getAllOnesValue(bits);
  llvm::Value *none = llvm::ConstantInt::get(bits, 0);
  llvm::BasicBlock *head = block(), *exit = block();
  Loop loop(b, head, exit);
  loop.enter(b.CreateICmpNE(exist, none));
  llvm::PHINode *left = loop.carry(exist);
  llvm::Value *lane = b.CreateZExt(b.CreateIntrinsic(llvm::Intrinsic::cttz, {bits}, {left, b.getTrue()}), b.getInt64Ty());
  llvm::Value *pointer = where.pointer;
  if (to)
    pointer = b.CreateGEP(memory, pointer, b.CreateLoad(b.getInt64Ty(), b.CreateGEP(b.getInt64Ty(), to, lane)));
  llvm::Value *value = same ? values : e.fromMemory(b.CreateLoad(memory, b.CreateGEP(memory, from, lane)), element);
  one(pointer, value);
  llvm::Value *rest = b.CreateAnd(left, b.CreateSub(left, llvm::ConstantInt::get(bits, 1)));
  loop.repeat(rest, b.CreateICmpNE(rest, none));
  loop.leave();
}

} // namespace tilery::lower
