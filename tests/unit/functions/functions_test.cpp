// Composed functions: each builds what the verifiers accept, for every type it is for, and has the type it should.
#include "tilery/functions.h"
#include "tilery/module.h"
#include <gtest/gtest.h>

using namespace tilery;

namespace {
struct Functions : testing::TestWithParam<Policy> {
  Builder b{GetParam()};
  std::vector<Value> args = b.beginKernel("k", {{"p", Type{DType::F32, {}, true}}});
  Value tile(DType dtype) { return b.full({8}, Literal(int64_t(3)), dtype); }
  DType typeOf(const std::string &name, DType dtype, size_t count) {
    return composed(b, name, std::vector<Value>(count, tile(dtype))).dtype();
  }
  void end() {
    b.endKernel();
    EXPECT_NE(b.finish(), nullptr);
  }
};

TEST_P(Functions, OfIntegers) {
  for (DType dtype : {DType::I32, DType::I64, DType::U32, DType::U64}) {
    for (const char *name : {"popc", "clz", "ffs"})
      EXPECT_TRUE(isInteger(typeOf(name, dtype, 1))) << name;
    EXPECT_EQ(typeOf("brev", dtype, 1), dtype);
    for (const char *name : {"hadd", "rhadd"})
      EXPECT_EQ(typeOf(name, dtype, 2), dtype) << name;
    EXPECT_EQ(typeOf("sad", dtype, 3), dtype);
  }
  EXPECT_EQ(typeOf("mul24", DType::I32, 2), DType::I32);
  EXPECT_EQ(typeOf("byte_perm", DType::U32, 3), DType::I32);
  end();
}

TEST_P(Functions, OfFloats) {
  for (DType dtype : {DType::F32, DType::F64}) {
    for (const char *name :
         {"sinpi",  "cospi",  "logb", "rcbrt", "erfc", "normcdf", "erfinv",        "erfcinv",       "normcdfinv", "erfcx",
          "tgamma", "lgamma", "j0",   "j1",    "y0",   "y1",      "cyl_bessel_i0", "cyl_bessel_i1", "rcp_rz",     "sqrt_ru"})
      EXPECT_EQ(typeOf(name, dtype, 1), dtype) << name;
    for (const char *name : {"signbit", "ilogb"})
      EXPECT_EQ(typeOf(name, dtype, 1), DType::I32) << name;
    for (size_t count : {2, 3, 4})
      for (const char *name : {"norm", "rnorm"})
        EXPECT_EQ(typeOf(name, dtype, count), dtype) << name << count;
    for (const char *name : {"remainder", "nextafter", "ldexp", "add_rn", "sub_rz", "mul_rd", "div_ru"})
      EXPECT_EQ(typeOf(name, dtype, 2), dtype) << name;
    EXPECT_EQ(typeOf("fma_rd", dtype, 3), dtype);
    EXPECT_EQ(typeOf("rs_bfloat16", dtype, 2), DType::F64); // the number of that type, not yet converted
    for (const char *name : {"jn", "yn"})
      EXPECT_EQ(composed(b, name, {tile(DType::I32), tile(dtype)}).dtype(), dtype) << name;
  }
  EXPECT_EQ(typeOf("saturate", DType::F32, 1), DType::F32);
  end();
}

TEST_P(Functions, Conversions) {
  for (DType dtype : {DType::F32, DType::F64}) {
    std::string word = dtype == DType::F32 ? "float" : "double";
    EXPECT_EQ(typeOf(word + "2ull_ru", dtype, 1), DType::U64);
    for (DType integer : {DType::I32, DType::U32, DType::I64, DType::U64}) {
      std::string name = std::string(isSigned(integer) ? "" : "u") + (bitWidth(integer) == 64 ? "ll" : "int");
      EXPECT_EQ(typeOf(name + "2" + word + "_rd", integer, 1), dtype) << name;
    }
  }
  EXPECT_EQ(typeOf("double2float_rz", DType::F64, 1), DType::F32);
  EXPECT_EQ(typeOf("hiloint2double", DType::I32, 2), DType::F64);
  end();
}

TEST_P(Functions, CodesOfSmallFloats) {
  for (std::string kind : {"float4_e2m1fn", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e4b15", "float8_e8m0fnu"}) {
    EXPECT_EQ(typeOf("decode_" + kind, DType::U8, 1), DType::F32) << kind;
    for (DType dtype : {DType::F16, DType::F32, DType::F64, DType::I32})
      EXPECT_EQ(typeOf("encode_" + kind, dtype, 1), DType::U8) << kind;
  }
  end();
}

TEST_P(Functions, NumbersByPart) {
  for (const char *name : {"vadd2", "vsub4", "vmaxu2", "vmins4", "vcmpeq4", "vcmplts2"})
    EXPECT_EQ(typeOf(name, DType::U32, 2), DType::U32) << name;
  EXPECT_FALSE(isFunction("vaddu2")); // those saturate in CUDA
  end();
}

TEST_P(Functions, RandomWords) {
  for (DType dtype : {DType::U32, DType::U64}) {
    std::vector<Value> words = philox(b, std::vector<Value>(4, tile(dtype)), std::vector<Value>(2, tile(dtype)), 10);
    ASSERT_EQ(words.size(), 4u);
    for (const Value &word : words)
      EXPECT_EQ(word.dtype(), dtype);
  }
  end();
}

TEST_P(Functions, Others) {
  auto errorOf = [&](const std::string &name, size_t count) {
    try {
      typeOf(name, DType::F32, count);
    } catch (const Error &error) {
      return error.diagnostic().message;
    }
    return std::string();
  };
  EXPECT_EQ(errorOf("gamma", 1), "there is no function `gamma` of 1 operands");
  EXPECT_EQ(errorOf("norm", 5), "there is no function `norm` of 5 operands");
}

INSTANTIATE_TEST_SUITE_P(Policies, Functions, testing::Values(Policy::Triton, Policy::Tir));
} // namespace
