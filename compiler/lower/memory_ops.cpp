// Scalar and volatile accesses, elements of buffers, atomics: one element at a time.
#include "compiler/lower/codegen.h"
#include "compiler/lower/loop.h"

using namespace mlir;

namespace tilery::lower {

void KernelEmitter::loadOp(tile::LoadOp op) {
  auto read = [&](ArrayRef<Index> point) {
    Address where = evaluator.address(op.getPlace(), point);
    where.isVolatile = op.getIsVolatile();
    Lanes other = op.getOther() && where.exists ? evaluator.value(op.getOther(), point) : nullptr;
    return evaluator.load(where, other);
  };
  auto tensor = dyn_cast<RankedTensorType>(op.getType());
  if (!tensor) {
    evaluator.scalars[op] = read({});
    return;
  }
  int buffer = plan.storage.lookup(op.getResult());
  forEach(tensor.getShape(), [&](ArrayRef<Index> point) {
    evaluator.store(evaluator.scratchAddress(buffer, tensor.getShape(), point), read(point));
  });
}

void KernelEmitter::storeOp(tile::StoreOp op) {
  forEach(tile::shapeOf(op.getValue().getType()), [&](ArrayRef<Index> point) {
    Lanes value = evaluator.value(op.getValue(), point);
    Address where = evaluator.address(op.getPlace(), point);
    where.isVolatile = op.getIsVolatile();
    when(std::exchange(where.exists, nullptr), [&] { evaluator.store(where, value); });
  });
}

void KernelEmitter::bufferLoadOp(tile::BufferLoadOp op) {
  evaluator.scalars[op] = evaluator.load(evaluator.bufferAddress(op.getBuffer(), {}));
}

void KernelEmitter::bufferStoreOp(tile::BufferStoreOp op) {
  Address where = evaluator.bufferAddress(op.getBuffer(), {});
  if (op.getMask())
    where.exists = e.band(where.exists, evaluator.scalar(op.getMask()));
  when(std::exchange(where.exists, nullptr), [&] { evaluator.store(where, evaluator.scalar(op.getValue())); });
}

Point KernelEmitter::elementPoint(OperandRange indices, ArrayRef<int64_t> shape, Lanes &inside) {
  auto &b = e.b;
  Point point;
  for (auto [value, size] : llvm::zip(indices, shape)) {
    llvm::Value *index = evaluator.wide(value);
    point.push_back(Index{index});
    auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(index);
    if (fixed && fixed->getValue().ult(size))
      continue;
    inside = e.band(inside, b.CreateICmpULT(index, e.i64(size)));
  }
  return point;
}

void KernelEmitter::elementLoadOp(tile::ElementLoadOp op) {
  Lanes inside = nullptr;
  Point point = elementPoint(op.getIndices(), cast<tile::BufferType>(op.getBuffer().getType()).getShape(), inside);
  Address where = evaluator.bufferAddress(op.getBuffer(), point);
  where.exists = e.band(where.exists, inside);
  evaluator.scalars[op] = evaluator.load(where);
}

void KernelEmitter::elementStoreOp(tile::ElementStoreOp op) {
  Lanes inside = nullptr;
  Point point = elementPoint(op.getIndices(), cast<tile::BufferType>(op.getBuffer().getType()).getShape(), inside);
  Address where = evaluator.bufferAddress(op.getBuffer(), point);
  where.exists = e.band(where.exists, inside);
  when(std::exchange(where.exists, nullptr), [&] { evaluator.store(where, evaluator.scalar(op.getValue())); });
}

static llvm::AtomicOrdering orderOf(tile::MemoryOrder order) {
  switch (order) {
  case tile::MemoryOrder::relaxed:
    return llvm::AtomicOrdering::Monotonic;
  case tile::MemoryOrder::acquire:
    return llvm::AtomicOrdering::Acquire;
  case tile::MemoryOrder::release:
    return llvm::AtomicOrdering::Release;
  case tile::MemoryOrder::acq_rel:
    return llvm::AtomicOrdering::AcquireRelease;
  case tile::MemoryOrder::seq_cst:
    return llvm::AtomicOrdering::SequentiallyConsistent;
  }
  llvm_unreachable("order");
}

void KernelEmitter::atomically(Operation *op, Value place,
                               llvm::function_ref<llvm::Value *(llvm::Value *, ArrayRef<Index>)> update) {
  auto &b = e.b;
  Value result = op->getResult(0);
  auto tensor = dyn_cast<RankedTensorType>(result.getType());
  forEach(tile::shapeOf(result.getType()), [&](ArrayRef<Index> point) {
    Address where = evaluator.address(place, point);
    llvm::Value *zero = llvm::Constant::getNullValue(e.valueType(elementOf(result)));
    llvm::Value *old = nullptr;
    llvm::BasicBlock *before = b.GetInsertBlock(), *updated = nullptr;
    when(where.exists, [&] {
      old = update(where.pointer, point);
      updated = b.GetInsertBlock();
    });
    if (where.exists) {
      llvm::PHINode *merged = b.CreatePHI(old->getType(), 2);
      merged->addIncoming(old, updated);
      merged->addIncoming(zero, before);
      old = merged;
    }
    if (tensor)
      evaluator.store(evaluator.scratchAddress(plan.storage.lookup(result), tensor.getShape(), point), old);
    else
      evaluator.scalars[result] = old;
  });
}

void KernelEmitter::atomicRmwOp(tile::AtomicRmwOp op) {
  auto &b = e.b;
  Type element = elementOf(op.getValue());
  using R = llvm::AtomicRMWInst;
  static constexpr R::BinOp kinds[] = {R::Add,  R::FAdd, R::Max, R::Min, R::UMax, R::UMin,
                                       R::FMax, R::FMin, R::And, R::Or,  R::Xor,  R::Xchg};
  R::BinOp kind = kinds[unsigned(op.getKind())];
  bool real = isa<FloatType>(element), small = isSmallFloat(element);
  bool addsFloats = kind == R::FAdd && e.options.target.machine.floatAtomics && (element.isF32() || element.isF64());
  bool compareAndSwap = element.isInteger(1) || (real && kind != R::Xchg && !addsFloats);
  llvm::AtomicOrdering order = orderOf(op.getOrder());
  atomically(op, op.getPlace(), [&](llvm::Value *pointer, ArrayRef<Index> point) -> llvm::Value * {
    Lanes value = evaluator.value(op.getValue(), point);
    if (addsFloats)
      return b.CreateAtomicRMW(kind, pointer, value, llvm::MaybeAlign(elementBytes(element)), order);
    if (!compareAndSwap) {
      llvm::Type *bits = b.getIntNTy(elementBytes(element) * 8);
      llvm::Value *operand = real ? b.CreateBitCast(value, bits) : value;
      llvm::Value *old = b.CreateAtomicRMW(kind, pointer, operand, llvm::MaybeAlign(elementBytes(element)), order);
      return real ? b.CreateBitCast(old, e.valueType(element)) : old;
    }
    // What there is no instruction for: compute, then store if nobody else did.
    llvm::Type *bits = b.getIntNTy(elementBytes(element) * 8);
    auto toBits = [&](llvm::Value *v) { return b.CreateBitCast(e.toMemory(v, element), bits); };
    auto fromBits = [&](llvm::Value *v) { return e.fromMemory(b.CreateBitCast(v, e.memoryType(element)), element); };
    auto combine = [&](llvm::Value *old) -> llvm::Value * {
      llvm::Value *x = small ? e.widenFloat(old, element) : old, *y = small ? e.widenFloat(value, element) : value, *r = nullptr;
      switch (kind) {
      case R::FAdd:
        r = b.CreateFAdd(x, y);
        break;
      case R::FMax:
        r = b.CreateSelect(b.CreateFCmpUNO(y, y), x, b.CreateSelect(b.CreateFCmpOGT(x, y), x, y));
        break;
      case R::FMin:
        r = b.CreateSelect(b.CreateFCmpUNO(y, y), x, b.CreateSelect(b.CreateFCmpOLT(x, y), x, y));
        break;
      case R::And:
      case R::Min:
      case R::UMin:
        r = b.CreateAnd(x, y);
        break;
      case R::Or:
      case R::Max:
      case R::UMax:
        r = b.CreateOr(x, y);
        break;
      case R::Xor:
      case R::Add:
        r = b.CreateXor(x, y);
        break;
      default:
        r = y;
        break;
      }
      return small ? e.narrowFloat(r, element) : r;
    };
    llvm::Value *first = b.CreateLoad(bits, pointer);
    llvm::BasicBlock *retry = newBlock(), *done = newBlock();
    Loop loop(b, retry, done);
    loop.enter();
    llvm::PHINode *seen = loop.carry(first);
    llvm::Value *fresh = toBits(combine(fromBits(seen)));
    auto *swap = b.CreateAtomicCmpXchg(pointer, seen, fresh, llvm::MaybeAlign(elementBytes(element)), order,
                                       llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order));
    llvm::Value *current = b.CreateExtractValue(swap, 0);
    loop.repeatUnless(b.CreateExtractValue(swap, 1), current);
    loop.leave();
    return fromBits(seen);
  });
}

void KernelEmitter::atomicCasOp(tile::AtomicCasOp op) {
  auto &b = e.b;
  Type element = elementOf(op.getExpected());
  llvm::Type *bits = b.getIntNTy(elementBytes(element) * 8);
  llvm::AtomicOrdering order = orderOf(op.getOrder());
  atomically(op, op.getPlace(), [&](llvm::Value *pointer, ArrayRef<Index> point) -> llvm::Value * {
    auto toBits = [&](Value v) -> llvm::Value * {
      llvm::Value *value = e.toMemory(evaluator.value(v, point), element);
      return value->getType()->isPointerTy() ? b.CreatePtrToInt(value, bits) : b.CreateBitCast(value, bits);
    };
    auto *swap =
        b.CreateAtomicCmpXchg(pointer, toBits(op.getExpected()), toBits(op.getDesired()), llvm::MaybeAlign(elementBytes(element)),
                              order, llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order));
    llvm::Value *old = b.CreateExtractValue(swap, 0);
    if (isa<tile::PtrType>(element))
      return b.CreateIntToPtr(old, b.getPtrTy());
    return e.fromMemory(b.CreateBitCast(old, e.memoryType(element)), element);
  });
}

} // namespace tilery::lower
