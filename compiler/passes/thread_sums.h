#pragma once
// Index arithmetic of single threads: sums of what counts up (parts of a thread's number, loops, a thread's elements) and of what all share.
#include "compiler/analysis/divergence.h"
#include "compiler/analysis/polynomial.h"

namespace tilery::passes {

/// Over the numbers of digits and atoms.
using Sum = analysis::Polynomial<unsigned>;

class ThreadSums {
public:
  /// Of ops that follow each other in a block of `threads`; loops in them are digits. `strides`: how the number of a thread is taken apart.
  ThreadSums(tile::ThreadsOp threads, llvm::ArrayRef<mlir::Operation *> ops, const analysis::Divergence &divergence,
             llvm::ArrayRef<int64_t> strides);

  /// A number below `extent`, as digits whose extents are prime, the least significant first.
  llvm::SmallVector<unsigned> addNumber(int64_t extent);
  /// The number whose digits these are.
  Sum numberOf(llvm::ArrayRef<unsigned> digits) const;
  /// Nothing: it is no such sum.
  std::optional<Sum> of(mlir::Value value);
  /// One sum for values that differ as the digits of their numbers do (`number`: those digits). Nothing: they do not.
  std::optional<Sum> ofEach(llvm::ArrayRef<mlir::Value> values, llvm::ArrayRef<unsigned> number);
  /// The digits of a sum that counts from `begin` on, the least significant first. Nothing: it leaves numbers out, or comes to some twice.
  std::optional<llvm::SmallVector<unsigned>> countOf(const Sum &sum, Sum &begin) const;

  bool isDigit(unsigned number) const { return !entries[number].atom; }
  int64_t extent(unsigned digit) const { return entries[digit].extent; }
  int64_t extentOf(llvm::ArrayRef<unsigned> digits) const;
  mlir::Value atom(unsigned number) const { return entries[number].atom; }
  /// The same in all threads, and made before the ops.
  bool isAlike(mlir::Value value) const;
  /// Whether an op gives behind the ops what it gives in them.
  bool mayRepeat(mlir::Operation *op) const;

private:
  bool isInside(mlir::Operation *op) const;
  std::optional<Sum> find(mlir::Value value);
  std::optional<Sum> counted(mlir::Value value);
  std::optional<Sum> quotient(const Sum &sum, int64_t by, bool wantsRest) const;

  struct Entry {
    int64_t extent;
    mlir::Value atom; // null: a digit
  };
  tile::ThreadsOp threads;
  mlir::Value thread; // its number
  llvm::SmallVector<mlir::Operation *> ops;
  const analysis::Divergence &divergence;
  std::vector<Entry> entries;
  Sum threadNumber;
  llvm::DenseMap<mlir::Value, std::optional<Sum>> known;
  llvm::DenseMap<mlir::Value, Sum> numbers; // loops' counters, and what all share
};

/// True if an index is the number of the thread, and always the same number more.
bool isNumberOf(tile::ThreadsOp threads, mlir::Value index, std::optional<int64_t> &more);

} // namespace tilery::passes
