// Factors of products in microscaling formats: small floats with one scale for each block along K.
#include "tilery/functions.h"

namespace tilery {
namespace {

/// Both halves of each byte as int32, side by side along the axis `packed`, the lower one first.
Value nibbles(Builder &b, const Value &x, int64_t packed) {
  if (x.dtype() != DType::I8 && x.dtype() != DType::U8)
    b.fail(Diagnostic::Kind::Type, std::string("e2m1 comes as uint8, two to a byte, got ") + dtypeName(x.dtype()));
  Value wide = b.cast(b.bitcast(x, DType::U8), DType::I32);
  Value low = b.binary(BinaryOp::And, wide, Literal(int64_t(15)));
  Value both = b.join(low, b.binary(BinaryOp::Shr, wide, Literal(int64_t(4))));
  std::vector<int64_t> order;
  for (int64_t d = 0; d < int64_t(x.shape().size()); ++d)
    order.push_back(d);
  order.insert(order.begin() + packed + 1, int64_t(order.size()));
  Shape sizes = x.shape();
  sizes[packed] *= 2;
  return b.reshape(b.permute(both, order), sizes);
}

Value decoded(Builder &b, Value x, const std::string &format, int64_t packed) {
  if (format == "e2m1")
    return composed(b, "decode_float4_e2m1fn", {nibbles(b, x, packed)});
  static const std::pair<const char *, DType> formats[] = {
      {"e4m3", DType::F8E4M3}, {"e5m2", DType::F8E5M2}, {"bf16", DType::BF16}, {"fp16", DType::F16}};
  for (const auto &[name, dtype] : formats)
    if (format == name) {
      if (isInteger(x.dtype()) && bitWidth(x.dtype()) == bitWidth(dtype))
        x = b.bitcast(x, dtype);
      if (x.dtype() != dtype)
        b.fail(Diagnostic::Kind::Type, "format '" + format + "' is of " + dtypeName(dtype) + ", got " + dtypeName(x.dtype()));
      return b.cast(x, DType::F32);
    }
  b.fail(Diagnostic::Kind::Value, "unknown format '" + format + "'", "known: 'e2m1', 'e4m3', 'e5m2', 'bf16', 'fp16'");
}

/// [.., K / block] as [.., K]; bytes are powers of two (e8m0).
Value spread(Builder &b, const Value &scale, int64_t count) {
  Value value =
      isInteger(scale.dtype()) ? composed(b, "decode_float8_e8m0fnu", {b.bitcast(scale, DType::U8)}) : b.cast(scale, DType::F32);
  Shape sizes = scale.shape(), wide = sizes;
  int64_t blocks = sizes.empty() ? 1 : sizes.back();
  if (sizes.empty() || count % blocks)
    b.fail(Diagnostic::Kind::Value,
           std::to_string(count) + " elements along K do not divide into " + std::to_string(blocks) + " scales");
  wide.push_back(count / blocks);
  sizes.back() = count;
  return b.reshape(b.broadcastTo(b.expandDims(value, wide.size() - 1), wide), sizes);
}

} // namespace

Value scaledFactor(Builder &b, const Value &x, const std::string &format, int64_t packed, const std::optional<Value> &scale,
                   bool right) {
  Value values = decoded(b, x, format, packed);
  if (!scale)
    return values;
  size_t rank = values.shape().size();
  Value factors = spread(b, *scale, values.shape()[rank - 1 - right]);
  if (right) {
    std::vector<int64_t> order;
    for (int64_t d = 0; d < int64_t(factors.shape().size()); ++d)
      order.push_back(d);
    if (order.size() >= 2)
      std::swap(order[order.size() - 1], order[order.size() - 2]);
    factors = b.permute(factors, order);
  }
  return b.binary(BinaryOp::Mul, values, factors);
}

} // namespace tilery
