// Shape operations.
#include "compiler/builder/impl.h"
#include <numeric>

namespace tilery {

static int64_t elements(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}
static int64_t axisOf(Builder &self, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    self.fail(Diagnostic::Kind::Value,
              "dimension " + std::to_string(axis) + " is outside a tile of rank " + std::to_string(rank));
  return axis < 0 ? axis + rank : axis;
}
static void checkShape(Builder &self, const Shape &shape) {
  for (int64_t size : shape)
    if (size < 1)
      self.fail(Diagnostic::Kind::Value, "every dimension of a tile must be at least 1, got " + shapeText(shape));
}

Value Builder::programId(int axis) {
  if (axis < 0 || axis > 2)
    fail(Diagnostic::Kind::Value, "a grid has the axes 0, 1 and 2, got " + std::to_string(axis));
  return impl->wrap(impl->create<tile::ProgramIdOp>(axis), DType::I32);
}
Value Builder::numPrograms(int axis) {
  if (axis < 0 || axis > 2)
    fail(Diagnostic::Kind::Value, "a grid has the axes 0, 1 and 2, got " + std::to_string(axis));
  return impl->wrap(impl->create<tile::NumProgramsOp>(axis), DType::I32);
}
Value Builder::arange(int64_t start, int64_t end) {
  if (end <= start)
    fail(Diagnostic::Kind::Value, "arange needs end > start, got " + std::to_string(start) + " and " + std::to_string(end));
  if (start < 0 || end > INT32_MAX)
    fail(Diagnostic::Kind::Value, "arange bounds must fit in int32 and be non-negative");
  Type type{DType::I32, {end - start}};
  return impl->like(impl->create<tile::RangeOp>(impl->lower(type), start, end), type);
}

Value Builder::splat(const Value &scalar, const Shape &shape) {
  checkShape(*this, shape);
  if (shape.empty())
    return scalar;
  Type type = scalar.type;
  type.shape = shape;
  return impl->like(impl->create<tile::SplatOp>(impl->lower(type), impl->raw(scalar)), type);
}

Value Builder::broadcastTo(const Value &value, const Shape &shape) {
  if (value.shape() == shape)
    return value;
  if (value.shape().empty())
    return splat(value, shape);
  checkShape(*this, shape);
  Value result = value;
  bool fits = result.shape().size() <= shape.size();
  while (fits && result.shape().size() < shape.size())
    result = expandDims(result, 0);
  for (size_t d = 0; fits && d < shape.size(); ++d)
    fits = result.shape()[d] == shape[d] || result.shape()[d] == 1;
  if (!fits)
    fail(Diagnostic::Kind::Value, "cannot broadcast a tile of shape " + shapeText(value.shape()) + " to " + shapeText(shape));
  if (result.shape() == shape)
    return result;
  Type type = value.type;
  type.shape = shape;
  return impl->like(impl->create<tile::BroadcastOp>(impl->lower(type), impl->raw(result)), type);
}

std::vector<Value> Builder::broadcast(const std::vector<Value> &values) {
  Shape shape;
  for (const Value &value : values) {
    const Shape &other = value.shape();
    if (other.size() > shape.size())
      shape.insert(shape.begin(), other.size() - shape.size(), 1);
    for (size_t i = 0; i < other.size(); ++i) {
      int64_t &size = shape[shape.size() - other.size() + i];
      if (size != other[i] && size != 1 && other[i] != 1) {
        std::string shapes;
        for (const Value &each : values)
          if (!each.shape().empty())
            shapes += (shapes.empty() ? "" : " and ") + shapeText(each.shape());
        fail(Diagnostic::Kind::Value, "shapes " + shapes + " do not go together: each dimension must be equal or 1",
             std::string("add dimensions with ") + spelling().newDimension + ", or make the block sizes equal");
      }
      size = std::max(size, other[i]);
    }
  }
  std::vector<Value> result;
  for (const Value &value : values)
    result.push_back(broadcastTo(value, shape));
  return result;
}

Value Builder::expandDims(const Value &value, int64_t axis) {
  Type type = value.type;
  axis = axisOf(*this, axis, type.shape.size() + 1);
  if (type.shape.empty())
    return splat(value, {1});
  type.shape.insert(type.shape.begin() + axis, 1);
  return impl->like(impl->create<tile::ExpandDimsOp>(impl->lower(type), impl->raw(value), axis), type);
}

Value Builder::reshape(const Value &value, const Shape &shape) {
  checkShape(*this, shape);
  if (value.shape() == shape)
    return value;
  if (elements(value.shape()) != elements(shape))
    fail(Diagnostic::Kind::Value,
         "cannot reshape " + shapeText(value.shape()) + " to " + shapeText(shape) + ": the numbers of elements differ");
  Type type = value.type;
  type.shape = shape;
  return impl->like(impl->create<tile::ReshapeOp>(impl->lower(type), impl->raw(value)), type);
}

Value Builder::permute(const Value &value, const std::vector<int64_t> &order) {
  Type type = value.type;
  int64_t rank = type.shape.size();
  std::vector<int64_t> dims;
  std::vector<bool> seen(rank);
  for (int64_t dim : order) {
    dims.push_back(axisOf(*this, dim, rank));
    seen[dims.back()] = true;
  }
  if (int64_t(dims.size()) != rank || llvm::is_contained(seen, false))
    fail(Diagnostic::Kind::Value,
         "a permutation of a tile of rank " + std::to_string(rank) + " must name each dimension once, got " + shapeText(order));
  for (int64_t d = 0; d < rank; ++d)
    type.shape[d] = value.shape()[dims[d]];
  return impl->like(impl->create<tile::PermuteOp>(impl->lower(type), impl->raw(value), dims), type);
}

Value Builder::join(const Value &lhs, const Value &rhs) {
  auto both = broadcast({lhs, rhs});
  if (both[0].type != both[1].type)
    fail(Diagnostic::Kind::Type, "join needs two tiles of one type, got " + lhs.type.str() + " and " + rhs.type.str());
  Type type = both[0].type;
  type.shape.push_back(2);
  return impl->like(impl->create<tile::JoinOp>(impl->lower(type), impl->raw(both[0]), impl->raw(both[1])), type);
}
std::pair<Value, Value> Builder::split(const Value &value) {
  if (value.shape().empty() || value.shape().back() != 2)
    fail(Diagnostic::Kind::Value, "split needs a last dimension of size 2, got shape " + shapeText(value.shape()));
  Type type = value.type;
  type.shape.pop_back();
  auto op = impl->create<tile::SplitOp>(impl->lower(type), impl->lower(type), impl->raw(value));
  return {impl->like(op.getLhs(), type), impl->like(op.getRhs(), type)};
}
Value Builder::cat(const Value &lhs, const Value &rhs, int64_t axis) {
  Type type = lhs.type;
  axis = axisOf(*this, axis, type.shape.size());
  Shape other = rhs.shape();
  if (lhs.type.pointer != rhs.type.pointer || lhs.dtype() != rhs.dtype() || other.size() != type.shape.size())
    fail(Diagnostic::Kind::Type, "cat needs two tiles of one type and rank, got " + lhs.type.str() + " and " + rhs.type.str());
  type.shape[axis] += other[axis];
  other[axis] = lhs.shape()[axis];
  if (other != lhs.shape())
    fail(Diagnostic::Kind::Value, "cat needs equal sizes except along dimension " + std::to_string(axis) + ", got " +
                                      shapeText(lhs.shape()) + " and " + shapeText(rhs.shape()));
  return impl->like(impl->create<tile::CatOp>(impl->lower(type), impl->raw(lhs), impl->raw(rhs), axis), type);
}
Value Builder::take(const Value &value, const Value &indices, int64_t axis) {
  axis = axisOf(*this, axis, value.shape().size());
  Shape expected = value.shape(), got = indices.shape();
  requireNumbers(value, "gather");
  requireNumbers(indices, "an index of gather");
  if (!isInteger(indices.dtype()))
    fail(Diagnostic::Kind::Type, "gather indices must be integers, got " + indices.type.str());
  if (got.size() == expected.size())
    expected[axis] = got[axis];
  if (got != expected)
    fail(Diagnostic::Kind::Value, "gather indices must have the shape of the source except along the axis, got " +
                                      shapeText(got) + " for " + shapeText(value.shape()));
  Type type{value.dtype(), got};
  return impl->like(impl->create<tile::TakeOp>(impl->lower(type), impl->raw(value), impl->raw(indices), axis), type);
}
Value Builder::extract(const Value &value, const std::vector<Value> &indices) {
  if (indices.size() != value.shape().size())
    fail(Diagnostic::Kind::Index, "a tile of rank " + std::to_string(value.shape().size()) + " takes as many indices, got " +
                                      std::to_string(indices.size()));
  for (const Value &index : indices)
    requireNumbers(index, "an index");
  Type type = value.type;
  type.shape.clear();
  return impl->like(impl->create<tile::ExtractOp>(impl->lower(type), impl->raw(value), impl->raw(indices)), type);
}
Value Builder::sort(const Value &value, int64_t axis, bool descending, std::optional<int64_t> keep) {
  requireNumbers(value, "a sort");
  axis = axisOf(*this, axis, value.shape().size());
  Type type = value.type;
  if (keep && (*keep < 1 || *keep > type.shape[axis]))
    fail(Diagnostic::Kind::Value,
         "cannot take the first " + std::to_string(*keep) + " of " + std::to_string(type.shape[axis]) + " elements");
  type.shape[axis] = keep.value_or(type.shape[axis]);
  return impl->like(impl->create<tile::SortOp>(impl->lower(type), impl->raw(value), axis, descending, !isSigned(value.dtype())),
                    type);
}
Value Builder::histogram(const Value &value, int64_t bins, const std::optional<Value> &mask) {
  requireNumbers(value, "histogram");
  if (value.shape().size() != 1 || !isInteger(value.dtype()))
    fail(Diagnostic::Kind::Type, "histogram needs a one-dimensional tile of integers, got " + value.type.str());
  Type type{DType::I32, {bins}};
  mlir::Value lanes = mask ? impl->mask(Operand(*mask), value.shape()) : nullptr;
  return impl->like(impl->create<tile::HistogramOp>(impl->lower(type), impl->raw(value), lanes), type);
}

} // namespace tilery
