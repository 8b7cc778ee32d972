#pragma once
// The C++ language: kernels written as C++ lambdas over tiles, compiled and launched in this process.
//
//   tilery::Program add("add", {in<float>("x"), in<float>("y"), out<float>("z"), scalar<int32_t>("n")}, [](auto &k) {
//     Tile offsets = programId(0) * 1024 + arange(0, 1024);
//     Tile mask = offsets < k[3];
//     store(k[2] + offsets, load(k[0] + offsets, mask) + load(k[1] + offsets, mask), mask);
//   });
//   add.launch({cdiv(n, 1024)}, x.data(), y.data(), z.data(), n);
//
// Rules are Triton's: types promote by Policy::Triton, shapes broadcast like NumPy's. Every function throws tilery::Error naming the line.
#include "tilery/builder.h"
#include "tilery/compile.h"
#include "tilery/arguments.h"
#include <array>
#include <functional>
#include <source_location>
#include <type_traits>

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

struct TileOr;

/// A tile value of the kernel being built on this thread.
class Tile {
public:
  Tile() = default;
  Tile(Value value) : value_(std::move(value)) {}
  const Value &value() const { return value_; }
  const Shape &shape() const { return value_.shape(); }
  DType dtype() const { return value_.dtype(); }
  Tile operator-() const;
  Tile operator~() const;
  Tile &operator+=(const TileOr &other);
  Tile &operator-=(const TileOr &other);
  Tile &operator*=(const TileOr &other);
  /// Conversion by value.
  Tile to(DType dtype, std::source_location where = std::source_location::current()) const;
  /// A new dimension of size 1 before `axis`.
  Tile expand(int64_t axis, std::source_location where = std::source_location::current()) const;

private:
  Value value_;
};

/// A tile or a number, and the line that passes it.
struct TileOr {
  Operand operand;
  std::source_location where;
  TileOr(const Tile &tile, std::source_location where = std::source_location::current()) : operand(tile.value()), where(where) {}
  template <typename T>
    requires std::is_arithmetic_v<T>
  TileOr(T number, std::source_location where = std::source_location::current()) : operand(literal(number)), where(where) {}

private:
  template <typename T> static Literal literal(T number) {
    if constexpr (std::is_same_v<T, bool>)
      return number;
    else if constexpr (std::is_floating_point_v<T>)
      return double(number);
    else if constexpr (std::is_unsigned_v<T>)
      return uint64_t(number);
    else
      return int64_t(number);
  }
};

Tile operator+(const TileOr &x, const TileOr &y);
Tile operator-(const TileOr &x, const TileOr &y);
Tile operator*(const TileOr &x, const TileOr &y);
Tile operator/(const TileOr &x, const TileOr &y); ///< true division of floats, truncating division of integers
Tile operator%(const TileOr &x, const TileOr &y);
Tile operator&(const TileOr &x, const TileOr &y);
Tile operator|(const TileOr &x, const TileOr &y);
Tile operator<(const TileOr &x, const TileOr &y);
Tile operator<=(const TileOr &x, const TileOr &y);
Tile operator>(const TileOr &x, const TileOr &y);
Tile operator>=(const TileOr &x, const TileOr &y);
Tile operator==(const TileOr &x, const TileOr &y);
Tile operator!=(const TileOr &x, const TileOr &y);

using Where = std::source_location;
Tile programId(int axis, Where where = Where::current());
Tile numPrograms(int axis, Where where = Where::current());
Tile arange(int64_t start, int64_t end, Where where = Where::current());
Tile full(const Shape &shape, const TileOr &value, DType dtype);
Tile zeros(const Shape &shape, DType dtype, Where where = Where::current());
Tile load(const TileOr &pointer);
Tile load(const TileOr &pointer, const TileOr &mask);
Tile load(const TileOr &pointer, const TileOr &mask, const TileOr &other);
void store(const TileOr &pointer, const TileOr &value);
void store(const TileOr &pointer, const TileOr &value, const TileOr &mask);
/// acc + a * b.
Tile dot(const TileOr &a, const TileOr &b, const TileOr &acc);
Tile select(const TileOr &condition, const TileOr &x, const TileOr &y);
Tile min(const TileOr &x, const TileOr &y);
Tile max(const TileOr &x, const TileOr &y);
Tile exp(const TileOr &x);
Tile sqrt(const TileOr &x);
Tile rsqrt(const TileOr &x);
Tile math(MathOp op, const TileOr &x);
Tile sum(const TileOr &x, int64_t axis);
Tile reduceMax(const TileOr &x, int64_t axis);
/// Ceiling division of tiles; of plain integers (host side) below.
Tile cdiv(const Tile &x, const TileOr &y);
constexpr int64_t cdiv(int64_t x, int64_t y) { return (x + y - 1) / y; }

/// for i in [lower, upper): `body(i)` may assign the tiles named in `carried`; they keep their types and live on after the loop.
void forRange(const TileOr &lower, const TileOr &upper, std::initializer_list<std::reference_wrapper<Tile>> carried,
              const std::function<void(Tile)> &body);
/// Runs one of the branches; both may assign the tiles named in `carried`.
void branch(
    const TileOr &condition, std::initializer_list<std::reference_wrapper<Tile>> carried, const std::function<void()> &thenBody,
    const std::function<void()> &elseBody = [] {});

template <typename T> Param in(std::string name) { return {std::move(name), Type{dtypeOf<T>(), {}, true, true}}; }
template <typename T> Param out(std::string name) { return {std::move(name), Type{dtypeOf<T>(), {}, true, false}}; }
template <typename T> Param scalar(std::string name) { return {std::move(name), Type{dtypeOf<T>(), {}}}; }

/// A compiled kernel. Pointers passed to launch must not overlap where one of them is written, unless `mayAlias` or they are equal: a
/// launch in place takes code of its own, which is compiled then.
class Program {
public:
  using Body = std::function<void(const std::vector<Tile> &)>;
  Program(const std::string &name, const std::vector<Param> &params, const Body &body, bool mayAlias = false);
  /// Arguments in the order of the parameters: pointers to the declared element types and numbers. Waits until all programs are done.
  /// Throws Error if the number of arguments or a type is wrong.
  template <typename... Args> void launch(std::array<int64_t, 3> grid, Args... args) const { run(grid, {args...}); }
  template <typename... Args> void launch(int64_t programs, Args... args) const { launch({programs, 1, 1}, args...); }
  const Compiled &compiled() const { return compiled_; }

private:
  struct InPlace;
  void run(const std::array<int64_t, 3> &grid, std::initializer_list<LaunchArg> args) const;
  bool mayAlias;
  Compiled compiled_;
  std::vector<KernelPtr> kernels;
  std::shared_ptr<InPlace> inPlace; ///< what copies of a Program share
};

} // namespace tilery
#pragma GCC visibility pop
