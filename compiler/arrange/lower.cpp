#include "compiler/arrange/normal_form.h"
#include "compiler/arrange/view.h"
#include "tilery/arrange_ir.h"
#include <algorithm>

namespace tilery::arrange {
namespace {

BinaryOp binaryOp(ExprKind kind) {
  switch (kind) {
  case ExprKind::add:
    return BinaryOp::Add;
  case ExprKind::sub:
    return BinaryOp::Sub;
  case ExprKind::mul:
    return BinaryOp::Mul;
  case ExprKind::truediv:
    return BinaryOp::TruncDiv;
  case ExprKind::less:
    return BinaryOp::Lt;
  case ExprKind::lessEqual:
    return BinaryOp::Le;
  case ExprKind::greater:
    return BinaryOp::Gt;
  case ExprKind::greaterEqual:
    return BinaryOp::Ge;
  case ExprKind::bitAnd:
    return BinaryOp::And;
  case ExprKind::bitOr:
    return BinaryOp::Or;
  case ExprKind::bitXor:
    return BinaryOp::Xor;
  case ExprKind::minimum:
    return BinaryOp::Min;
  default:
    return BinaryOp::Max;
  }
}

class Emitter {
public:
  Emitter(Builder &builder, const Environment &environment) : builder(builder), environment(environment) {}

  Value emit(const Symbol &expr) {
    if (auto value = expr.constant())
      return builder.constant(Literal(*value), DType::I64);
    if (expr.isName()) {
      auto it = environment.find(expr.name().text);
      if (it == environment.end())
        builder.fail(Diagnostic::Kind::Name, "`" + expr.name().label + "` has no value in this kernel",
                     "make it a constexpr symbol and pass it at the launch, or write it with sizes of the arguments");
      return builder.cast(it->second, DType::I64);
    }
    const auto &args = expr.args();
    switch (expr.kind()) {
    case ExprKind::tuple:
    case ExprKind::item:
    case ExprKind::slice:
    case ExprKind::none:
      builder.fail(Diagnostic::Kind::Type, "`" + expr.str() + "` is no number",
                   "a size or an index is made of numbers, symbols and sizes of the arguments");
    case ExprKind::negate:
      return builder.unary(UnaryOp::Neg, emit(args[0]));
    case ExprKind::absolute:
      return builder.unary(UnaryOp::Abs, emit(args[0]));
    case ExprKind::floordiv:
      return divide(args[0], args[1], false);
    case ExprKind::mod:
      return divide(args[0], args[1], true);
    case ExprKind::power:
      return power(args[0], args[1]);
    default:
      return builder.cast(builder.binary(binaryOp(expr.kind()), emit(args[0]), emit(args[1])), DType::I64);
    }
  }

private:
  /// The IR's division truncates: make the numerator non-negative where that takes a known multiple of the divisor.
  Value divide(const Symbol &numerator, const Symbol &denominator, bool remainder) {
    Poly n = polyOf(numerator);
    auto d = polyOf(denominator).constant();
    if (d && *d < 0 && !remainder)
      return divide(-numerator, -*d, false);
    if (isNonNegative(n, {}))
      return builder.binary(remainder ? BinaryOp::TruncMod : BinaryOp::TruncDiv, emit(symbolOf(n)), emit(denominator));
    for (int64_t shift = 1; d && *d > 0 && shift <= 4; ++shift) {
      Poly shifted = n + Poly(shift * *d);
      if (!isNonNegative(shifted, {}))
        continue;
      Value value = builder.binary(remainder ? BinaryOp::TruncMod : BinaryOp::TruncDiv, emit(symbolOf(shifted)), emit(*d));
      return remainder ? value : builder.binary(BinaryOp::Sub, value, Literal(shift));
    }
    Value x = emit(numerator), y = emit(denominator);
    Value rest = builder.binary(BinaryOp::TruncMod, x, y);
    Value below = builder.binary(BinaryOp::Lt, rest, Literal(int64_t(0)));
    if (remainder)
      return builder.select(below, builder.binary(BinaryOp::Add, rest, y), rest);
    return builder.binary(BinaryOp::Sub, builder.binary(BinaryOp::TruncDiv, x, y), builder.cast(below, DType::I64));
  }

  Value power(const Symbol &base, const Symbol &exponent) {
    auto count = exponent.constant();
    if (!count || *count < 0)
      builder.fail(Diagnostic::Kind::Value, "`" + exponent.str() + "`: an exponent in a size must be a number, at least 0");
    Value result = builder.constant(Literal(int64_t(1)), DType::I64), factor = emit(base);
    for (int64_t i = 0; i < *count; ++i)
      result = builder.binary(BinaryOp::Mul, result, factor);
    return result;
  }

  Builder &builder;
  const Environment &environment;
};

/// The environment with a tile for every lane: lane d walks dimension d of the tile, or the only one if `flat`.
Environment withLanes(Builder &builder, const TileMap &map, const tilery::Shape &shape, Environment environment,
                      bool flat = false) {
  for (size_t d = 0; d < map.lanes.size(); ++d) {
    Value lane = builder.cast(builder.arange(0, shape[d]), DType::I64);
    tilery::Shape placed(shape.size(), 1);
    placed[d] = shape[d];
    environment.insert_or_assign(map.lanes[d].name().text, flat ? lane : builder.reshape(lane, placed));
  }
  return environment;
}

Value holds(Builder &builder, const std::vector<Bound> &bounds, const Environment &environment) {
  Emitter emitter(builder, environment);
  Value all;
  for (const Bound &bound : bounds) {
    Value index = emitter.emit(bound.index);
    Value inside = builder.binary(BinaryOp::Lt, index, emitter.emit(bound.size));
    if (bound.lower)
      inside = builder.binary(BinaryOp::And, builder.binary(BinaryOp::Ge, index, Literal(int64_t(0))), inside);
    all = all ? builder.binary(BinaryOp::And, all, inside) : inside;
  }
  return all;
}

TileMap mapOf(Builder &builder, const Argument &argument, const std::vector<Symbol> &user) {
  tileShape(builder, argument);
  return mapTile(argument.tensor, argument.program, user);
}

bool hasLanes(const TileMap &map, const Symbol &expr) {
  for (const Symbol &name : expr.names())
    for (const Symbol &lane : map.lanes)
      if (lane.equals(name))
        return true;
  return false;
}

/// A jagged argument at the row that its tile lies in; from lane to lane different ones where `environment` has lanes.
Argument atRow(Builder &builder, const Argument &argument, const TileMap &map, Environment &environment) {
  if (!argument.rows)
    return argument;
  Argument result = argument;
  const Source &source = argument.tensor.source();
  RowRange row = rowRange(builder, *argument.rows, Emitter(builder, environment).emit(map.index[0]));
  result.base = builder.binary(BinaryOp::Mul, row.start, argument.strides[*source.jagged]);
  environment.insert_or_assign(argument.tensor.rowLength().name().text, row.length);
  if (row.length.shape().empty()) {
    result.extents[*source.jagged] = row.length;
    result.root = builder.root(builder.binary(BinaryOp::Add, argument.pointer, *result.base), result.extents, result.strides);
  }
  return result;
}

Value linear(Builder &builder, const Argument &argument, const TileMap &map, const Environment &environment) {
  Emitter emitter(builder, environment);
  Value offset = argument.base.value_or(builder.constant(Literal(int64_t(0)), DType::I64));
  for (size_t k = 0; k < map.index.size(); ++k)
    offset =
        builder.binary(BinaryOp::Add, offset, builder.binary(BinaryOp::Mul, emitter.emit(map.index[k]), argument.strides[k]));
  return offset;
}

} // namespace

/// Simplified; x // n + c, the number of tiles, as (x + c * n) // n, whose numerator is not negative as a rule.
static Symbol absorbed(const Symbol &expr) {
  Symbol simple = simplify(expr);
  if (simple.kind() == ExprKind::add && simple.args()[0].kind() == ExprKind::floordiv) {
    const Symbol &quotient = simple.args()[0], &divisor = quotient.args()[1];
    if (simple.args()[1].constant() && divisor.constant() && *divisor.constant() > 0)
      simple = floorDiv(simplify(quotient.args()[0] + divisor * simple.args()[1]), divisor);
  }
  return simple;
}

Value emit(Builder &builder, const Symbol &expr, const Environment &environment) {
  return Emitter(builder, environment).emit(absorbed(expr));
}

Value emitCount(Builder &builder, const Symbol &expr, const Environment &environment) {
  Symbol simple = absorbed(expr);
  Value count = Emitter(builder, environment).emit(simple);
  return isNonNegative(polyOf(simple), {}) ? count : builder.binary(BinaryOp::Max, count, Literal(int64_t(0)));
}

tilery::Shape tileShape(Builder &builder, const Argument &argument) {
  tilery::Shape shape;
  if (argument.tensor.isInnermost())
    return shape;
  for (const Symbol &size : argument.tensor.innermost().shape()) {
    auto value = simplify(size).constant();
    if (!value)
      builder.fail(Diagnostic::Kind::Value,
                   "the innermost tile of `" + argument.tensor.source().name + "` has size `" + size.str() +
                       "`, which is not known when the kernel is compiled",
                   "use numbers, constexpr symbols or sizes of the arguments");
    shape.push_back(std::max<int64_t>(*value, 1));
  }
  return shape;
}

RowRange rowRange(Builder &builder, const Rows &rows, const Value &row) {
  auto at = [&](const Value &pointer, int64_t next) {
    Value index = builder.cast(row, DType::I64);
    Value exists = builder.binary(BinaryOp::And, builder.binary(BinaryOp::Ge, index, Literal(int64_t(0))),
                                  builder.binary(BinaryOp::Lt, index, rows.count));
    if (next)
      index = builder.binary(BinaryOp::Add, index, Literal(next));
    Value pointers = builder.binary(BinaryOp::Add, pointer, index);
    return builder.cast(builder.load(pointers, exists, Literal(int64_t(0))), DType::I64);
  };
  Value start = at(rows.offsets, 0);
  return {start, rows.lengths ? at(*rows.lengths, 0) : builder.binary(BinaryOp::Sub, at(rows.offsets, 1), start)};
}

std::optional<Symbol> programRow(const Tensor &tensor, const std::vector<Symbol> &program) {
  std::vector<Symbol> user;
  const auto &levels = tensor.view()->levels;
  for (size_t l = 1; l + 1 < levels.size(); ++l)
    for (size_t d = 0; d < levels[l].size(); ++d)
      user.push_back(Symbol::plain("user_" + std::to_string(user.size())));
  TileMap map = mapTile(tensor, program, user);
  // A level of one index has index 0; so has a tile of one lane.
  Symbol row = map.index[0];
  Symbol::Values only;
  size_t next = 0;
  for (size_t l = 1; l < levels.size(); ++l)
    for (size_t d = 0; d < levels[l].size(); ++d)
      if (const Symbol &name = l + 1 < levels.size() ? user[next++] : map.lanes[d]; levels[l][d].constant() == 1)
        only.emplace(name.name().text, 0);
  row = simplify(row.substitute(only));
  user.insert(user.end(), map.lanes.begin(), map.lanes.end());
  for (const Symbol &name : row.names())
    for (const Symbol &inner : user)
      if (inner.equals(name))
        return std::nullopt;
  return row;
}

Place place(Builder &builder, const Argument &given, const std::vector<Symbol> &user, const Environment &outside) {
  tilery::Shape shape = tileShape(builder, given);
  TileMap map = mapOf(builder, given, user);
  const bool manyRows = given.rows && hasLanes(map, map.index[0]);
  if (map.affine && !manyRows) {
    Environment environment = outside;
    const Argument argument = atRow(builder, given, map, environment);
    const auto &affine = *map.affine;
    Emitter emitter(builder, environment);
    std::vector<Operand> starts, dilations, limits;
    for (const Symbol &start : affine.starts)
      starts.push_back(emitter.emit(start));
    bool limited = false;
    for (size_t d = 0; d < shape.size(); ++d) {
      dilations.push_back(emitter.emit(affine.dilations[d]));
      limits.push_back(emitter.emit(affine.limits[d].value_or(Symbol(shape[d]))));
      limited = limited || affine.limits[d];
    }
    if (!limited)
      limits.clear();
    std::optional<Operand> residual;
    if (!affine.conditions.empty())
      residual = holds(builder, affine.conditions, environment);
    return builder.view(argument.root, starts, shape, affine.dims, dilations, limits, residual);
  }
  Environment lanes = withLanes(builder, map, shape, outside);
  const Argument argument = atRow(builder, given, map, lanes);
  Value pointers =
      builder.binary(BinaryOp::Add, argument.pointer, builder.broadcastTo(linear(builder, argument, map, lanes), shape));
  std::vector<Bound> bounds = map.bounds;
  bounds.insert(bounds.end(), map.rootBounds.begin(), map.rootBounds.end());
  std::optional<Operand> mask;
  if (!bounds.empty())
    mask = builder.broadcastTo(holds(builder, bounds, lanes), shape);
  return builder.pointerPlace(pointers, mask);
}

Value offsets(Builder &builder, const Argument &argument, const std::vector<Symbol> &user, const Environment &environment,
              size_t dim) {
  TileMap map = mapOf(builder, argument, user);
  const Symbol &index = map.index.at(dim);
  size_t feeding = 0;
  for (const Symbol &name : index.names())
    for (const Symbol &lane : map.lanes)
      feeding += lane.equals(name);
  Environment lanes = withLanes(builder, map, tileShape(builder, argument), environment, feeding <= 1);
  if (argument.rows && contains(polyOf(index), argument.tensor.rowLength()))
    atRow(builder, argument, map, lanes);
  return emit(builder, index, lanes);
}

Value linearOffsets(Builder &builder, const Argument &argument, const std::vector<Symbol> &user, const Environment &environment) {
  tilery::Shape shape = tileShape(builder, argument);
  TileMap map = mapOf(builder, argument, user);
  Environment lanes = withLanes(builder, map, shape, environment);
  return builder.broadcastTo(linear(builder, atRow(builder, argument, map, lanes), map, lanes), shape);
}

} // namespace tilery::arrange
