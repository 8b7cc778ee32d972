// Triton's promotion table (reference 2.10) and TIR's (BinaryOpMatchTypes), case by case.
#include "tilery/builder.h"
#include <gtest/gtest.h>

using namespace tilery;
using enum DType;

namespace {

struct Promotion : testing::Test {
  std::vector<Value> values(Builder &b, std::vector<DType> types) {
    std::vector<Param> params;
    for (DType type : types)
      params.push_back({"p" + std::to_string(params.size()), Type{type, {}}});
    return b.beginKernel("k", params);
  }
  DType triton(DType a, DType c, BinaryOp op = BinaryOp::Add) {
    Builder b(Policy::Triton);
    auto v = values(b, {a, c});
    return b.binary(op, v[0], v[1]).dtype();
  }
  DType triton(DType a, Literal literal, BinaryOp op = BinaryOp::Add) {
    Builder b(Policy::Triton);
    return b.binary(op, values(b, {a})[0], literal).dtype();
  }
  DType tir(DType a, DType c, BinaryOp op = BinaryOp::Add) {
    Builder b(Policy::Tir);
    auto v = values(b, {a, c});
    return b.binary(op, v[0], v[1]).dtype();
  }
  DType tir(DType a, Literal literal, BinaryOp op = BinaryOp::Add) {
    Builder b(Policy::Tir);
    return b.binary(op, values(b, {a})[0], literal).dtype();
  }
};

Literal integer(int64_t value) { return Literal(value); }

TEST_F(Promotion, TritonFloats) {
  struct Case {
    DType a, b, sum, quotient;
  };
  for (Case c : {Case{F64, F32, F64, F64},
                 {F64, I8, F64, F64},
                 {F32, F16, F32, F32},
                 {F32, BF16, F32, F32},
                 {F32, I64, F32, F32},
                 {F16, BF16, F16, F32},
                 {F16, I64, F16, F32},
                 {F16, U8, F16, F32},
                 {F16, F16, F16, F32},
                 {BF16, BF16, BF16, F32},
                 {BF16, I32, F32, F32},
                 {BF16, U64, F32, F32}}) {
    EXPECT_EQ(triton(c.a, c.b), c.sum) << dtypeName(c.a) << " + " << dtypeName(c.b);
    EXPECT_EQ(triton(c.b, c.a), c.sum) << dtypeName(c.b) << " + " << dtypeName(c.a);
    EXPECT_EQ(triton(c.a, c.b, BinaryOp::TrueDiv), c.quotient) << dtypeName(c.a) << " / " << dtypeName(c.b);
  }
}

TEST_F(Promotion, TritonIntegers) {
  struct Case {
    DType a, b, sum;
  };
  for (Case c : {Case{I8, I16, I16},
                 {I32, I64, I64},
                 {U8, U32, U32},
                 {I8, U8, U8},
                 {I8, U16, U16},
                 {I32, U32, U32},
                 {I32, U8, I32},
                 {I64, U32, I64},
                 {I64, U64, U64},
                 {Bool, I32, I32},
                 {Bool, U8, U8},
                 {I32, I32, I32}}) {
    EXPECT_EQ(triton(c.a, c.b), c.sum) << dtypeName(c.a) << " + " << dtypeName(c.b);
    EXPECT_EQ(triton(c.b, c.a), c.sum) << dtypeName(c.b) << " + " << dtypeName(c.a);
  }
  for (BinaryOp op : {BinaryOp::TrueDiv, BinaryOp::FloorDiv, BinaryOp::Mod})
    EXPECT_THROW(triton(I32, U32, op), Error);
  EXPECT_EQ(triton(I32, I32, BinaryOp::TrueDiv), F32);
  EXPECT_EQ(triton(I64, I8, BinaryOp::FloorDiv), I64);
  EXPECT_THROW(triton(F32, F32, BinaryOp::FloorDiv), Error);
}

TEST_F(Promotion, TritonLiterals) {
  EXPECT_EQ(triton(F16, integer(3)), F16);
  EXPECT_EQ(triton(F16, 2.0), F16);
  EXPECT_EQ(triton(F16, 2.0, BinaryOp::TrueDiv), F32);
  EXPECT_EQ(triton(BF16, integer(2), BinaryOp::Mod), F32);
  EXPECT_EQ(triton(I8, integer(100)), I8);
  EXPECT_EQ(triton(I8, true), I8);
  EXPECT_EQ(triton(I32, 1.5), F32);
  EXPECT_EQ(triton(I32, 1e300), F64);
  EXPECT_EQ(triton(Bool, integer(1)), I32);
  EXPECT_EQ(triton(Bool, integer(int64_t(1) << 31)), U32);
  EXPECT_EQ(triton(Bool, integer(int64_t(1) << 40)), I64);
  EXPECT_THROW(triton(I8, integer(200)), Error);
  EXPECT_THROW(triton(U32, integer(-1)), Error);
  EXPECT_THROW(triton(I32, integer(int64_t(1) << 40)), Error);
}

TEST_F(Promotion, Tir) {
  struct Case {
    DType a, b, sum;
  };
  for (Case c : {Case{F16, F32, F32},
                 {F16, BF16, F32},
                 {F32, F64, F64},
                 {F16, I32, F16},
                 {F32, I64, F32},
                 {I8, I32, I32},
                 {U8, U16, U16},
                 {I32, U32, I32},
                 {I8, U64, I64},
                 {Bool, I8, I8}}) {
    EXPECT_EQ(tir(c.a, c.b), c.sum) << dtypeName(c.a) << " + " << dtypeName(c.b);
    EXPECT_EQ(tir(c.b, c.a), c.sum) << dtypeName(c.b) << " + " << dtypeName(c.a);
  }
  EXPECT_EQ(tir(F16, 2.0), F16);
  EXPECT_EQ(tir(F16, 2.0, BinaryOp::TrueDiv), F16);
  EXPECT_EQ(tir(I32, 1.5), F32);
  EXPECT_EQ(tir(I32, integer(2), BinaryOp::TrueDiv), F32);
}

TEST_F(Promotion, ComparisonsGiveBool) {
  EXPECT_EQ(triton(F16, I32, BinaryOp::Lt), Bool);
  EXPECT_EQ(tir(I8, U8, BinaryOp::Eq), Bool);
}

TEST_F(Promotion, FunctionsOfThreeTakeTheWidest) {
  for (std::vector<DType> types : {std::vector{F32, F64, F32}, {F64, F32, F32}, {F32, F32, F64}, {F16, F64, I32}}) {
    Builder b(Policy::Triton);
    auto v = values(b, types);
    EXPECT_EQ(b.math(MathOp::Fma, {v[0], v[1], v[2]}).dtype(), F64);
  }
  Builder b(Policy::Triton);
  auto v = values(b, {F16, F32});
  EXPECT_EQ(b.math(MathOp::Fma, {Literal(2.0), v[0], Literal(1.0)}).dtype(), F16);
  EXPECT_EQ(b.math(MathOp::Fma, {Literal(2.0), v[0], v[1]}).dtype(), F32);
}

} // namespace
