#pragma once
/// From arrangements to tile IR: the place of a program's innermost tile.
#include "tilery/arrange.h"
#include "tilery/builder.h"

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery::arrange {

/// Integer values of names, by Name::text.
using Environment = std::map<std::string, Value>;

/// `expr` as int64; names without a value are an Error. Divisors count as positive.
Value emit(Builder &builder, const Symbol &expr, const Environment &environment);

/// The same for a size of a level: a tile larger than its tensor leaves a count below 0, which means none.
Value emitCount(Builder &builder, const Symbol &expr, const Environment &environment);

/// The rows of a jagged argument.
struct Rows {
  Value offsets;                ///< pointer to where rows begin, and behind the last one's end
  std::optional<Value> lengths; ///< pointer to their lengths, where they end before the next begins
  Value count;                  ///< of rows
};
/// Where rows begin, in elements of the jagged dimension, and their lengths: scalars, or tiles if `row` is one. Rows that are not there
/// have length 0.
struct RowRange {
  Value start, length;
};
RowRange rowRange(Builder &builder, const Rows &rows, const Value &row);

/// One arranged argument inside a kernel.
struct Argument {
  Tensor tensor; ///< its block sizes are numbers
  Root root;
  Value pointer;
  std::vector<Value> extents;  ///< of the source, elements
  std::vector<Value> strides;  ///< of the source, elements
  std::vector<Symbol> program; ///< this program's index into level 0: names of `environment` or numbers
  std::optional<Value> base{}; ///< offset of the row that all tiles of the program lie in; `root` begins there
  std::optional<Rows> rows{};  ///< of a jagged argument whose tiles lie in different rows
};

/// The row that all tiles of a program lie in, if there is one: an expression over `program`.
std::optional<Symbol> programRow(const Tensor &tensor, const std::vector<Symbol> &program);

/// Shape of the innermost tile (a size of 0 counts as 1: none of its lanes exists). Throws Error if a size is not a number.
tilery::Shape tileShape(Builder &builder, const Argument &argument);

/// The innermost tile at `user`, the indices of the middle levels in order: a view where the lanes are affine, pointers otherwise.
Place place(Builder &builder, const Argument &argument, const std::vector<Symbol> &user, const Environment &environment);

/// Index into dimension `dim` of the source of every lane, int64: one dimension if one lane dimension feeds it, as broadcast otherwise.
Value offsets(Builder &builder, const Argument &argument, const std::vector<Symbol> &user, const Environment &environment,
              size_t dim);
/// Offset from the source's first element of every lane, in elements, int64.
Value linearOffsets(Builder &builder, const Argument &argument, const std::vector<Symbol> &user, const Environment &environment);

} // namespace tilery::arrange
#pragma GCC visibility pop
