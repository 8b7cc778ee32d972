#pragma once
// Layouts: which element of a tile a register of a lane of a warp holds, or which one a place of memory does.
//
// A layout maps places to coordinates. Each axis of the places is a number in mixed radix, least significant digit first; a digit of
// extent n contributes x * step, 0 <= x < n, to the coordinates, so that tiles of 160, 192 or 320 are as natural as those of 128. A digit
// of extent 2 may instead flip bits of the coordinates (swizzles):
//   coordinate = (xor of the flips of the digits that are 1) + (sum of x * step).
// Example, the 8x8 matrix of ldmatrix: Layout({{dim(0), 8}, {dim(1), 8}}).add(Register, 2, {0, 1}).add(Lane, 4, {0, 2}).add(Lane, 8, {1, 0}).
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

namespace tilery::layout {

/// What a number counts. Offset: elements of memory. Dimensions of tiles come last: dim(d).
enum class Axis : unsigned { Register, Lane, Warp, Block, Offset, Dim0 };
using enum Axis;
constexpr Axis dim(unsigned d) { return Axis(unsigned(Dim0) + d); }

class Layout {
public:
  using Vector = llvm::SmallVector<int64_t, 2>; // one number an output
  struct Digit {
    int64_t extent;
    Vector step, flips; // flips: zero unless extent is 2
    bool hasFlips() const;
    bool isZero() const; // places that differ in it hold copies of the same elements
  };
  struct Input {
    Axis axis;
    llvm::SmallVector<Digit, 4> digits;
    int64_t extent() const;
  };
  struct Output {
    Axis axis;
    int64_t extent; // coordinates are below it
  };

  explicit Layout(llvm::ArrayRef<Output> outputs) : outs(outputs) {}
  explicit Layout(std::initializer_list<Output> outputs) : outs(outputs) {}

  /// The next digit of an axis: `extent` places that are `step` (not negative, one number an output) apart.
  Layout &add(Axis axis, int64_t extent, llvm::ArrayRef<int64_t> step);
  Layout &add(Axis axis, int64_t extent, std::initializer_list<int64_t> step) {
    return add(axis, extent, llvm::ArrayRef<int64_t>(step.begin(), step.size()));
  }
  /// The next digit, of extent 2, flips these bits.
  Layout &flip(Axis axis, llvm::ArrayRef<int64_t> bits);
  Layout &flip(Axis axis, std::initializer_list<int64_t> bits) {
    return flip(axis, llvm::ArrayRef<int64_t>(bits.begin(), bits.size()));
  }
  Layout &add(Axis axis, Digit digit);

  llvm::ArrayRef<Input> inputs() const { return ins; }
  llvm::ArrayRef<Output> outputs() const { return outs; }
  /// Places of an axis; 1 if the layout does not have it.
  int64_t extent(Axis axis) const;
  /// Digits of an axis; none if the layout does not have it.
  llvm::ArrayRef<Digit> digits(Axis axis) const;
  std::optional<unsigned> output(Axis axis) const;

  using Place = std::pair<Axis, int64_t>;
  /// The coordinates of a place; axes that are not named are at 0.
  Vector at(llvm::ArrayRef<Place> place) const;
  Vector at(std::initializer_list<Place> place) const { return at(llvm::ArrayRef<Place>(place.begin(), place.size())); }

  /// The same function in the only form of its kind: bits that one digit alone flips are added, digits that continue each other are one,
  /// digits of extent 1 are gone, axes stand in order.
  Layout canonical() const;
  /// The same places with the two outputs' coordinates exchanged, and their extents: the transposed tile.
  Layout transposed() const;
  /// Equal functions on equal places, with equal outputs.
  bool operator==(const Layout &other) const;
  /// "lane: 4*(0,2) 8*(1,0); warp: 4*(16,0) -> 64x256"; "2*(1,0)^(0,8)": with flips.
  std::string print() const;

private:
  llvm::SmallVector<Input, 4> ins;
  llvm::SmallVector<Output, 2> outs;
};

/// What print() gives, of a layout whose outputs are dim(0), dim(1), ...; nothing if the text is no layout.
std::optional<Layout> parse(llvm::StringRef text);

/// The layout of a tile without dimension `d`, of one with a new dimension `d` of size 1, of one whose dimension i is `order[i]`. The
/// outputs are dimensions. Registers that would hold copies of others vanish; lanes, warps and blocks with copies stay.
Layout slice(const Layout &layout, unsigned d);
Layout expanded(const Layout &layout, unsigned d);
Layout permuted(const Layout &layout, llvm::ArrayRef<int64_t> order);
/// The layout of the same elements, in the order of their row-major numbers, as a tile of another shape. The outputs are dimensions. Nothing
/// where coordinates are flipped, or where a place's digits would carry from one dimension into another.
std::optional<Layout> reshaped(const Layout &layout, llvm::ArrayRef<int64_t> shape);
/// The layout of the pieces of `shape` that a tile is made of, where each lane of each warp holds as many elements of each: registers of the
/// piece at 0. Nothing where some lanes hold nothing of a piece, or where coordinates are flipped across its borders.
std::optional<Layout> piece(const Layout &layout, llvm::ArrayRef<int64_t> shape);
llvm::hash_code hash_value(const Layout &layout);

/// x -> outer(inner(x)); nothing if that is no layout (a digit would carry into another). Axes of `outer` that `inner` does not give are 0.
std::optional<Layout> compose(const Layout &outer, const Layout &inner);
/// From coordinates to the place that holds them (of copies, the first); nothing if some coordinates have no place, or two that are not
/// copies digit by digit.
std::optional<Layout> invert(const Layout &layout);
/// Each element of `outer`'s tile becomes a tile of `inner`: digits of `inner` come first. Both have the same outputs' axes; where `outer`
/// flips bits, `inner`'s extent is a power of two.
Layout product(const Layout &inner, const Layout &outer);
/// The layout with product(inner, result) == layout; nothing if there is none.
std::optional<Layout> divide(const Layout &layout, const Layout &inner);

} // namespace tilery::layout
