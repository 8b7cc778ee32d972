// The types of literals, and their values in other types.
#include "tilery/builder.h"
#include "tilery/module.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tilery;

namespace {
DType typeOf(const Literal &literal, Policy policy = Policy::Triton) {
  Builder b(policy);
  b.beginKernel("k", {});
  return b.materialize(literal).dtype();
}
/// A constant as the IR prints it.
std::string printed(const Literal &literal, DType dtype) {
  Builder b(Policy::Triton);
  b.beginKernel("k", {});
  b.constant(literal, dtype);
  b.endKernel();
  std::string text = b.finish()->text();
  size_t at = text.find("arith.constant ") + 15;
  return text.substr(at, text.find_first_of(" \n", at) - at);
}

TEST(Constants, TypesOfLiterals) {
  EXPECT_EQ(typeOf(true), DType::Bool);
  EXPECT_EQ(typeOf(int64_t(INT32_MAX)), DType::I32);
  EXPECT_EQ(typeOf(int64_t(INT32_MIN)), DType::I32);
  EXPECT_EQ(typeOf(int64_t(INT32_MAX) + 1), DType::U32);
  EXPECT_EQ(typeOf(int64_t(INT32_MAX) + 1, Policy::Tir), DType::I64);
  EXPECT_EQ(typeOf(int64_t(INT32_MIN) - 1), DType::I64);
  EXPECT_EQ(typeOf(uint64_t(UINT64_MAX)), DType::U64);
  EXPECT_EQ(typeOf(0.0), DType::F32);
  EXPECT_EQ(typeOf(1.5), DType::F32);
  EXPECT_EQ(typeOf(INFINITY), DType::F32);
  EXPECT_EQ(typeOf(1e300), DType::F64);
  EXPECT_EQ(typeOf(1e-300), DType::F64);
  EXPECT_EQ(typeOf(1e300, Policy::Tir), DType::F32);
}

TEST(Constants, ValuesInOtherTypes) {
  EXPECT_EQ(printed(int64_t(-1), DType::U8), "-1"); // the same bits
  EXPECT_EQ(printed(2.9, DType::I32), "2");
  EXPECT_EQ(printed(-2.9, DType::I32), "-2");
  EXPECT_EQ(printed(uint64_t(UINT64_MAX), DType::U64), "-1");
  EXPECT_EQ(printed(0.5, DType::Bool), "true");
  EXPECT_EQ(printed(true, DType::I32), "1");
  EXPECT_EQ(printed(int64_t(3), DType::F32), "3.000000e+00");
  EXPECT_EQ(printed(65520.0, DType::F16), "0x7C00") << "rounds to infinity";
  EXPECT_EQ(printed(65519.0, DType::F16), "6.550400e+04");
}
} // namespace
