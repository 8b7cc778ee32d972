#pragma once
// What a target says, and does otherwise, whose threads share a program.
#include "compiler/lower/address.h"
#include "compiler/lower/lane_index.h"

namespace tilery::lower {

/// How a target moves lanes of global memory whose existence is one question, where it has better means than LLVM's masked accesses, and
/// how much of it the alignment of the address allows at once.
class MemoryPort {
public:
  virtual ~MemoryPort() = default;
  /// One element or (`type` is a vector) neighbouring ones from `where.pointer`. Where `exists` (i1, null: true) does not hold nothing is
  /// read and the result is `other`.
  virtual llvm::Value *load(Emitter &e, const Address &where, llvm::Type *type, llvm::Value *exists, llvm::Value *other) = 0;
  virtual void store(Emitter &e, const Address &where, llvm::Value *bits, llvm::Value *exists) = 0;
};

/// Without it one thread runs a program: stored tiles lie in scratch memory, LLVM's instructions read and write all memory, and lanes are
/// those of vector registers, which shuffles rearrange. With it lanes are neighbours that one access moves.
class ThreadModel {
public:
  virtual ~ThreadModel() = default;
  virtual MemoryPort &memory() = 0;
  /// Whether something in the kernel may write to the place of a load.
  virtual bool mayBeWritten(mlir::Value place) const = 0;
  /// The variable of this thread that holds a stored tile's elements at the point; null: they lie in scratch memory.
  virtual llvm::AllocaInst *variableOf(int buffer, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Index> point) const = 0;
  /// Lanes of a stored tile that are no neighbours in scratch memory, where they are better read together with others; null: they are not.
  virtual Lanes readAcross(int, llvm::ArrayRef<int64_t>, llvm::ArrayRef<Index>, unsigned) { return nullptr; }
  /// What this thread has copied of a load's tile at the point, in as many lanes; null: nothing, it is loaded.
  virtual Lanes copied(tile::LoadOp, llvm::ArrayRef<Index>, unsigned) { return nullptr; }
  /// Whether the launch may be asked for these scalars to be positive. It then is.
  virtual bool asksForPositive(llvm::ArrayRef<mlir::Value>) { return false; }
  /// Where a buffer lies that this thread has for itself; null: the block has it.
  virtual llvm::Value *privateBuffer(mlir::Operation *alloc) const = 0;
};

} // namespace tilery::lower
