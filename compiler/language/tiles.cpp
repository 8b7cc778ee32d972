// The C++ language: operators and functions over the builder of this thread.
#include "compiler/language/current.h"
#include "tilery/language.h"

namespace tilery {

static thread_local Builder *active = nullptr;
static thread_local std::source_location position;

BuilderScope::BuilderScope(Builder &builder) : previous(active) {
  active = &builder;
  builder.setLocationProvider([] {
    return std::vector<SourceLocation>{
        {position.file_name(), int(position.line()), int(position.column()), position.function_name()}};
  });
}
BuilderScope::~BuilderScope() { active = previous; }

Builder &builderAt(const std::source_location &where) {
  if (!active)
    throw Error(Diagnostic{Diagnostic::Kind::Runtime,
                           "tiles exist only while a Program is being built",
                           "call this inside the body of a tilery::Program",
                           {{where.file_name(), int(where.line()), int(where.column()), where.function_name()}}});
  position = where;
  return *active;
}

static Value valueOf(Builder &b, const TileOr &x) { return b.materialize(x.operand); }
static Tile binary(BinaryOp op, const TileOr &x, const TileOr &y) { return builderAt(x.where).binary(op, x.operand, y.operand); }

Tile operator+(const TileOr &x, const TileOr &y) { return binary(BinaryOp::Add, x, y); }
Tile operator-(const TileOr &x, const TileOr &y) { return binary(BinaryOp::Sub, x, y); }
Tile operator*(const TileOr &x, const TileOr &y) { return binary(BinaryOp::Mul, x, y); }
Tile operator/(const TileOr &x, const TileOr &y) {
  Builder &b = builderAt(x.where);
  bool floats = isFloat(b.commonType(x.operand, y.operand, BinaryOp::Add));
  return b.binary(floats ? BinaryOp::TrueDiv : BinaryOp::FloorDiv, x.operand, y.operand);
}
Tile operator%(const TileOr &x, const TileOr &y) { return binary(BinaryOp::Mod, x, y); }
Tile operator&(const TileOr &x, const TileOr &y) { return binary(BinaryOp::And, x, y); }
Tile operator|(const TileOr &x, const TileOr &y) { return binary(BinaryOp::Or, x, y); }
Tile operator<(const TileOr &x, const TileOr &y) { return binary(BinaryOp::Lt, x, y); }
Tile operator<=(const TileOr &x, const TileOr &y) { return binary(BinaryOp::Le, x, y); }
Tile operator>(const TileOr &x, const TileOr &y) { return binary(BinaryOp::Gt, x, y); }
Tile operator>=(const TileOr &x, const TileOr &y) { return binary(BinaryOp::Ge, x, y); }
Tile operator==(const TileOr &x, const TileOr &y) { return binary(BinaryOp::Eq, x, y); }
Tile operator!=(const TileOr &x, const TileOr &y) { return binary(BinaryOp::Ne, x, y); }
Tile min(const TileOr &x, const TileOr &y) { return binary(BinaryOp::Min, x, y); }
Tile max(const TileOr &x, const TileOr &y) { return binary(BinaryOp::Max, x, y); }

Tile Tile::operator-() const { return builderAt(position).unary(UnaryOp::Neg, value_); }
Tile Tile::operator~() const { return builderAt(position).unary(UnaryOp::Invert, value_); }
Tile &Tile::operator+=(const TileOr &other) { return *this = TileOr(*this, other.where) + other; }
Tile &Tile::operator-=(const TileOr &other) { return *this = TileOr(*this, other.where) - other; }
Tile &Tile::operator*=(const TileOr &other) { return *this = TileOr(*this, other.where) * other; }
Tile Tile::to(DType dtype, std::source_location where) const { return builderAt(where).cast(value_, dtype); }
Tile Tile::expand(int64_t axis, std::source_location where) const { return builderAt(where).expandDims(value_, axis); }

Tile programId(int axis, Where where) { return builderAt(where).programId(axis); }
Tile numPrograms(int axis, Where where) { return builderAt(where).numPrograms(axis); }
Tile arange(int64_t start, int64_t end, Where where) { return builderAt(where).arange(start, end); }
Tile full(const Shape &shape, const TileOr &value, DType dtype) {
  return builderAt(value.where).full(shape, value.operand, dtype);
}
Tile zeros(const Shape &shape, DType dtype, Where where) { return builderAt(where).full(shape, Literal(int64_t(0)), dtype); }

static Tile loadFrom(const TileOr &pointer, std::optional<Operand> mask, std::optional<Operand> other) {
  Builder &b = builderAt(pointer.where);
  return b.load(valueOf(b, pointer), mask, other);
}
Tile load(const TileOr &pointer) { return loadFrom(pointer, {}, {}); }
Tile load(const TileOr &pointer, const TileOr &mask) { return loadFrom(pointer, mask.operand, {}); }
Tile load(const TileOr &pointer, const TileOr &mask, const TileOr &other) {
  return loadFrom(pointer, mask.operand, other.operand);
}
void store(const TileOr &pointer, const TileOr &value) {
  Builder &b = builderAt(pointer.where);
  b.store(valueOf(b, pointer), value.operand, {});
}
void store(const TileOr &pointer, const TileOr &value, const TileOr &mask) {
  Builder &b = builderAt(pointer.where);
  b.store(valueOf(b, pointer), value.operand, mask.operand);
}
Tile dot(const TileOr &a, const TileOr &b, const TileOr &acc) {
  Builder &builder = builderAt(a.where);
  Value start = valueOf(builder, acc);
  return builder.dot(valueOf(builder, a), valueOf(builder, b), start, {}, start.dtype(), {});
}
Tile select(const TileOr &condition, const TileOr &x, const TileOr &y) {
  return builderAt(condition.where).select(condition.operand, x.operand, y.operand);
}
Tile math(MathOp op, const TileOr &x) { return builderAt(x.where).math(op, {x.operand}); }
Tile exp(const TileOr &x) { return math(MathOp::Exp, x); }
Tile sqrt(const TileOr &x) { return math(MathOp::Sqrt, x); }
Tile rsqrt(const TileOr &x) { return math(MathOp::Rsqrt, x); }
static Tile reduced(ReduceKind kind, const TileOr &x, int64_t axis) {
  Builder &b = builderAt(x.where);
  return b.reduce(kind, valueOf(b, x), axis, false);
}
Tile sum(const TileOr &x, int64_t axis) { return reduced(ReduceKind::Sum, x, axis); }
Tile reduceMax(const TileOr &x, int64_t axis) { return reduced(ReduceKind::Max, x, axis); }
Tile cdiv(const Tile &x, const TileOr &y) { return (x + (y - 1)) / y; }

static std::vector<Value> valuesOf(std::initializer_list<std::reference_wrapper<Tile>> tiles) {
  std::vector<Value> values;
  for (Tile &tile : tiles)
    values.push_back(tile.value());
  return values;
}
static void assign(std::initializer_list<std::reference_wrapper<Tile>> tiles, const std::vector<Value> &values) {
  size_t i = 0;
  for (Tile &tile : tiles)
    tile = Tile(values[i++]);
}

void forRange(const TileOr &lower, const TileOr &upper, std::initializer_list<std::reference_wrapper<Tile>> carried,
              const std::function<void(Tile)> &body) {
  Builder &b = builderAt(lower.where);
  DType type = b.commonType(lower.operand, upper.operand, BinaryOp::Add);
  auto loop = b.beginFor(b.cast(lower.operand, type), b.cast(upper.operand, type), b.constant(Literal(int64_t(1)), type),
                         valuesOf(carried));
  assign(carried, loop.carried);
  body(loop.iv);
  assign(carried, b.endFor(valuesOf(carried)));
}

void branch(const TileOr &condition, std::initializer_list<std::reference_wrapper<Tile>> carried,
            const std::function<void()> &thenBody, const std::function<void()> &elseBody) {
  Builder &b = builderAt(condition.where);
  auto before = valuesOf(carried);
  b.beginIf(b.materialize(condition.operand));
  thenBody();
  auto thens = valuesOf(carried);
  assign(carried, before);
  b.beginElse();
  elseBody();
  auto elses = valuesOf(carried);
  assign(carried, b.endIf(thens, elses));
}

} // namespace tilery
