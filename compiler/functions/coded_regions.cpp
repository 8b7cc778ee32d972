// Regions of memory that holds codes, where their values are meant.
#include "tilery/functions.h"

namespace tilery {
namespace {

/// What holds every value of such a type.
DType valuesOf(const std::string &kind) {
  return kind == "int4" ? DType::I8 : kind == "uint4" ? DType::U8 : kind == "float8_e8m0fnu" ? DType::F32 : DType::F16;
}

Buffer fragment(Builder &b, Shape shape, DType dtype, bool halved = false) {
  if (halved)
    shape.back() /= 2;
  return b.alloc(shape, dtype, Space::Fragment);
}
Region whole(const Buffer &buffer) {
  std::vector<Operand> starts(buffer.shape.size(), Literal(int64_t(0)));
  return {buffer, "buffer", buffer.shape, starts, buffer.shape, true, ""};
}

/// A parallel loop over all elements.
template <typename Body> void forEach(Builder &b, const Shape &shape, Body body) {
  std::vector<Value> extents;
  for (int64_t size : shape)
    extents.push_back(b.constant(Literal(size), DType::I32));
  std::vector<Value> indices = b.beginParallel(extents);
  body(std::vector<Operand>(indices.begin(), indices.end()), indices.back());
  b.endParallel();
}
Value number(Builder &b, int64_t value) { return b.constant(Literal(value), DType::I32); }

} // namespace

Buffer decodedRegion(Builder &b, const Region &region, const Shape &shape, const std::string &kind, bool twoInByte) {
  Buffer codes = fragment(b, shape, DType::U8, twoInByte);
  copy(b, region, whole(codes));
  Buffer values = fragment(b, shape, valuesOf(kind));
  forEach(b, shape, [&](const std::vector<Operand> &indices, const Value &last) {
    std::vector<Operand> place = indices;
    if (twoInByte)
      place.back() = b.binary(BinaryOp::FloorDiv, last, Literal(int64_t(2)));
    Value code = b.elementLoad(codes, place);
    if (twoInByte)
      code = composed(b, "nibble", {code, last});
    b.elementStore(values, indices, b.castFinite(composed(b, "decode_" + kind, {code}), values.dtype));
  });
  return values;
}

void encodeRegion(Builder &b, const Region &source, const Region &target, const Shape &shape, const std::string &kind,
                  bool twoInByte) {
  bool isFloat = kind.starts_with("float");
  Buffer values = fragment(b, shape, source.dtype());
  copy(b, source, whole(values));
  Buffer codes = fragment(b, shape, DType::U8, twoInByte);
  forEach(b, codes.shape, [&](const std::vector<Operand> &indices, const Value &last) {
    auto coded = [&](const Operand &place) {
      std::vector<Operand> at = indices;
      at.back() = place;
      Value value = b.elementLoad(values, at);
      return composed(b, "encode_" + kind, {isFloat ? b.castFinite(value, DType::F32) : value});
    };
    if (!twoInByte)
      return b.elementStore(codes, indices, coded(last));
    Value first = b.binary(BinaryOp::Mul, last, number(b, 2));
    Value low = coded(first), high = coded(b.binary(BinaryOp::Add, first, number(b, 1)));
    return b.elementStore(codes, indices, composed(b, "two_nibbles", {low, high}));
  });
  copy(b, whole(codes), target);
}

} // namespace tilery
