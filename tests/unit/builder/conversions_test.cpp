// Which operations a conversion becomes, and which are refused.
#include "tilery/builder.h"
#include "tilery/module.h"
#include <gtest/gtest.h>

using namespace tilery;

namespace {
/// The arith and tile ops of `x` of one type converted to another one, in order.
std::string opsOf(DType from, DType to, const std::function<Value(Builder &, const Value &)> &convert = nullptr) {
  Builder b(Policy::Triton);
  Value x = b.beginKernel("k", {{"x", Type{from, {}}}})[0];
  Value y = convert ? convert(b, x) : b.cast(x, to);
  EXPECT_EQ(y.dtype(), to);
  b.endKernel();
  std::string text = b.finish()->text(), ops;
  for (size_t at = text.find(" = "); at != std::string::npos; at = text.find(" = ", at + 3)) {
    std::string name = text.substr(at + 3, text.find(' ', at + 3) - at - 3);
    if (name.starts_with("arith.") && name != "arith.constant")
      ops += (ops.empty() ? "" : " ") + name.substr(6);
    else if (name.starts_with("tile."))
      ops += (ops.empty() ? "" : " ") + name;
  }
  return ops;
}

TEST(Conversions, Floats) {
  EXPECT_EQ(opsOf(DType::F16, DType::F32), "extf");
  EXPECT_EQ(opsOf(DType::F64, DType::F16), "truncf");
  EXPECT_EQ(opsOf(DType::F16, DType::BF16), "extf truncf") << "of one width: neither holds the other";
  EXPECT_EQ(opsOf(DType::F8E4M3, DType::F8E5M2), "extf truncf");
  EXPECT_EQ(opsOf(DType::F32, DType::F32), "");
}

TEST(Conversions, IntegersKeepTheirValueOrTheirLowBits) {
  EXPECT_EQ(opsOf(DType::I8, DType::I32), "extsi");
  EXPECT_EQ(opsOf(DType::U8, DType::I32), "extui");
  EXPECT_EQ(opsOf(DType::I64, DType::U16), "trunci");
  EXPECT_EQ(opsOf(DType::I32, DType::U32), "");
  EXPECT_EQ(opsOf(DType::Bool, DType::I32), "extui") << "true is 1";
}

TEST(Conversions, BetweenFloatsAndIntegers) {
  EXPECT_EQ(opsOf(DType::I32, DType::F32), "sitofp");
  EXPECT_EQ(opsOf(DType::U32, DType::F32), "uitofp");
  EXPECT_EQ(opsOf(DType::F32, DType::I8), "tile.fp_to_int");
  EXPECT_EQ(opsOf(DType::F32, DType::Bool), "cmpf");
  EXPECT_EQ(opsOf(DType::I32, DType::Bool), "cmpi");
}

TEST(Conversions, IntegersTowardsZeroGoThroughF64) {
  auto cut = [](DType to) { return [to](Builder &b, const Value &x) { return b.cast(x, to, true); }; };
  EXPECT_EQ(opsOf(DType::I32, DType::F16, cut(DType::F16)), "sitofp truncf");
  EXPECT_EQ(opsOf(DType::I32, DType::F64, cut(DType::F64)), "sitofp") << "exact";
  const std::string one = "uitofp cmpf tile.fp_to_int cmpi ori bitcast subi bitcast select";
  EXPECT_EQ(opsOf(DType::U64, DType::F32, cut(DType::F32)), one + " truncf");
}

TEST(Conversions, BitsAreKeptWhereWidthsAgree) {
  auto bits = [](DType to) { return [to](Builder &b, const Value &x) { return b.bitcast(x, to); }; };
  EXPECT_EQ(opsOf(DType::F32, DType::I32, bits(DType::I32)), "bitcast");
  EXPECT_EQ(opsOf(DType::I32, DType::U32, bits(DType::U32)), "");
  try {
    opsOf(DType::F32, DType::I16, bits(DType::I16));
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_EQ(error.diagnostic().message, "cannot bitcast float32 to int16: the widths differ");
  }
}

TEST(Conversions, PointersBecomeAddressesOnly) {
  Builder b(Policy::Triton);
  Value p = b.beginKernel("k", {{"p", Type{DType::F32, {}, true}}})[0];
  EXPECT_EQ(b.pointerToInt(p).type, (Type{DType::I64, {}}));
  EXPECT_THROW(b.cast(p, DType::I64), Error);
  EXPECT_THROW(b.cast(p, DType::I32), Error);
  EXPECT_THROW(b.convert(p, Type{DType::F32, {}}), Error);
}
} // namespace
