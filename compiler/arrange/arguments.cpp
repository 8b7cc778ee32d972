// What an arranged kernel takes, and which tiles of its arguments are a program's.
#include "tilery/arrange_ir.h"
#include <algorithm>

namespace tilery::arrange {

static Value one(Builder &b) { return b.constant(Literal(int64_t(1)), DType::I64); }

std::string Parameter::sizeName(size_t dim) const {
  std::string end = tensor.source().jagged == dim ? "seq_len" : "size_" + std::to_string(dim);
  return "ninetoothed_" + tensor.source().name + "_" + end;
}
std::string Parameter::longestName() const { return "ninetoothed_" + tensor.source().name + "_max_seq_len"; }

static std::vector<Param> kernelParams(const std::vector<Parameter> &parameters) {
  std::vector<Param> result;
  for (const Parameter &p : parameters) {
    if (!p.dtype)
      continue;
    if (p.isScalar()) {
      result.push_back({p.name, Type{*p.dtype, {}}});
      continue;
    }
    auto number = [&](const std::string &name, int64_t kind) {
      result.push_back({name, Type{DType::I64, {}}, std::max<int64_t>(kind, 1)});
    };
    result.push_back({p.name, Type{*p.dtype, {}, true}, p.divisibility});
    for (size_t d = 0; d < p.extents.size(); ++d)
      number(p.name + "_size_" + std::to_string(d + p.isJagged()), p.extents[d]);
    for (size_t d = 0; d < p.strides.size(); ++d)
      if (p.strides[d] != 1)
        number(p.name + "_stride_" + std::to_string(d + p.isJagged()), p.strides[d]);
    if (!p.isJagged())
      continue;
    result.push_back({p.name + "_row_offsets", Type{*p.offsets, {}, true}});
    number(p.name + "_row_count", 1);
    if (p.lengths)
      result.push_back({p.name + "_row_lengths", Type{*p.lengths, {}, true}});
    number(p.name + "_max_seq_len", 1);
  }
  return result;
}

std::vector<HostParam> hostParams(const std::vector<Parameter> &parameters) {
  std::vector<HostParam> result;
  for (const Parameter &p : parameters) {
    if (!p.dtype)
      continue;
    int64_t rank = p.isScalar() ? -1 : int64_t(p.rank()) - p.isJagged();
    result.push_back({p.name, *p.dtype, rank});
    if (!p.isJagged())
      continue;
    result.push_back({p.name + "_row_offsets", *p.offsets, 1});
    if (p.lengths)
      result.push_back({p.name + "_row_lengths", *p.lengths, 1});
    result.push_back({p.name + "_max_seq_len", DType::I64, -1});
  }
  return result;
}

namespace {
class Programs {
public:
  Programs(Builder &builder, Environment &environment) : b(builder), environment(environment) {}

  /// Names of this program's index into every dimension of the grid; their values go to the environment.
  std::vector<Symbol> ofGrid(const Tensor &tensor) {
    const Shape &shape = tensor.shape();
    size_t rank = shape.size();
    std::vector<Symbol> names(rank);
    for (size_t axis = 0; axis < rank; ++axis) {
      size_t d = rank - 1 - axis;
      Value index = b.cast(b.programId(std::min<size_t>(axis, 2)), DType::I64);
      if (axis >= 2 && rank != 3)
        index = digit(index, Shape(shape.begin(), shape.end() - 2), d);
      names[d] = named("ninetoothed_program_" + std::to_string(d), index);
    }
    return names;
  }

  /// The same of an argument with a grid of its own, the digits of the linear id, and that id.
  std::pair<std::vector<Symbol>, Value> ofOwnGrid(const Tensor &tensor) {
    Value linear = b.cast(linearId(), DType::I64);
    std::vector<Symbol> names;
    for (size_t d = 0; d < tensor.ndim(); ++d)
      names.push_back(
          named("ninetoothed_" + tensor.source().name + "_program_" + std::to_string(d), digit(linear, tensor.shape(), d)));
    return {names, linear};
  }

private:
  Symbol named(const std::string &name, const Value &value) {
    environment.insert_or_assign(name, value);
    return Symbol::plain(name);
  }

  Value linearId() {
    Value x = b.programId(0), y = b.programId(1), z = b.programId(2);
    Value columns = b.numPrograms(0), rows = b.numPrograms(1);
    Value outer = b.binary(BinaryOp::Add, y, b.binary(BinaryOp::Mul, rows, z));
    return b.cast(b.binary(BinaryOp::Add, x, b.binary(BinaryOp::Mul, columns, outer)), DType::I32);
  }

  /// Index into dimension `d` of a row-major linear index; of an empty shape, some number.
  Value digit(const Value &linear, const Shape &shape, size_t d) {
    auto divisor = [&](const Symbol &size) {
      if (std::optional<int64_t> known = simplify(size).constant())
        return b.constant(Literal(std::max<int64_t>(*known, 1)), DType::I64);
      Value value = emit(b, size, environment);
      return b.binary(BinaryOp::Max, value, one(b));
    };
    Symbol inner(1);
    for (size_t k = d + 1; k < shape.size(); ++k)
      inner = inner * shape[k];
    Value index = b.binary(BinaryOp::TruncDiv, linear, divisor(inner));
    return d > 0 ? b.binary(BinaryOp::TruncMod, index, divisor(shape[d])) : index;
  }

  Builder &b;
  Environment &environment;
};
} // namespace

/// Takes the values of an argument's parameters, and says what sizes they are.
static Located located(Builder &b, const Parameter &p, std::vector<Value>::const_iterator &next, Environment &environment) {
  Located result;
  result.value = *next++;
  if (p.isScalar())
    return result;
  for (size_t d = 0; d < p.extents.size(); ++d)
    result.extents.push_back(*next++);
  for (int64_t kind : p.strides)
    result.strides.push_back(kind == 1 ? one(b) : *next++);
  if (p.isJagged()) {
    size_t jagged = *p.tensor.source().jagged;
    Rows rows;
    rows.offsets = *next++, rows.count = *next++;
    if (p.lengths)
      rows.lengths = *next++;
    result.extents.insert(result.extents.begin(), rows.count);
    result.extents[jagged] = environment[p.longestName()] = *next++;
    result.strides.insert(result.strides.begin(), b.constant(Literal(int64_t(0)), DType::I64));
    result.rows = rows;
  }
  for (size_t d = 0; d < result.extents.size(); ++d)
    environment.insert_or_assign(p.sizeName(d), result.extents[d]);
  return result;
}

std::vector<std::optional<Located>> beginKernel(Builder &b, const std::string &name, const std::vector<Parameter> &parameters,
                                                size_t first, bool masked, Environment &environment) {
  std::vector<Value> values = b.beginKernel(name, kernelParams(parameters));
  auto next = values.cbegin();
  std::vector<std::optional<Located>> result;
  for (const Parameter &p : parameters)
    result.push_back(p.dtype ? std::optional(located(b, p, next, environment)) : std::nullopt);
  auto isTensor = [&](size_t k) { return result[k] && !parameters[k].isScalar(); };

  Programs programs(b, environment);
  const Tensor &grid = parameters[first].tensor;
  std::vector<Symbol> own = programs.ofGrid(grid);
  for (size_t k = 0; k < parameters.size(); ++k) {
    const Tensor &tensor = parameters[k].tensor;
    if (!isTensor(k))
      continue;
    if (k == first || (!masked && tensor.ndim() == grid.ndim())) {
      result[k]->program = own;
      continue;
    }
    auto [ids, linear] = programs.ofOwnGrid(tensor);
    result[k]->program = ids;
    if (!masked || !tensor.ndim())
      continue;
    std::vector<Value> counts;
    for (const Symbol &size : tensor.shape())
      counts.push_back(emitCount(b, size, environment));
    Value count = one(b);
    for (const Value &each : counts)
      count = b.binary(BinaryOp::Mul, count, each);
    result[k]->exists = b.binary(BinaryOp::Lt, linear, count);
  }
  // Until here sizes of grids are those of the longest rows; from here on, where a program has one row, that one's.
  for (size_t k = 0; k < parameters.size(); ++k) {
    if (!isTensor(k) || !parameters[k].isJagged())
      continue;
    Located &place = *result[k];
    std::optional<Symbol> row = programRow(parameters[k].tensor, place.program);
    if (!row)
      continue;
    RowRange range = rowRange(b, *place.rows, emit(b, *row, environment));
    size_t jagged = *parameters[k].tensor.source().jagged;
    place.row = range.start;
    place.extents[jagged] = range.length;
    environment.insert_or_assign(parameters[k].sizeName(jagged), range.length);
  }
  return result;
}

} // namespace tilery::arrange
