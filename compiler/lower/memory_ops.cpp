// Scalar and volatile accesses, elements of buffers, atomics: one element at a time.
#include "compiler/analysis/interval.h"
#include "compiler/explain/findings.h"
#include "compiler/lower/atomics.h"
#include "compiler/lower/codegen.h"
#include "compiler/lower/loop.h"

using namespace mlir;

namespace tilery::lower {

void KernelEmitter::loadOp(tile::LoadOp op) {
  auto read = [&](ArrayRef<Index> point) {
    Address where = evaluator.addresses.ofAccess(op, point);
    Lanes other = op.getOther() && where.exists ? evaluator.value(op.getOther(), point) : nullptr;
    return evaluator.memory.load(where, other);
  };
  auto tensor = dyn_cast<RankedTensorType>(op.getType());
  if (!tensor) {
    evaluator.scalars[op] = read({});
    return;
  }
  explain::oneByOne(op, "the load is volatile");
  int buffer = plan.storage.lookup(op.getResult());
  forEach(tensor.getShape(), [&](ArrayRef<Index> point) {
    evaluator.memory.store(evaluator.addresses.ofStored(buffer, tensor.getShape(), point), read(point));
  });
}

void KernelEmitter::storeOp(tile::StoreOp op) {
  if (isa<RankedTensorType>(op.getValue().getType()))
    explain::oneByOne(op, op.getIsVolatile() ? "the store is volatile" : "lanes of the store may meet");
  forEach(tile::shapeOf(op.getValue().getType()), [&](ArrayRef<Index> point) {
    Lanes value = evaluator.value(op.getValue(), point);
    Address where = evaluator.addresses.ofAccess(op, point);
    when(std::exchange(where.exists, nullptr), [&] { evaluator.memory.store(where, value); });
  });
}

void KernelEmitter::bufferLoadOp(tile::BufferLoadOp op) {
  evaluator.scalars[op] = evaluator.memory.load(evaluator.addresses.ofBuffer(op.getBuffer(), {}));
}

void KernelEmitter::bufferStoreOp(tile::BufferStoreOp op) {
  Address where = evaluator.addresses.ofBuffer(op.getBuffer(), {});
  if (op.getMask())
    where.exists = e.band(where.exists, evaluator.scalar(op.getMask()));
  when(std::exchange(where.exists, nullptr), [&] { evaluator.memory.store(where, evaluator.scalar(op.getValue())); });
}

Point KernelEmitter::elementPoint(OperandRange indices, ArrayRef<int64_t> shape, Lanes &inside) {
  auto &b = e.b;
  Point point;
  for (auto [value, size] : llvm::zip(indices, shape)) {
    llvm::Value *index = evaluator.wide(value);
    point.push_back(Index{index});
    auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(index);
    auto known = analysis::intervalOf(value);
    if ((fixed && fixed->getValue().ult(size)) || (known && known->least >= 0 && known->greatest < size))
      continue;
    inside = e.band(inside, b.CreateICmpULT(index, e.i64(size)));
  }
  return point;
}

Address KernelEmitter::elementAddress(Value buffer, OperandRange indices) {
  Lanes inside = nullptr;
  Point point = elementPoint(indices, cast<tile::BufferType>(buffer.getType()).getShape(), inside);
  Address where = evaluator.addresses.ofBuffer(buffer, point);
  where.exists = e.band(where.exists, inside);
  return where;
}

void KernelEmitter::elementLoadOp(tile::ElementLoadOp op) {
  evaluator.scalars[op] = evaluator.memory.load(elementAddress(op.getBuffer(), op.getIndices()));
}

void KernelEmitter::elementStoreOp(tile::ElementStoreOp op) {
  if (op->getParentOfType<scf::ForOp>() && !runsInThreads(op))
    explain::oneByOne(op, "a serial loop stores elements of a buffer");
  Address where = elementAddress(op.getBuffer(), op.getIndices());
  when(std::exchange(where.exists, nullptr), [&] { evaluator.memory.store(where, evaluator.scalar(op.getValue())); });
}

void KernelEmitter::elementUpdateOp(tile::ElementUpdateOp op) {
  Address where = elementAddress(op.getBuffer(), op.getIndices());
  llvm::Value *old = evaluator.memory.load(where);
  llvm::Value *fresh = combined(e, op.getKind(), op.getValue().getType(), old, evaluator.scalar(op.getValue()));
  when(std::exchange(where.exists, nullptr), [&] { evaluator.memory.store(where, fresh); });
  evaluator.scalars[op] = old;
}

void KernelEmitter::atomically(Operation *op, llvm::function_ref<Address(ArrayRef<Index>)> where, Update update) {
  auto &b = e.b;
  Value result = op->getResult(0);
  auto tensor = dyn_cast<RankedTensorType>(result.getType());
  if (tensor)
    explain::atomics(op);
  forEach(tile::shapeOf(result.getType()), [&](ArrayRef<Index> point) {
    Address address = where(point);
    llvm::Value *zero = llvm::Constant::getNullValue(e.valueType(elementOf(result)));
    llvm::Value *old = nullptr;
    llvm::BasicBlock *before = b.GetInsertBlock(), *updated = nullptr;
    when(address.exists, [&] {
      old = update(address.pointer, point);
      updated = b.GetInsertBlock();
    });
    if (address.exists) {
      llvm::PHINode *merged = b.CreatePHI(old->getType(), 2);
      merged->addIncoming(old, updated);
      merged->addIncoming(zero, before);
      old = merged;
    }
    if (tensor && !result.use_empty())
      evaluator.memory.store(evaluator.addresses.ofStored(plan.storage.lookup(result), tensor.getShape(), point), old);
    else
      evaluator.scalars[result] = old;
  });
}

void KernelEmitter::atomicRmwOp(tile::AtomicRmwOp op) {
  Type element = elementOf(op.getValue());
  bool once = !isa<RankedTensorType>(op.getResult().getType());
  OrderedUpdates ordered(e, {orderOf(op.getOrder()), op.getScope()}, elementBytes(element) * 8, once);
  if (!once)
    ordered.release();
  atomically(
      op, [&](ArrayRef<Index> point) { return evaluator.addresses.ofPlace(op.getPlace(), point); },
      [&](llvm::Value *pointer, ArrayRef<Index> point) {
        if (once)
          ordered.release();
        llvm::Value *old =
            readModifyWrite(e, op.getKind(), element, pointer, evaluator.value(op.getValue(), point), ordered.each);
        if (once)
          ordered.acquire();
        return old;
      });
  if (!once)
    ordered.acquire();
}

void KernelEmitter::atomicCasOp(tile::AtomicCasOp op) {
  auto &b = e.b;
  Type element = elementOf(op.getExpected());
  llvm::Type *bits = b.getIntNTy(elementBytes(element) * 8);
  auto where = [&](ArrayRef<Index> point) { return evaluator.addresses.ofPlace(op.getPlace(), point); };
  atomically(op, where, [&](llvm::Value *pointer, ArrayRef<Index> point) -> llvm::Value * {
    auto toBits = [&](Value v) -> llvm::Value * {
      llvm::Value *value = e.toMemory(evaluator.value(v, point), element);
      return value->getType()->isPointerTy() ? b.CreatePtrToInt(value, bits) : b.CreateBitCast(value, bits);
    };
    llvm::Value *old = compareAndSwap(e, pointer, toBits(op.getExpected()), toBits(op.getDesired()),
                                      AtomicOrder{orderOf(op.getOrder()), op.getScope()})
                           .first;
    if (isa<tile::PtrType>(element))
      return b.CreateIntToPtr(old, b.getPtrTy());
    return e.fromMemory(b.CreateBitCast(old, e.memoryType(element)), element);
  });
}

} // namespace tilery::lower
