#include "tilery/arguments.h"
#include "tilery/diagnostic.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace tilery;

namespace {
ArgInfo scalarOf(DType type) { return {"n", type, false, false}; }

uint64_t slotOf(const LaunchArg &arg, const ArgInfo &expected) { return arg.slot({"k", 0, {expected}, {}}, expected); }

std::string refusal(const LaunchArg &arg, const ArgInfo &expected) {
  try {
    slotOf(arg, expected);
  } catch (const Error &error) {
    return error.diagnostic().message;
  }
  return "";
}
} // namespace

TEST(Arguments, IntegersAreExtendedByTheirOwnSign) {
  EXPECT_EQ(slotOf(-1, scalarOf(DType::I64)), ~uint64_t(0));
  EXPECT_EQ(slotOf(int8_t(-2), scalarOf(DType::I32)), uint64_t(-2));
  EXPECT_EQ(slotOf(~0u, scalarOf(DType::U64)), 0xffffffffu);
  EXPECT_EQ(slotOf(true, scalarOf(DType::Bool)), 1u);
}

TEST(Arguments, FloatsAreTheBitsOfTheParametersType) {
  float narrow = 1.5f;
  double wide = 0.1;
  uint32_t narrowBits;
  uint64_t wideBits;
  std::memcpy(&narrowBits, &narrow, 4);
  std::memcpy(&wideBits, &wide, 8);
  EXPECT_EQ(slotOf(1.5, scalarOf(DType::F32)), narrowBits);
  EXPECT_EQ(slotOf(0.1, scalarOf(DType::F64)), wideBits);
  double three = 3;
  std::memcpy(&wideBits, &three, 8);
  EXPECT_EQ(slotOf(3, scalarOf(DType::F64)), wideBits); // an integer is a number, too
  EXPECT_EQ(slotOf(3u, scalarOf(DType::F64)), wideBits);
}

TEST(Arguments, PointersGoByTheWidthOfTheirElements) {
  ArgInfo expected{"x", DType::F16, true, false};
  uint16_t half = 0; // C++ has no type of its own for it
  float wide = 0;
  void *unknown = &wide;
  EXPECT_EQ(slotOf(&half, expected), reinterpret_cast<uintptr_t>(&half));
  EXPECT_EQ(slotOf(unknown, expected), reinterpret_cast<uintptr_t>(unknown));
  EXPECT_EQ(refusal(&wide, expected), "argument 'x' of k must be pointer<float16>, got a pointer to float32");
  EXPECT_EQ(refusal(1, expected), "argument 'x' of k must be pointer<float16>, got a number");
}

TEST(Arguments, NumbersOfAnotherKindAreRefused) {
  float x = 0;
  EXPECT_EQ(refusal(1.5, scalarOf(DType::I32)), "argument 'n' of k must be int32, got a floating-point number");
  EXPECT_EQ(refusal(&x, scalarOf(DType::F32)), "argument 'n' of k must be float32, got a pointer to float32");
}

TEST(Arguments, IntegersThatAParameterCannotHoldAreRefused) {
  EXPECT_EQ(refusal(int64_t(1), scalarOf(DType::I32)), "argument 'n' of k must be int32, got an int64");
  EXPECT_EQ(refusal(uint64_t(1), scalarOf(DType::U32)), "argument 'n' of k must be uint32, got a uint64");
  EXPECT_EQ(refusal(300, scalarOf(DType::I8)), "argument 'n' of k must be int8, got 300");
  EXPECT_EQ(refusal(-129, scalarOf(DType::I8)), "argument 'n' of k must be int8, got -129");
  EXPECT_EQ(refusal(-1, scalarOf(DType::U32)), "argument 'n' of k must be uint32, got -1");
  EXPECT_EQ(refusal(~uint64_t(0), scalarOf(DType::I64)), "argument 'n' of k must be int64, got 18446744073709551615");
  EXPECT_EQ(refusal(2, scalarOf(DType::Bool)), "argument 'n' of k must be bool, got 2");
  EXPECT_EQ(slotOf(-128, scalarOf(DType::I8)), uint64_t(-128));
  EXPECT_EQ(slotOf(INT64_MIN, scalarOf(DType::I64)), uint64_t(1) << 63);
  EXPECT_EQ(slotOf(size_t(7), scalarOf(DType::I64)), 7u);
  EXPECT_EQ(slotOf(1, scalarOf(DType::Bool)), 1u);
}

TEST(Arguments, WhereAKernelStoresNothingIsConst) {
  const float x = 0;
  EXPECT_EQ(refusal(&x, {"x", DType::F32, true, true}),
            "argument 'x' of k must be pointer<float32>, got a pointer to const float32");
  EXPECT_EQ(slotOf(&x, {"x", DType::F32, true, false}), reinterpret_cast<uintptr_t>(&x));
}
