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
         {"sinpi", "cospi", "logb", "rcbrt", "erfc", "normcdf", "erfinv", "erfcinv", "normcdfinv", "erfcx", "tgamma", "lgamma"})
      EXPECT_EQ(typeOf(name, dtype, 1), dtype) << name;
    for (const char *name : {"signbit", "ilogb"})
      EXPECT_EQ(typeOf(name, dtype, 1), DType::I32) << name;
    for (size_t count : {2, 3, 4})
      for (const char *name : {"norm", "rnorm"})
        EXPECT_EQ(typeOf(name, dtype, count), dtype) << name << count;
    EXPECT_EQ(typeOf("remainder", dtype, 2), dtype);
  }
  EXPECT_EQ(typeOf("saturate", DType::F32, 1), DType::F32);
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
