// Scalar and volatile accesses, elements of buffers, atomics: one element at a time.
#include "compiler/analysis/interval.h"
#include "compiler/lower/codegen.h"
#include "compiler/lower/loop.h"

using namespace mlir;

namespace tilery::lower {

void KernelEmitter::loadOp(tile::LoadOp op) {
  auto read = [&](ArrayRef<Index> point) {
    Address where = evaluator.addressOf(op, point);
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
    Address where = evaluator.addressOf(op, point);
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
  Address where = evaluator.bufferAddress(buffer, point);
  where.exists = e.band(where.exists, inside);
  return where;
}

void KernelEmitter::elementLoadOp(tile::ElementLoadOp op) {
  evaluator.scalars[op] = evaluator.load(elementAddress(op.getBuffer(), op.getIndices()));
}

void KernelEmitter::elementStoreOp(tile::ElementStoreOp op) {
  Address where = elementAddress(op.getBuffer(), op.getIndices());
  when(std::exchange(where.exists, nullptr), [&] { evaluator.store(where, evaluator.scalar(op.getValue())); });
}

void KernelEmitter::elementUpdateOp(tile::ElementUpdateOp op) {
  Address where = elementAddress(op.getBuffer(), op.getIndices());
  llvm::Value *old = evaluator.load(where);
  llvm::Value *fresh = combined(op.getKind(), op.getValue().getType(), old, evaluator.scalar(op.getValue()));
  when(std::exchange(where.exists, nullptr), [&] { evaluator.store(where, fresh); });
  evaluator.scalars[op] = old;
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

void KernelEmitter::atomically(Operation *op, llvm::function_ref<Address(ArrayRef<Index>)> where, Update update) {
  auto &b = e.b;
  Value result = op->getResult(0);
  auto tensor = dyn_cast<RankedTensorType>(result.getType());
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
    if (tensor)
      evaluator.store(evaluator.scratchAddress(plan.storage.lookup(result), tensor.getShape(), point), old);
    else
      evaluator.scalars[result] = old;
  });
}

llvm::Value *KernelEmitter::combined(tile::RmwKind kind, Type element, llvm::Value *old, llvm::Value *value) {
  auto &b = e.b;
  using K = tile::RmwKind;
  bool small = isSmallFloat(element);
  llvm::Value *x = small ? e.widenFloat(old, element) : old, *y = small ? e.widenFloat(value, element) : value, *r = y;
  if (element.isInteger(1)) { // one bit
    if (kind == K::exchange)
      return y;
    if (kind == K::add || kind == K::xor_)
      return b.CreateXor(x, y);
    return kind == K::and_ || kind == K::umin || kind == K::max ? b.CreateAnd(x, y) : b.CreateOr(x, y);
  }
  auto pick = [&](llvm::Value *keep) { return b.CreateSelect(keep, x, y); };
  switch (kind) {
  case K::add:
    r = b.CreateAdd(x, y);
    break;
  case K::fadd:
    r = b.CreateFAdd(x, y);
    break;
  case K::max:
    r = pick(b.CreateICmpSGT(x, y));
    break;
  case K::min:
    r = pick(b.CreateICmpSLT(x, y));
    break;
  case K::umax:
    r = pick(b.CreateICmpUGT(x, y));
    break;
  case K::umin:
    r = pick(b.CreateICmpULT(x, y));
    break;
  case K::fmax: // NaN loses
    r = b.CreateSelect(b.CreateFCmpUNO(y, y), x, pick(b.CreateFCmpOGT(x, y)));
    break;
  case K::fmin:
    r = b.CreateSelect(b.CreateFCmpUNO(y, y), x, pick(b.CreateFCmpOLT(x, y)));
    break;
  case K::and_:
    r = b.CreateAnd(x, y);
    break;
  case K::or_:
    r = b.CreateOr(x, y);
    break;
  case K::xor_:
    r = b.CreateXor(x, y);
    break;
  case K::exchange:
    break;
  }
  return small ? e.narrowFloat(r, element) : r;
}

/// LLVM's words for it.
static std::pair<llvm::AtomicOrdering, llvm::SyncScope::ID> orderOf(Emitter &e, std::optional<AtomicOrder> as) {
  if (!as)
    return {llvm::AtomicOrdering::Monotonic, llvm::SyncScope::System};
  StringRef name = e.options.target.syncScope(as->scope);
  return {as->order, name.empty() ? llvm::SyncScope::System : e.context().getOrInsertSyncScopeID(name)};
}

std::pair<llvm::Value *, llvm::Value *> KernelEmitter::compareAndSwap(llvm::Value *pointer, llvm::Value *expected,
                                                                      llvm::Value *desired, std::optional<AtomicOrder> as) {
  auto &b = e.b;
  if (as)
    if (llvm::Value *old = e.options.target.compareAndSwap(e, pointer, expected, desired, *as))
      return {old, b.CreateICmpEQ(old, expected)};
  auto [order, scope] = orderOf(e, as);
  auto *swap = b.CreateAtomicCmpXchg(pointer, expected, desired, llvm::MaybeAlign(expected->getType()->getIntegerBitWidth() / 8),
                                     order, llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order), scope);
  return {b.CreateExtractValue(swap, 0), b.CreateExtractValue(swap, 1)};
}

llvm::Value *KernelEmitter::readModifyWrite(tile::RmwKind rmw, Type element, llvm::Value *pointer, llvm::Value *value,
                                            std::optional<AtomicOrder> as) {
  auto &b = e.b;
  using R = llvm::AtomicRMWInst;
  static constexpr R::BinOp kinds[] = {R::Add,  R::FAdd, R::Max, R::Min, R::UMax, R::UMin,
                                       R::FMax, R::FMin, R::And, R::Or,  R::Xor,  R::Xchg};
  R::BinOp kind = kinds[unsigned(rmw)];
  unsigned bytes = elementBytes(element);
  llvm::Type *bits = b.getIntNTy(bytes * 8);
  bool pointers = isa<tile::PtrType>(element), real = isa<FloatType>(element);
  auto toBits = [&](llvm::Value *v) {
    return pointers ? b.CreatePtrToInt(v, bits) : b.CreateBitCast(e.toMemory(v, element), bits);
  };
  auto fromBits = [&](llvm::Value *v) -> llvm::Value * {
    return pointers ? b.CreateIntToPtr(v, b.getPtrTy()) : e.fromMemory(b.CreateBitCast(v, e.memoryType(element)), element);
  };
  bool ordered = as && e.options.target.ordersAtomics(bytes * 8, as->order);
  if (ordered)
    if (llvm::Value *old = e.options.target.update(e, rmw, element, pointer, toBits(value), *as))
      return fromBits(old);
  bool addsFloats = kind == R::FAdd && e.options.target.machine.floatAtomics && (element.isF32() || element.isF64());
  if (!ordered && !element.isInteger(1) && (!real || kind == R::Xchg || addsFloats)) {
    llvm::Value *operand = real && !addsFloats ? b.CreateBitCast(value, bits) : value;
    auto [order, scope] = orderOf(e, as);
    llvm::Value *old = b.CreateAtomicRMW(kind, pointer, operand, llvm::MaybeAlign(bytes), order, scope);
    return real && !addsFloats ? b.CreateBitCast(old, e.valueType(element)) : old;
  }
  // What there is no instruction for: compute, then store if nobody else did.
  llvm::Value *first = b.CreateLoad(bits, pointer);
  llvm::BasicBlock *retry = newBlock(), *done = newBlock();
  Loop loop(b, retry, done);
  loop.enter();
  llvm::PHINode *seen = loop.carry(first);
  auto [current, swapped] = compareAndSwap(pointer, seen, toBits(combined(rmw, element, fromBits(seen), value)), as);
  loop.repeatUnless(swapped, current);
  loop.leave();
  return fromBits(seen);
}

void KernelEmitter::atomicRmwOp(tile::AtomicRmwOp op) {
  Type element = elementOf(op.getValue());
  AtomicOrder as{orderOf(op.getOrder()), op.getScope()};
  bool once = !isa<RankedTensorType>(op.getResult().getType());
  // All lanes of a tile are behind one fence, a scalar's instruction may know the order itself.
  bool fenced =
      e.options.target.machine.relaxedAtomics && !(once && e.options.target.ordersAtomics(elementBytes(element) * 8, as.order));
  AtomicOrder each = fenced ? AtomicOrder{llvm::AtomicOrdering::Monotonic, as.scope} : as;
  auto release = [&] {
    if (fenced && llvm::isReleaseOrStronger(as.order))
      e.b.CreateFence(as.order == llvm::AtomicOrdering::SequentiallyConsistent ? as.order : llvm::AtomicOrdering::Release,
                      orderOf(e, as).second);
  };
  auto acquire = [&] {
    if (fenced && llvm::isAcquireOrStronger(as.order))
      e.b.CreateFence(llvm::AtomicOrdering::Acquire, orderOf(e, as).second);
  };
  if (!once)
    release();
  atomically(
      op, [&](ArrayRef<Index> point) { return evaluator.address(op.getPlace(), point); },
      [&](llvm::Value *pointer, ArrayRef<Index> point) {
        if (once)
          release();
        llvm::Value *old = readModifyWrite(op.getKind(), element, pointer, evaluator.value(op.getValue(), point), each);
        if (once)
          acquire();
        return old;
      });
  if (!once)
    acquire();
}

void KernelEmitter::atomicCasOp(tile::AtomicCasOp op) {
  auto &b = e.b;
  Type element = elementOf(op.getExpected());
  llvm::Type *bits = b.getIntNTy(elementBytes(element) * 8);
  auto where = [&](ArrayRef<Index> point) { return evaluator.address(op.getPlace(), point); };
  atomically(op, where, [&](llvm::Value *pointer, ArrayRef<Index> point) -> llvm::Value * {
    auto toBits = [&](Value v) -> llvm::Value * {
      llvm::Value *value = e.toMemory(evaluator.value(v, point), element);
      return value->getType()->isPointerTy() ? b.CreatePtrToInt(value, bits) : b.CreateBitCast(value, bits);
    };
    llvm::Value *old = compareAndSwap(pointer, toBits(op.getExpected()), toBits(op.getDesired()),
                                      AtomicOrder{orderOf(op.getOrder()), op.getScope()})
                           .first;
    if (isa<tile::PtrType>(element))
      return b.CreateIntToPtr(old, b.getPtrTy());
    return e.fromMemory(b.CreateBitCast(old, e.memoryType(element)), element);
  });
}

} // namespace tilery::lower
