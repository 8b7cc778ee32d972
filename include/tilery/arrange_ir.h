#pragma once
/// From arrangements to tile IR: the place of a program's innermost tile; what an arranged kernel takes, and the host function that checks
/// and launches it.
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

/// What is known of an argument of an arranged kernel when it is compiled.
struct Parameter {
  std::string name;
  Tensor tensor;              ///< its block sizes are numbers
  std::optional<DType> dtype; ///< of its elements; of a scalar its own; absent: nothing of it is left to pass
  /// Of each dimension that lies in memory (the rows of a jagged tensor have none): 1: it is 1 (strides only); 16: it divides by 16; or 0.
  std::vector<int64_t> strides, extents;
  int64_t divisibility = 1; ///< of the address
  std::optional<DType> offsets,
      lengths{}; ///< of a jagged tensor: of where its rows begin, and of how long they are where that is said

  size_t rank() const { return tensor.source().shape.size(); }
  bool isScalar() const { return rank() == 0 && tensor.isInnermost(); }
  bool isJagged() const { return tensor.source().jagged.has_value(); }
  /// The names that sizes of its dimensions have in expressions.
  std::string sizeName(size_t dim) const;
  std::string longestName() const;
};

/// What an argument is inside the kernel. Of a scalar: the value alone.
struct Located {
  Value value; ///< a tensor's address
  std::vector<Value> extents, strides;
  std::optional<Rows> rows;
  std::optional<Value> row; ///< where the one row begins that all tiles of a program lie in
  std::vector<Symbol> program;
  std::optional<Value> exists; ///< is this program one of the argument's grid? Absent: it is
};
/// Begins the kernel, whose grid is the outermost level of the tensor `parameters[first]`: the last dimension is axis 0, the one before it
/// axis 1, all others share axis 2, so that the linear id of a program is row-major. Others' programs are the digits of the linear id in
/// their own grids; `masked`: those may have fewer programs. Arguments without a dtype are null. Fills `environment`.
std::vector<std::optional<Located>> beginKernel(Builder &builder, const std::string &name,
                                                const std::vector<Parameter> &parameters, size_t first, bool masked,
                                                Environment &environment);

/// What the check of grids says that fails; `masked` is for such calls.
inline constexpr const char *differentGrids = "are arranged for different grids";
/// What the check of the factors of products says.
inline constexpr const char *differentInnerSizes = "are multiplied, and have different inner sizes";

std::vector<HostParam> hostParams(const std::vector<Parameter> &parameters);
/// The host function `hostName` of such a kernel. It checks of the parameters `placed` that each has a tile for every program and size 1
/// where the arrangement leaves out or repeats dimensions; `sizes`: also that what is cut into the same tiles has the same size;
/// `innerSizes`: and that factors of products which are read in step have.
void buildHost(Builder &builder, const std::string &kernel, const std::string &hostName, const std::vector<Parameter> &parameters,
               size_t first, const std::vector<size_t> &placed, bool sizes, bool innerSizes = false);

} // namespace tilery::arrange
#pragma GCC visibility pop
