// Reductions and scans with known combine functions, and the arg form.
#include "compiler/builder/impl.h"
#include "compiler/ir/partial_sums.h"

namespace tilery {

static BinaryOp combineOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return BinaryOp::Add;
  case ReduceKind::Product:
    return BinaryOp::Mul;
  case ReduceKind::Max:
    return BinaryOp::Max;
  case ReduceKind::Min:
    return BinaryOp::Min;
  case ReduceKind::MaxNan:
    return BinaryOp::MaxNan;
  case ReduceKind::MinNan:
    return BinaryOp::MinNan;
  case ReduceKind::And:
    return BinaryOp::And;
  case ReduceKind::Or:
    return BinaryOp::Or;
  case ReduceKind::Xor:
    return BinaryOp::Xor;
  }
  return BinaryOp::Add;
}

/// One dimension for "all lanes".
static Value flattened(Builder &self, const Value &value) {
  int64_t count = 1;
  for (int64_t size : value.shape())
    count *= size;
  return self.reshape(value, {count});
}
static Value withKeptDims(Builder &self, const Value &result, const Value &input, std::optional<int64_t> axis, bool keepDims) {
  if (!keepDims)
    return result;
  if (axis)
    return self.expandDims(result, *axis < 0 ? *axis + int64_t(input.shape().size()) : *axis);
  return self.broadcastTo(result, Shape(input.shape().size(), 1));
}

Value Builder::reduce(ReduceKind kind, const Value &value, std::optional<int64_t> axis, bool keepDims) {
  requireNumbers(value, "a reduction");
  if (value.shape().empty())
    return value;
  Value input = axis ? value : flattened(*this, value);
  auto args = beginReduce({input}, axis.value_or(0));
  Value combined = cast(binary(combineOf(kind), args[0], args[1]), value.dtype());
  return withKeptDims(*this, endReduce({combined})[0], value, axis, keepDims);
}

std::pair<Value, Value> Builder::argReduce(bool isMax, const Value &value, std::optional<int64_t> axis, bool keepDims,
                                           bool tieBreakLeft) {
  Value input = axis ? value : flattened(*this, value);
  if (input.shape().empty())
    fail(Diagnostic::Kind::Value, "argmax and argmin need a tile of rank 1 or more");
  int64_t rank = input.shape().size(), dim = axis.value_or(0);
  dim = dim < 0 ? dim + rank : dim;
  if (dim < 0 || dim >= rank)
    fail(Diagnostic::Kind::Value, "axis " + std::to_string(*axis) + " is outside a tile of rank " + std::to_string(rank));
  Shape along(rank, 1);
  along[dim] = input.shape()[dim];
  Value index = broadcastTo(reshape(arange(0, along[dim]), along), input.shape());
  // A NaN is in no order: which pair is left would hang on who meets whom. It counts as what loses to all others, at a place behind theirs.
  bool floats = isFloat(input.dtype());
  Value behind = constant(Literal(along[dim]), DType::I32);
  if (floats) {
    if (isFloat8(input.dtype()))
      input = cast(input, DType::F32);
    double last = isMax ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    index = select(binary(BinaryOp::Ne, input, input), binary(BinaryOp::Add, index, behind), index);
    input = binary(isMax ? BinaryOp::Max : BinaryOp::Min, input,
                   full(input.shape(), constant(Literal(last), input.dtype()), input.dtype()));
  }
  auto args = beginReduce({input, index}, dim);
  Value better = binary(isMax ? BinaryOp::Gt : BinaryOp::Lt, args[0], args[2]);
  if (tieBreakLeft || floats)
    better = binary(BinaryOp::LogicalOr, better,
                    binary(BinaryOp::LogicalAnd, binary(BinaryOp::Eq, args[0], args[2]), binary(BinaryOp::Lt, args[1], args[3])));
  auto results = endReduce({select(better, args[0], args[2]), select(better, args[1], args[3])});
  Value best = results[0], place = results[1];
  if (floats) { // nothing but NaNs
    Value none = binary(BinaryOp::Ge, place, behind);
    best = select(none, constant(Literal(std::numeric_limits<double>::quiet_NaN()), best.dtype()), best);
    place = select(none, binary(BinaryOp::Sub, place, behind), place);
  }
  return {withKeptDims(*this, cast(best, value.dtype()), value, axis, keepDims),
          withKeptDims(*this, place, value, axis, keepDims)};
}

Value Builder::scan(ReduceKind kind, const Value &value, int64_t axis, bool reverse) {
  bool rounds = kind == ReduceKind::Sum || kind == ReduceKind::Product;
  if (rounds && (value.dtype() == DType::F16 || value.dtype() == DType::BF16)) // rounded once, not with each step of the chain
    return cast(scan(kind, cast(value, DType::F32), axis, reverse), value.dtype());
  auto args = beginScan({value}, axis, reverse);
  return endScan({cast(binary(combineOf(kind), args[0], args[1]), value.dtype())})[0];
}

Value Builder::dot(const Value &a, const Value &b, const std::optional<Value> &acc, const std::optional<Value> &clear,
                   DType accType, const DotOptions &options) {
  for (const Value &operand : {a, b})
    requireNumbers(operand, "dot");
  size_t rank = a.shape().size();
  if (rank < 2 || b.shape().size() != rank)
    fail(Diagnostic::Kind::Value,
         "dot needs two tiles of one rank, which is 2 or more, got " + a.type.str() + " and " + b.type.str());
  int64_t k = a.shape()[rank - 1];
  Shape batch(a.shape().begin(), a.shape().end() - 2);
  if (!std::equal(batch.begin(), batch.end(), b.shape().begin()))
    fail(Diagnostic::Kind::Value, "dot of " + shapeText(a.shape()) + " and " + shapeText(b.shape()) +
                                      ": the dimensions before the last two must be equal");
  if (b.shape()[rank - 2] != k)
    fail(Diagnostic::Kind::Value,
         "dot of " + shapeText(a.shape()) + " and " + shapeText(b.shape()) + ": the inner sizes " + std::to_string(k) + " and " +
             std::to_string(b.shape()[rank - 2]) + " must be equal",
         "transpose one operand, or make the block sizes along K equal");
  bool floats = isFloat(a.dtype()), mixed = a.dtype() != b.dtype() && !(isFloat8(a.dtype()) && isFloat8(b.dtype()));
  if (isFloat(b.dtype()) != floats || (mixed && floats && impl->policy == Policy::Triton) || isBool(a.dtype()) ||
      isBool(b.dtype()))
    fail(Diagnostic::Kind::Type, "dot needs operands of one type, got " + a.type.str() + " and " + b.type.str(),
         std::string("cast one of them with ") + spelling().conversion);
  if (floats != isFloat(accType))
    fail(Diagnostic::Kind::Type, std::string("dot of ") + dtypeName(a.dtype()) + " cannot accumulate in " + dtypeName(accType));
  Shape shape = a.shape();
  shape.back() = b.shape().back();
  Type type{accType, shape};
  if (acc && acc->type != type)
    fail(Diagnostic::Kind::Value, "the accumulator of this dot must be " + type.str() + ", got " + acc->type.str());
  if (rank > 3) { // one dimension of batches
    auto flat = [&](const Value &x, int64_t rows, int64_t columns) {
      return reshape(x, {std::accumulate(batch.begin(), batch.end(), int64_t(1), std::multiplies<>()), rows, columns});
    };
    std::optional<Value> start = acc ? std::optional(flat(*acc, shape[rank - 2], shape.back())) : std::nullopt;
    return reshape(dot(flat(a, shape[rank - 2], k), flat(b, k, shape.back()), start, clear, accType, options), shape);
  }
  Value start = acc ? *acc : full(shape, Literal(int64_t(0)), accType);
  auto op = impl->create<tile::DotOp>(impl->lower(type), impl->raw(a), impl->raw(b), impl->raw(start),
                                      clear ? impl->raw(*clear) : nullptr, static_cast<tile::Precision>(options.precision),
                                      !floats && !isSigned(a.dtype()), !floats && !isSigned(b.dtype()), mlir::ValueRange());
  if (tile::hasPartialSums(op.getA().getType()))
    tile::setPartialSums(op, options.partialSums);
  return impl->like(op, type);
}

} // namespace tilery
