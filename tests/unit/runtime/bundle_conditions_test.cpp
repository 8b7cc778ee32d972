// What is said of a call that no variant of a bundle's entry is for.
#include "runtime/bundle_conditions.h"
#include "tilery/diagnostic.h"
#include <gtest/gtest.h>

using namespace tilery;

namespace {
using Kind = BundleCondition::Kind;

/// Of a call with a tensor of 4 x 6 elements, 4 bytes behind a multiple of 64, whose rows are 33 apart, and the numbers 3 and -24.
std::string whyNone(std::vector<std::vector<BundleCondition>> variants) {
  alignas(64) static float data[256];
  const int64_t extents[] = {4, 6}, strides[] = {33, 1};
  const Tensor tensor{data + 1, DType::F32, 2, extents, strides, {}};
  BundleEntry entry{"f",
                    {{"x", DType::F32, 2, false, DType::F32},
                     {"n", DType::I64, -1, true, DType::I32},
                     {"m", DType::I32, -1, false, DType::I32}},
                    false,
                    {}};
  for (auto &conditions : variants)
    entry.variants.push_back({std::move(conditions), "no image", ""});
  Bundle bundle(serialize({entry}));
  const std::vector<HostArgument> arguments{{&tensor, 0}, {nullptr, 3}, {nullptr, uint64_t(-24)}};
  return bundle.call(0, arguments, nullptr, {}) ? "ran" : bundle.whyNone(0, arguments, {});
}
} // namespace

TEST(BundleConditions, EachIsNamedWithWhatCameAndWhatIsExpected) {
  EXPECT_EQ(whyNone({{{Kind::AddressDivisible, 0, 0, 16}}}),
            "argument 'x' begins 4 bytes behind a multiple of 16; a multiple of 16 is expected of its address");
  EXPECT_EQ(whyNone({{{Kind::ExtentIs, 0, 1, 8}}}), "argument 'x' has 6 elements in dimension 1; 8 are expected");
  EXPECT_EQ(whyNone({{{Kind::ExtentDivisible, 0, 0, 16}}}),
            "argument 'x' has 4 elements in dimension 0; a multiple of 16 is expected");
  EXPECT_EQ(whyNone({{{Kind::StrideIs, 0, 1, 2}}}), "argument 'x' has stride 1 in dimension 1; 2 is expected");
  EXPECT_EQ(whyNone({{{Kind::StrideDivisible, 0, 0, 16}}}),
            "argument 'x' has stride 33 in dimension 0; a positive multiple of 16 is expected");
}

TEST(BundleConditions, NumbersDivide) {
  EXPECT_EQ(whyNone({{{Kind::NumberDivisible, 2, 0, 16}}}), "argument 'm' is -24; a multiple of 16 is expected");
  EXPECT_THROW(whyNone({{{Kind::NumberDivisible, 2, 0, 8}}}), Error); // runs, and its bytes are no image
}

TEST(BundleConditions, TheNumbersThatThereAreAreNamed) {
  EXPECT_EQ(whyNone({{{Kind::NumberIs, 1, 0, 4}}}), "argument 'n' is 3; 4 is expected");
  EXPECT_EQ(whyNone({{{Kind::NumberIs, 1, 0, 4}}, {{Kind::NumberIs, 1, 0, 1}}, {{Kind::NumberIs, 1, 0, 2}}}),
            "argument 'n' is 3; 1, 2 or 4 is expected");
}

TEST(BundleConditions, TheNearestVariantIsToldOf) {
  const std::string stride = "argument 'x' has stride 33 in dimension 0; 6 is expected";
  const BundleCondition wide{Kind::StrideIs, 0, 0, 6}, odd{Kind::AddressDivisible, 0, 0, 8}, mine{Kind::NumberIs, 1, 0, 3};
  EXPECT_EQ(whyNone({{odd, wide}, {wide}}), stride);
  EXPECT_EQ(whyNone({{{Kind::NumberIs, 1, 0, 4}}, {mine, wide}}), stride); // code for other numbers is none of this call
  EXPECT_EQ(whyNone({{{Kind::GpuExactly, 0, 0, 90}}, {{Kind::Cpu, 0, 0, 0}, wide}}), stride);
  EXPECT_EQ(whyNone({{odd, wide}}), "argument 'x' begins 4 bytes behind a multiple of 8; a multiple of 8 is expected of its "
                                    "address; " +
                                        stride);
}

TEST(BundleConditions, MachinesAreNamed) {
  EXPECT_EQ(whyNone({{{Kind::GpuExactly, 0, 0, 90}}, {{Kind::Gpu, 0, 0, 80}}}),
            "its code is for GPUs of sm_80 and later or GPUs of sm_90, the call on this CPU");
  const int64_t none = int64_t(1) << 62;
  EXPECT_EQ(whyNone({{{Kind::Cpu, 0, 0, none}}}), "its code is for CPUs like the one that compiled it, the call on this CPU");
}
