// Element types that no machine computes with: their values, as float32, and the codes nearest to float32's, as uint8.
#include "compiler/functions/table.h"
#include <cmath>

namespace tilery::functions {
namespace {

/// Fields of a float below its sign. The greatest number has all bits of both.
struct Format {
  const char *name;
  int exponent, fraction, bias;
  bool hasNan; ///< where -0 would be
  int sign() const { return exponent + fraction; }
  int64_t greatest() const { return (int64_t(1) << sign()) - 1; }
};
constexpr Format formats[] = {{"float4_e2m1fn", 2, 1, 1, false},
                              {"float8_e4m3fnuz", 4, 3, 8, true},
                              {"float8_e5m2fnuz", 5, 2, 16, true},
                              {"float8_e4b15", 4, 3, 15, false}};

// In int32, whose numbers no sum here leaves: vectors convert them faster than uint32.
Number decoded(const Number &of, const Format &kind) {
  Number code = of.cast(DType::I32);
  Number size = code & kind.greatest();
  Number sign = (code & (int64_t(1) << kind.sign())) << (31 - kind.sign());
  Number normal = (size << (23 - kind.fraction)) + (int64_t(127 - kind.bias) << 23);
  Number small = (size.cast(DType::F32) * std::exp2(1 - kind.bias - kind.fraction)).bitcast(DType::I32);
  Number subnormal = size < (int64_t(1) << kind.fraction);
  Number value = (select(subnormal, small, normal) | sign).bitcast(DType::F32);
  if (!kind.hasNan)
    return value;
  Number none = code == int64_t(1) << kind.sign();
  return select(none, constant(of.b, std::nan(""), DType::F32), value);
}

/// Ties to even; what is greater than all numbers becomes the greatest one.
Number encoded(const Number &of, const Format &kind, bool towardZero) {
  Number bits = of.cast(DType::F32).bitcast(DType::I32);
  Number magnitude = bits & 0x7FFFFFFF;
  int drop = 23 - kind.fraction;
  Number size = min(magnitude, (int64_t(127 - kind.bias) << 23) + (kind.greatest() << drop));
  Number kept = towardZero ? size : size + (((size >> drop) & 1) + ((int64_t(1) << (drop - 1)) - 1));
  Number normal = (kept >> drop) - (int64_t(127 - kind.bias) << kind.fraction);
  Number scaled = size.bitcast(DType::F32) * std::exp2(kind.bias - 1 + kind.fraction);
  Number small = math(towardZero ? MathOp::Trunc : MathOp::RoundEven, scaled).cast(DType::I32);
  Number subnormal = size < int64_t(128 - kind.bias) << 23;
  Number code = select(subnormal, small, normal);
  Number sign = (bits >> (31 - kind.sign())) & (int64_t(1) << kind.sign());
  if (kind.hasNan) { // there is no -0
    Number zero = code == 0;
    code = select(zero, 0, code | sign);
  } else {
    code = code | sign;
  }
  Number none = magnitude > 0x7F800000;
  return select(none, kind.hasNan ? int64_t(1) << kind.sign() : kind.greatest(), code).cast(DType::U8);
}

/// Powers of two; 0 stands for one below float32's normal numbers.
Number decodedPower(const Numbers &x) {
  Number code = x[0].cast(DType::I32);
  Number least = code == 0, none = code == 255;
  return select(least, 0x400000, select(none, 0x7FC00000, code << 23)).cast(DType::I32).bitcast(DType::F32);
}

Number encodedPower(const Numbers &x) {
  Number size = x[0].cast(DType::F32).bitcast(DType::I32) & 0x7FFFFFFF;
  Number power = (size + 0x3FFFFF + ((size >> 23) & 1)) >> 23;
  Number beyond = power > 254;
  power = select(beyond, 254, power);
  Number tiny = size > 0x600000; // below 2^-126: 2^-127 or 2^-126
  Number subnormal = size < 0x800000;
  Number code = select(subnormal, select(tiny, 1, 0), power);
  Number none = size > 0x7F800000;
  return select(none, 255, code).cast(DType::U8);
}

/// The lower bits of an integer, which is cut to them, as its code.
Number lowerBits(const Numbers &x) { return (x[0].cast(DType::I32) & 15).cast(DType::U8); }
/// A number in two's complement.
Number signedBits(const Numbers &x) { return ((x[0].cast(DType::I8) ^ 8) - 8).cast(DType::I8); }

/// By how much the code at a place is shifted in its byte, which holds two.
Number shiftOf(const Number &place) { return binary(BinaryOp::Mod, place, 2) * 4; }
/// (byte, place): the code there.
Number nibble(const Numbers &x) {
  Number shift = shiftOf(x[1]);
  return ((x[0].cast(DType::I32) >> shift) & 15).cast(DType::U8);
}
/// (byte, place, code): the byte with this code there.
Number withNibble(const Numbers &x) {
  Number shift = shiftOf(x[1]);
  Number others = 255 - (15 << shift);
  Number kept = x[0].cast(DType::I32) & others;
  return (kept | (x[2].cast(DType::I32) << shift)).cast(DType::U8);
}
/// (first, second): both codes in a byte.
Number twoNibbles(const Numbers &x) {
  Number low = x[0].cast(DType::I32), high = x[1].cast(DType::I32);
  return (low | (high << 4)).cast(DType::U8);
}

} // namespace

List codes() {
  List list = {{"decode_float8_e8m0fnu", 1, 1, decodedPower},
               {"encode_float8_e8m0fnu", 1, 1, encodedPower},
               {"decode_int4", 1, 1, signedBits},
               {"encode_int4", 1, 1, lowerBits},
               {"decode_uint4", 1, 1, [](const Numbers &x) { return x[0]; }},
               {"encode_uint4", 1, 1, lowerBits},
               {"nibble", 2, 2, nibble},
               {"with_nibble", 3, 3, withNibble},
               {"two_nibbles", 2, 2, twoNibbles}};
  for (const Format &kind : formats) {
    std::string name = kind.name;
    list.push_back({"decode_" + name, 1, 1, [&kind](const Numbers &x) { return decoded(x[0], kind); }});
    list.push_back({"encode_" + name, 1, 1, [&kind](const Numbers &x) { return encoded(x[0], kind, false); }});
    list.push_back({"encode_rz_" + name, 1, 1, [&kind](const Numbers &x) { return encoded(x[0], kind, true); }});
  }
  return list;
}

} // namespace tilery::functions
