// Bundles: which variant a call runs, and what damaged bytes give.
#include "tilery/bundle.h"
#include "tilery/diagnostic.h"
#include <gtest/gtest.h>

using namespace tilery;

namespace {
using Kind = BundleCondition::Kind;

BundleEntry entry() {
  BundleEntry result{"f", {{"x", DType::F32, 2, false, DType::F32}, {"n", DType::I64, -1, true, DType::I32}}, false, {}};
  result.variants.push_back({{{Kind::Cpu, 0, 0, 0}, {Kind::StrideIs, 0, 1, 1}}, "image", "second"});
  return result;
}
/// Whether a call finds its variant: one that does has bytes that are no image, an error of its own.
bool found(const BundleCondition &condition, const Tensor &tensor, int64_t number = 0, int device = -1) {
  BundleEntry one = entry();
  one.variants = {{{condition}, "no image", ""}};
  Bundle bundle(serialize({one}));
  std::vector<HostArgument> arguments{{&tensor, 0}, {nullptr, uint64_t(number)}};
  try {
    return bundle.call(0, arguments, nullptr, {.device = device});
  } catch (const Error &) {
    return true;
  }
}
} // namespace

TEST(Bundle, BytesComeBack) {
  auto back = parseBundle(serialize({entry(), entry()}));
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[1].name, "f");
  EXPECT_EQ(back[1].parameters, entry().parameters);
  EXPECT_EQ(back[1].variants[0].conditions, entry().variants[0].conditions);
  EXPECT_EQ(back[1].variants[0].image, "image");
  EXPECT_EQ(back[1].variants[0].withoutBoxes, "second");
}

TEST(Bundle, EveryTruncationIsRefused) {
  std::string bytes = serialize({entry()});
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(parseBundle(bytes.substr(0, size)), Error) << size;
  EXPECT_THROW(parseBundle(bytes + "x"), Error);
}

TEST(Bundle, EveryFlippedBitIsRefused) {
  const std::string bytes = serialize({entry()});
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = char(damaged[bit / 8] ^ 1 << bit % 8);
    EXPECT_THROW(parseBundle(damaged), Error) << bit;
  }
}

TEST(Bundle, ConditionsOnWhatIsNotThereAreRefused) {
  for (BundleCondition wrong : {BundleCondition{Kind::ExtentIs, 0, 2, 1},
                                {Kind::ExtentIs, 2, 0, 1},
                                {Kind::NumberIs, 0, 0, 1},
                                {Kind::AddressDivisible, 1, 0, 16},
                                {Kind::StrideDivisible, 0, 0, 0},
                                {Kind::NumberDivisible, 0, 0, 16},
                                {Kind::NumberDivisible, 1, 0, 0},
                                {Kind(99), 0, 0, 0}}) {
    BundleEntry one = entry();
    one.variants[0].conditions = {wrong};
    EXPECT_THROW(parseBundle(serialize({one})), Error) << int(wrong.kind);
  }
}

TEST(Bundle, ConditionsSayWhatTheyMean) {
  alignas(64) static float data[64];
  int64_t extents[] = {4, 6}, strides[] = {32, 1};
  Tensor tensor{data, DType::F32, 2, extents, strides, {}}, odd = tensor;
  odd.data = data + 1;
  EXPECT_TRUE(found({Kind::Cpu, 0, 0, 0}, tensor));
  EXPECT_FALSE(found({Kind::Cpu, 0, 0, int64_t(1) << 62}, tensor)); // a feature that no machine has
  EXPECT_FALSE(found({Kind::Gpu, 0, 0, 80}, tensor));
  EXPECT_TRUE(found({Kind::AddressDivisible, 0, 0, 16}, tensor));
  EXPECT_FALSE(found({Kind::AddressDivisible, 0, 0, 16}, odd));
  EXPECT_TRUE(found({Kind::ExtentIs, 0, 1, 6}, tensor));
  EXPECT_FALSE(found({Kind::ExtentIs, 0, 0, 6}, tensor));
  EXPECT_TRUE(found({Kind::ExtentDivisible, 0, 1, 3}, tensor));
  EXPECT_FALSE(found({Kind::ExtentDivisible, 0, 1, 4}, tensor));
  EXPECT_TRUE(found({Kind::StrideIs, 0, 1, 1}, tensor));
  EXPECT_TRUE(found({Kind::StrideDivisible, 0, 0, 16}, tensor));
  strides[0] = -32;
  EXPECT_FALSE(found({Kind::StrideDivisible, 0, 0, 16}, tensor));
  EXPECT_TRUE(found({Kind::NumberIs, 1, 0, -5}, tensor, -5));
  EXPECT_FALSE(found({Kind::NumberIs, 1, 0, -5}, tensor, 5));
  EXPECT_TRUE(found({Kind::Disjoint, 0, 0, 0}, tensor));
}

TEST(Bundle, TheFirstVariantThatFitsRuns) {
  BundleEntry one = entry();
  one.variants = {{{{Kind::NumberIs, 1, 0, 1}}, "no image", ""}, {{{Kind::NumberIs, 1, 0, 2}}, "no image", ""}};
  Bundle bundle(serialize({one}));
  int64_t extents[] = {1, 1}, strides[] = {1, 1};
  float x = 0;
  Tensor tensor{&x, DType::F32, 2, extents, strides, {}};
  std::vector<HostArgument> arguments{{&tensor, 0}, {nullptr, 3}};
  EXPECT_FALSE(bundle.call(0, arguments, nullptr, {}));
  arguments[1].bits = 2;
  EXPECT_THROW(bundle.call(0, arguments, nullptr, {}), Error);
  arguments.pop_back();
  EXPECT_THROW(bundle.call(0, arguments, nullptr, {}), Error);
  int64_t grid[] = {1, 1, 1};
  arguments.push_back({nullptr, 3});
  EXPECT_THROW(bundle.call(0, arguments, grid, {}), Error);
}

TEST(Bundle, ArgumentsThatAreNotThereAreRefused) {
  BundleEntry one{"f",
                  {{"x", DType::F32, 2, false, DType::F32}, {"n", DType::I64, -1, false, DType::I64}},
                  false,
                  {{{{Kind::ExtentIs, 0, 1, 6}, {Kind::StrideIs, 0, 1, 1}, {Kind::Disjoint, 0, 0, 0}}, "no image", ""}}};
  BundleEntry kernel{"k", {{"p", DType::F32, 0, false, DType::F32}}, true, {{{{Kind::GpuExactly, 0, 0, 1}}, "no image", ""}}};
  Bundle bundle(serialize({one, kernel}));
  auto message = [&](size_t number, std::vector<HostArgument> arguments, const int64_t *grid = nullptr) {
    try {
      return bundle.call(number, arguments, grid, {}) ? std::string("ran") : std::string("no variant");
    } catch (const Error &error) {
      return error.diagnostic().message;
    }
  };
  float memory[24];
  int64_t extents[] = {4, 5}, strides[] = {5, 1}, none[] = {0, 6}, negative[] = {4, -5};
  auto given = [&](Tensor x) { return message(0, {{&x, 0}, {}}); };
  EXPECT_EQ(given({memory, DType::F32, 2, extents, strides, {}}), "no variant");
  EXPECT_EQ(given({nullptr, DType::F32, 2, none, none, {}}), "no variant");
  const std::string start = "argument 'x' of f is a tensor of 2 dimensions";
  EXPECT_EQ(given({nullptr, DType::F32, 2, extents, strides, {}}), start + "; its data is null");
  EXPECT_EQ(given({memory, DType::F32, 2, nullptr, nullptr, {}}), start + "; its shape is null");
  EXPECT_EQ(given({memory, DType::F32, 2, negative, strides, {}}), start + "; its shape is 4, -5");
  EXPECT_EQ(given({memory, DType::F32, 2, extents, nullptr, {}}),
            start + "; its strides are null (rows that lie one behind the other have 5, 1)");
  EXPECT_EQ(given({memory, DType::F32, 1, extents, strides, {}}), start + ", got one of 1");
  EXPECT_EQ(message(0, {{}, {}}), start + ", got a number");
  Tensor x{memory, DType::F32, 2, extents, strides, {}}, pointer{};
  EXPECT_EQ(message(0, {{&x, 0}, {&x, 0}}), "argument 'n' of f is a number, got a tensor");
  const int64_t some[] = {1, 2, 1}, noPrograms[] = {1, 0, 1};
  EXPECT_EQ(message(1, {{&pointer, 0}}, some),
            "argument 'p' of k is a pointer; it is null (where the kernel does not touch it, any other address does)");
  EXPECT_EQ(message(1, {{&pointer, 0}}, noPrograms), "no variant");
  EXPECT_EQ(message(1, {{}}, some), "argument 'p' of k is a pointer, got a number");
}

TEST(Bundle, AnImageThatDoesNotFitItsEntryIsRefused) {
  HostProgram program;
  program.name = "f";
  program.tensors = 1;
  program.code = {int64_t(HostOp::Return), 0};
  auto message = [&](int32_t rank, const CodeImage &image) {
    program.parameters = {{"x", DType::F32, rank}};
    BundleEntry one{"f", {{"x", DType::F32, -1, false, DType::F32}}, false, {}};
    CodeImage whole = image;
    if (whole.kernels.empty())
      whole.host = program.serialize();
    one.variants = {{{{BundleCondition::Cpu, 0, 0, 0}}, serialize(whole), ""}};
    Bundle bundle(serialize({one}));
    try {
      return bundle.call(0, std::vector<HostArgument>(1), nullptr, {}) ? std::string("ran") : std::string();
    } catch (const Error &error) {
      return error.diagnostic().message;
    }
  };
  EXPECT_EQ(message(-1, {}), "ran");
  EXPECT_EQ(message(2, {}), "f has no tensor 'x' that its program needs");
  CodeImage kernel{".version 8.0", {{"k", 0, {{"x", DType::F32, false, false}}}}, ""};
  kernel.kernels[0].gpu.threads = 32;
  EXPECT_EQ(message(-1, kernel), "f has an image without a host program, which must be one kernel that takes a grid");
}

TEST(CpuFeatures, NamedTargetsAskForMore) {
  EXPECT_EQ(cpuFeaturesOf("host"), cpuFeatures());
  EXPECT_EQ(cpuFeaturesOf("avx2") & cpuFeaturesOf("avx512"), cpuFeaturesOf("avx2"));
  EXPECT_EQ(cpuFeatures() & cpuFeaturesOf("avx2"), cpuFeaturesOf("avx2")); // the least that tests run on
  EXPECT_THROW(cpuFeaturesOf("avx"), Error);
}
