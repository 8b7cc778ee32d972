#pragma once
// Indivisible steps on memory.
#include "compiler/lower/emitter.h"

namespace tilery::lower {
struct Address;

llvm::AtomicOrdering orderOf(tile::MemoryOrder order);
/// A number of 32 or 64 bits that is read again and again: what others wrote before it is read behind it.
bool acquires(const Address &where, llvm::Type *type);
/// LLVM's words for it.
std::pair<llvm::AtomicOrdering, llvm::SyncScope::ID> orderOf(Emitter &e, std::optional<AtomicOrder> as);
/// kind(old, value) as memory holds them.
llvm::Value *combined(Emitter &e, tile::RmwKind kind, mlir::Type element, llvm::Value *old, llvm::Value *value);
/// One indivisible read-modify-write; gives the old value. `as`: nothing where memory is not global, which orders nothing.
llvm::Value *readModifyWrite(Emitter &e, tile::RmwKind kind, mlir::Type element, llvm::Value *pointer, llvm::Value *value,
                             std::optional<AtomicOrder> as = std::nullopt);
/// Adds a vector to neighbours in global memory, each indivisibly and without an order: by one instruction where the target has it.
void addTogether(Emitter &e, mlir::Type element, llvm::Value *pointer, llvm::Value *values, tile::SyncScope scope);
/// Compares bits with those in memory and stores `desired` where they are equal; {the bits before, whether they were equal}.
std::pair<llvm::Value *, llvm::Value *> compareAndSwap(Emitter &e, llvm::Value *pointer, llvm::Value *expected,
                                                       llvm::Value *desired, std::optional<AtomicOrder> as);

/// Updates with fences before and behind them, where instructions do not know the order themselves. `bits`: of an element; `once`: of one.
class OrderedUpdates {
public:
  OrderedUpdates(Emitter &e, const AtomicOrder &as, unsigned bits, bool once);
  void release();
  void acquire();
  AtomicOrder each; // of the updates between the two

private:
  Emitter &e;
  AtomicOrder as;
  bool fenced;
};

} // namespace tilery::lower
