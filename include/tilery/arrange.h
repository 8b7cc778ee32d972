#pragma once
/// Symbolic arrangement of tensors (the algebra under NineToothed): integer expressions, hierarchical tensors and the maps from a
/// program's indices to the elements of the source. No IR and no data: `arrange_ir.h` turns the result into tile IR.
///
/// Errors: ArrangementError, a Value (a wrong value) or an Index (a wrong dimension or index).
#include "tilery/diagnostic.h"
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery::arrange {

/// What is wrong with an arrangement. Places are unknown here: what calls these functions for a program knows where it stands.
class ArrangementError : public Error {
public:
  /// In the message, names of symbols are as the program wrote them: sizes of tensors that it gave no name are `size_0`.
  ArrangementError(Diagnostic::Kind kind, const std::string &message, std::string hint = "");
};

/// Who supplies the value of a name: nobody yet (plain), the caller by keyword (constexpr), the caller or the compiler's model (meta).
enum class Role : uint8_t { plain, constant, meta };

struct Name {
  std::string text;  ///< as printed and compared: with the role's prefix
  std::string label; ///< as the user wrote it, the keyword at a launch
  Role role = Role::plain;
  std::optional<int64_t> lower, upper; ///< inclusive bounds a chosen value keeps to
  bool powerOfTwo = false;
};

enum class ExprKind : uint8_t {
  constant,
  name,
  negate,
  absolute,
  add,
  sub,
  mul,
  floordiv,
  mod,
  truediv,
  power,
  less,
  lessEqual,
  greater,
  greaterEqual,
  bitAnd,
  bitOr,
  bitXor,
  minimum,
  maximum,
  // What no number stands for: parts of symbols that programs make of sequences.
  tuple, ///< (a, b)
  item,  ///< a[b]
  slice, ///< slice(a, b, c)
  none   ///< None in a slice
};

/// An immutable integer expression. Division and remainder round to minus infinity; x // 0 and x % 0 are 0. Comparisons are 0 or 1.
class Symbol {
public:
  using Values = std::map<std::string, Symbol>; ///< by Name::text

  Symbol(int64_t value = 0);
  /// A name; throws if a bound is set wrong or a meta name is declared not constexpr.
  static Symbol named(const std::string &label, Role role = Role::plain, std::optional<int64_t> lower = {},
                      std::optional<int64_t> upper = {}, std::optional<bool> powerOfTwo = {});
  /// A name known to the compiler only (sizes, strides, indices), printed as it is.
  static Symbol plain(const std::string &text);
  /// Reads a Python integer expression; names become plain names.
  static Symbol parse(const std::string &text);
  /// Builds `kind(args...)` and folds it: constants, 0 + x, x + 0, x - 0, 1 * x, x * 1, x // 1, (x, y)[0].
  static Symbol make(ExprKind kind, std::vector<Symbol> args);

  ExprKind kind() const;
  bool isName() const { return kind() == ExprKind::name; }
  bool isNumber() const { return kind() < ExprKind::tuple || kind() == ExprKind::item; }
  std::optional<int64_t> constant() const;
  const Name &name() const; ///< only of a name
  const std::vector<Symbol> &args() const;
  std::string str() const; ///< as Python's unparse prints it
  bool equals(const Symbol &other) const;
  /// The names in it, each once, ordered by text.
  std::vector<Symbol> names() const;
  Symbol substitute(const Values &values) const;
  /// Replaces every subtree equal to `target`.
  Symbol replace(const Symbol &target, const Symbol &replacement) const;

private:
  struct Node;
  std::shared_ptr<const Node> node;
};

Symbol operator+(const Symbol &, const Symbol &);
Symbol operator-(const Symbol &, const Symbol &);
Symbol operator*(const Symbol &, const Symbol &);
Symbol operator-(const Symbol &);
Symbol floorDiv(const Symbol &, const Symbol &);
Symbol floorMod(const Symbol &, const Symbol &);
Symbol ceilDiv(const Symbol &, const Symbol &);
/// A fresh meta name, 32 to 1024 by default, powers of two.
Symbol blockSize(std::optional<int64_t> lower = {}, std::optional<int64_t> upper = {});

/// The length of a row of a jagged tensor, a name `ninetoothed_<name>_seq_len`: it has a value for each row.
bool isRowLength(const Symbol &symbol);
/// With the longest row's length (`..._max_seq_len`) for the length of a row: what extents of grids are made of.
Symbol longest(const Symbol &expr);

using Shape = std::vector<Symbol>;
using Scalar = std::variant<std::monostate, bool, int64_t, double>;

/// What the user passes at a launch, as far as the arrangement knows it.
struct Source {
  std::string name;
  Shape shape;       ///< elements per dimension; empty: a scalar argument
  Shape strides;     ///< elements
  std::string dtype; ///< "fp16", ...; empty: that of the launch
  Scalar other;      ///< fill of lanes outside; monostate: 0
  Scalar value;      ///< of a constexpr scalar, ahead of time
  bool isConstexpr = false;
  /// The dimension in which the rows, the elements of dimension 0, differ in length. In memory there is no dimension 0: the rows lie behind
  /// each other in this one.
  std::optional<size_t> jagged;
  std::vector<int64_t> rowLengths; ///< of a jagged tensor, where they are known
};

/// One dimension of an index or slice expression.
struct Slice {
  enum class Kind : uint8_t { index, range, newAxis, ellipsis } kind = Kind::range;
  std::optional<Symbol> start, stop, step; ///< an index is `start`
};

/// A size that must be 1: of a dimension that an operation of the arrangement leaves out or repeats.
struct SizeOfOne {
  Symbol size; ///< simplified
  const char *operation;
  unsigned level; ///< of the tensor that the operation was called on
  size_t dim;     ///< of that level
};

/// One step of an arrangement: all levels, outermost first, and how their indices lead to those of `input`. Immutable, shared.
struct View;
using ViewRef = std::shared_ptr<const View>;

/// A tensor whose elements may be tensors: a window on the levels from `level` inward. Meta-operations act on the first of these, are
/// functional and keep the deeper ones; so one tensor can be arranged many times.
class Tensor {
public:
  /// A source. `shape` entries without a value become names `ninetoothed_<name>_size_<i>`.
  Tensor(Source source, std::vector<std::optional<Symbol>> shape, const std::vector<Name> &sizeOptions = {});
  static std::string freshName();
  static int64_t count(); ///< of fresh names given so far

  const Source &source() const { return *root; }
  Tensor sourceTensor() const;
  const Shape &shape() const;
  size_t ndim() const { return shape().size(); }
  unsigned level() const { return depth; }
  /// Number of levels from this one inward.
  size_t levels() const;
  bool isInnermost() const { return levels() == 1; }
  Tensor inner() const; ///< the next level; throws on the innermost
  Tensor innermost() const;
  const ViewRef &view() const { return current; }
  /// Every name in the sizes and in the steps.
  std::vector<Symbol> names() const;
  /// Those sizes that must be 1 and are not known to be, from the source on: what a launch has to check.
  std::vector<SizeOfOne> sizesOfOne() const;

  Tensor tile(const std::vector<Symbol> &tile, const std::vector<std::optional<Symbol>> &strides = {},
              const std::vector<std::optional<Symbol>> &dilation = {}, bool floorMode = false) const;
  /// Repeats dimensions of size 1; -1, or the size that a dimension has, keeps it.
  Tensor expand(const std::vector<Symbol> &sizes) const;
  Tensor unsqueeze(int64_t dim) const;
  /// Leaves out dimensions of size 1.
  Tensor squeeze(const std::vector<int64_t> &dims) const;
  Tensor permute(const std::vector<int64_t> &dims) const;
  /// `end` is exclusive.
  Tensor flatten(std::optional<int64_t> start = {}, std::optional<int64_t> end = {}) const;
  Tensor ravel() const;
  Tensor pad(const std::vector<std::pair<Symbol, Symbol>> &amounts) const;
  Tensor slice(const std::vector<Slice> &slices) const;

  /// `t.dtype = inner`: takes over the steps of `inner`, which must come from this tensor's own next level.
  void setInner(const Tensor &inner);
  void setShape(const Shape &shape);
  void setDtype(const std::string &dtype);
  /// The same steps with names replaced.
  Tensor substitute(const Symbol::Values &values) const;
  /// A jagged tensor arranged as if its rows were of this length; elements beyond a row's end do not exist.
  Tensor padded(const Symbol &length) const;
  /// The length of a row; only of a jagged tensor.
  const Symbol &rowLength() const { return root->shape[*root->jagged]; }
  void setRowLengths(std::vector<int64_t> lengths);
  /// The dimension of the tile that each dimension of this level is, -1 for one that was inserted.
  std::vector<int64_t> axes() const;

private:
  friend Tensor mergeDims(const Tensor &tensor, const std::vector<std::vector<int64_t>> &groups, std::optional<Symbol> row);
  friend Tensor fromSteps(Source source, const std::vector<struct StepState> &steps, unsigned level);
  Tensor(std::shared_ptr<Source> root, ViewRef view, unsigned depth)
      : root(std::move(root)), current(std::move(view)), depth(depth) {}
  Tensor with(ViewRef view) const { return Tensor(root, std::move(view), depth); }
  Tensor select(const Shape &shape, const std::vector<int64_t> &inputDims) const;
  Tensor affine(const Shape &shape, const std::vector<Symbol> &offsets, const std::vector<Symbol> &steps) const;
  ViewRef replayed(const Symbol::Values &values, const std::function<ViewRef(const ViewRef &)> &ofSource) const;

  std::shared_ptr<Source> root;
  ViewRef current;
  unsigned depth = 0;
};

/// 0 <= index < size.
struct Bound {
  Symbol index, size;
  bool lower = true; ///< index may be negative: 0 <= index must be tested, too
};

/// Where one element lives: an index per source dimension, and the bounds that make it exist.
struct IndexMap {
  std::vector<Symbol> index;
  std::vector<Bound> bounds; ///< of every intermediate view, the source's own last
};

/// Composes the steps backwards. `indices[l]` are the indices into level l.
IndexMap mapIndices(const Tensor &tensor, const std::vector<std::vector<Symbol>> &indices);

/// How the lanes of the innermost tile of one program reach the source: lane i exists if every bound holds.
struct TileMap {
  std::vector<Symbol> shape;     ///< of the innermost level
  std::vector<Symbol> lanes;     ///< the names that stand for the lane indices
  std::vector<Symbol> index;     ///< per source dimension, simplified
  std::vector<Bound> bounds;     ///< those the source's own bounds do not imply, simplified
  std::vector<Bound> rootBounds; ///< those of the source that are not always true

  /// Set if every index is affine in the lanes and every bound is an upper bound of one lane: the form of `tile.view`.
  struct Affine {
    std::vector<Symbol> starts;                ///< per source dimension
    std::vector<int64_t> dims;                 ///< per lane dimension: source dimension, or -1
    std::vector<Symbol> dilations;             ///< per lane dimension
    std::vector<std::optional<Symbol>> limits; ///< per lane dimension: i < limit
    std::vector<Bound> conditions;             ///< bounds without lanes
  };
  std::optional<Affine> affine;
};

/// `program[d]`, in [0, size of d of level 0), and `user`, the indices of the middle levels in order. Lane sizes must be constants.
TileMap mapTile(const Tensor &tensor, const std::vector<Symbol> &program, const std::vector<Symbol> &user);

/// Does the index of a row depend on how long rows are, as where rows are flattened together? Then the arrangement is that of the tensor
/// padded to its longest row.
bool mixesRows(const Tensor &tensor);

/// Element offsets into a contiguous source for every index of every level, row-major, -1 where an element does not exist.
/// All sizes must be constants; of a jagged tensor the lengths of the rows must be known.
struct Table {
  std::vector<int64_t> shape, offsets;
};
Table evaluate(const Tensor &tensor);

/// All levels and steps as text: equal texts mean equal arrangements (of sources with equal names of sizes).
std::string describe(const Tensor &tensor);

/// A step of an arrangement as plain values, and the levels behind it.
struct StepState {
  std::string kind; ///< empty at the source
  unsigned level = 0;
  std::vector<Symbol> symbols;
  std::vector<int64_t> numbers;
  std::vector<Shape> levels;
};
/// All steps, the source first.
std::vector<StepState> stepsOf(const Tensor &tensor);
/// The tensor that had this source, these steps and this first level.
Tensor fromSteps(Source source, const std::vector<StepState> &steps, unsigned level);

/// An arrangement that starts by flattening dimensions [start, end) of the source, permuted or not.
struct Flattening {
  std::vector<int64_t> dims; ///< the source's, in the order in which they are flattened
  size_t start = 0, end = 0;
};
std::optional<Flattening> flatteningOf(const Tensor &tensor);
/// Such an arrangement, of a source in which each of `groups` (of the source's dimensions, in the order of `Flattening::dims`) is one
/// dimension: equal elements wherever each has a single stride, with affine lanes or fewer divisions. `row`: what to call the size of the
/// last one that is flattened, say a multiple of the tiles' size, so that no tile leaves its row.
Tensor mergeDims(const Tensor &tensor, const std::vector<std::vector<int64_t>> &groups, std::optional<Symbol> row = {});

/// An argument as the choice of block sizes sees it.
struct Traffic {
  Tensor tensor;
  int64_t elementBytes = 4;
};

/// Polynomial normal form: equal polynomials print equally, divisions and remainders by known amounts are carried out.
Symbol simplify(const Symbol &expr);

} // namespace tilery::arrange
#pragma GCC visibility pop
