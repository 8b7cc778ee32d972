#pragma once
// Where the lanes of accesses, buffers and stored tiles are, and which of them exist.
#include "compiler/analysis/index_polynomial.h"
#include "compiler/lower/address.h"
#include "compiler/lower/lane_index.h"
#include "compiler/lower/plan.h"
#include <deque>

namespace tilery::lower {

class Evaluator;

class Addresses {
public:
  explicit Addresses(Evaluator &ev);
  /// `zeros`: these lanes alone are read, and 0 where they do not exist. A row that does not exist is then one of zeros.
  Address ofPlace(mlir::Value place, llvm::ArrayRef<Index> point, bool zeros = false);
  /// That of a tile.load's or tile.store's place, with what the op says of the access.
  template <typename Access> Address ofAccess(Access op, llvm::ArrayRef<Index> point, bool zeros = false) {
    Address where = ofPlace(op.getPlace(), point, zeros);
    where.isVolatile = op.getIsVolatile();
    where.cache = op.getCache().value_or("");
    where.eviction = op.getEviction().value_or("");
    return where;
  }
  Address ofBuffer(mlir::Value buffer, llvm::ArrayRef<Index> point);
  Address ofStored(int buffer, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Index> point);
  llvm::Value *scratchPointer(int buffer);
  /// The limit of lanes at points that the current body moves, else null.
  Lanes limitAt(llvm::ArrayRef<Index> point) const;

  /// Adds `index * step` elements. Terms of outer loops come first, so that their sum is formed out there.
  void addTerm(Address &address, const Index &index, llvm::Value *step);

  llvm::DenseMap<const void *, std::pair<llvm::MDNode *, llvm::MDNode *>> aliasScopes; // per kernel argument, null: the arena

private:
  friend class AccessAddress;
  void addLinear(Address &address, const Linear &linear);
  void setScope(Address &address, mlir::Value pointer) const;
  /// The index along the last dimension of a buffer with an exchange.
  Index exchanged(const Exchange &exchange, llvm::ArrayRef<Index> point);
  Address ofView(tile::SubviewOp view, llvm::ArrayRef<Index> point);

  Evaluator &ev;
  Emitter &e;
  std::deque<analysis::IndexPolynomial> offsets; // that accesses begin at, so far
};

} // namespace tilery::lower
