// Atomic steps on memory: by one instruction where the target has it, else by compare and swap.
#include "compiler/lower/atomics.h"
#include "compiler/lower/address.h"
#include "compiler/lower/loop.h"

using namespace mlir;

namespace tilery::lower {

llvm::AtomicOrdering orderOf(tile::MemoryOrder order) {
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

llvm::Value *combined(Emitter &e, tile::RmwKind kind, Type element, llvm::Value *old, llvm::Value *value) {
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

bool acquires(const Address &where, llvm::Type *type) {
  unsigned bytes = elementBytes(where.element);
  return where.isVolatile && !type->isVectorTy() && (bytes == 4 || bytes == 8) && where.alignment >= bytes;
}

/// LLVM's words for it.
std::pair<llvm::AtomicOrdering, llvm::SyncScope::ID> orderOf(Emitter &e, std::optional<AtomicOrder> as) {
  if (!as)
    return {llvm::AtomicOrdering::Monotonic, llvm::SyncScope::System};
  StringRef name = e.options.target.syncScope(as->scope);
  return {as->order, name.empty() ? llvm::SyncScope::System : e.context().getOrInsertSyncScopeID(name)};
}

std::pair<llvm::Value *, llvm::Value *> compareAndSwap(Emitter &e, llvm::Value *pointer, llvm::Value *expected,
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

llvm::Value *readModifyWrite(Emitter &e, tile::RmwKind rmw, Type element, llvm::Value *pointer, llvm::Value *value,
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
  llvm::LoadInst *first = b.CreateAlignedLoad(bits, pointer, llvm::Align(bytes)); // others may be at it
  first->setAtomic(llvm::AtomicOrdering::Monotonic, orderOf(e, as).second);
  auto newBlock = [&] { return llvm::BasicBlock::Create(e.context(), "", b.GetInsertBlock()->getParent()); };
  llvm::BasicBlock *retry = newBlock(), *done = newBlock();
  Loop loop(b, retry, done);
  loop.enter();
  llvm::PHINode *seen = loop.carry(first);
  auto [current, swapped] = compareAndSwap(e, pointer, seen, toBits(combined(e, rmw, element, fromBits(seen), value)), as);
  loop.repeatUnless(swapped, current);
  loop.leave();
  return fromBits(seen);
}

void addTogether(Emitter &e, Type element, llvm::Value *pointer, llvm::Value *values, tile::SyncScope scope) {
  auto &b = e.b;
  if (e.options.target.addTogether(e, element, pointer, e.toMemory(values, element), scope))
    return;
  for (unsigned i = 0; i < e.lanesOf(values); ++i)
    readModifyWrite(e, tile::RmwKind::fadd, element, b.CreateGEP(e.memoryType(element), pointer, b.getInt64(i)),
                    b.CreateExtractElement(values, uint64_t(i)), AtomicOrder{llvm::AtomicOrdering::Monotonic, scope});
}

OrderedUpdates::OrderedUpdates(Emitter &e, const AtomicOrder &as, unsigned bits, bool once) : each(as), e(e), as(as) {
  // All lanes of a tile are behind one fence, a scalar's instruction may know the order itself.
  fenced = e.options.target.machine.relaxedAtomics && !(once && e.options.target.ordersAtomics(bits, as.order));
  if (fenced)
    each.order = llvm::AtomicOrdering::Monotonic;
}

void OrderedUpdates::release() {
  if (fenced && llvm::isReleaseOrStronger(as.order))
    e.b.CreateFence(as.order == llvm::AtomicOrdering::SequentiallyConsistent ? as.order : llvm::AtomicOrdering::Release,
                    orderOf(e, as).second);
}

void OrderedUpdates::acquire() {
  if (fenced && llvm::isAcquireOrStronger(as.order))
    e.b.CreateFence(llvm::AtomicOrdering::Acquire, orderOf(e, as).second);
}

} // namespace tilery::lower
