#pragma once
// Rectangles of tensors and buffers, and what is done with them as a whole: copies, fills, products, reductions, atomics.
// Extents follow TileLang's rules (reference page 1.10). Every function throws Error in the user's terms.
#include "tilery/builder.h"

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

struct Region {
  std::variant<Root, Buffer> memory;
  std::string name;            ///< for messages
  Shape shape;                 ///< of the whole memory; -1: known at run time
  std::vector<Operand> starts; ///< one a dimension
  Shape extents;               ///< one a dimension, -1: known at run time; empty: only a place to start from, extents are deduced
  bool isWhole = false;        ///< written as the bare name
  std::string eviction;        ///< of a tensor: the priority that what is copied has in caches

  bool isGlobal() const { return std::holds_alternative<Root>(memory); }
  DType dtype() const { return isGlobal() ? std::get<Root>(memory).dtype : std::get<Buffer>(memory).dtype; }
};

/// dst = src, element by element in row-major order of the dimensions longer than 1, converted to dst's type.
/// Elements outside a tensor read as `outside` (0) and are not written.
void copy(Builder &b, const Region &src, const Region &dst, const std::optional<Operand> &outside = {});
void fill(Builder &b, const Region &region, const Operand &value);
/// The elements as a tile of the extents longer than 1, and back.
Value load(Builder &b, const Region &region);
void store(Builder &b, const Region &region, const Value &tile);

struct GemmOptions {
  bool transposeA = false, transposeB = false;
  std::optional<Operand> clear; ///< C is overwritten where true, else added to
  DotOptions dot;
};
/// C += op(A) op(B); the matrices are the last two dimensions, leading ones must be 1.
void gemm(Builder &b, const Region &A, const Region &B, const Region &C, const GemmOptions &options);

enum class RegionReduce { Sum, AbsSum, Max, Min, AbsMax, BitAnd, BitOr, BitXor };
/// dst = src reduced along `dim`, combined with dst's old content unless `clear`. dst has src's shape without `dim`, or with it
/// as 1.
void reduce(Builder &b, RegionReduce kind, const Region &src, const Region &dst, int64_t dim, bool clear, bool propagateNan);
/// Inclusive scan along `dim` (Sum or Max).
void scan(Builder &b, ReduceKind kind, const Region &src, const Region &dst, int64_t dim, bool reverse);
/// In code that runs in each thread: may a value differ between them, as far as the code has been built?
bool variesByThread(const Value &value);
/// Indivisible updates of dst by src (a region, or one value for all), with the extents of a copy.
void atomic(Builder &b, RmwKind kind, const Region &dst, const std::variant<Region, Operand> &src, MemoryOrder order);

} // namespace tilery
#pragma GCC visibility pop
