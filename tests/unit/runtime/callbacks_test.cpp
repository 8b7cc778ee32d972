// The lines of prints, and the errors of assertions.
#include "runtime/callbacks.h"
#include "kernels.h"
#include "runtime/pool.h"

using namespace tilery;
using namespace tilery::test;

namespace {
/// What program 7 of a grid of 3 x 2 x 4 prints of one row of elements.
template <typename T> std::string printed(std::vector<T> elements, DType dtype, bool hex = false) {
  const int64_t shape[] = {int64_t(elements.size())};
  TileryPrinted value{elements.data(), shape, 1, uint32_t(dtype)};
  TileryLaunch launch{nullptr, {3, 2, 4}, 0, nullptr, nullptr};
  testing::internal::CaptureStdout();
  tilery_rt_print(&launch, 7, "x ", hex, 1, &value);
  return testing::internal::GetCapturedStdout();
}
/// The values alone, each line's last word.
template <typename T> std::vector<std::string> values(std::vector<T> elements, DType dtype, bool hex = false) {
  std::vector<std::string> words;
  std::string text = printed(elements, dtype, hex);
  for (size_t start = 0, end; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
    std::string line = text.substr(start, end - start);
    words.push_back(line.substr(line.rfind(' ') + 1));
  }
  return words;
}
using Words = std::vector<std::string>;
} // namespace

TEST(Callbacks, ALineSaysProgramIndexAndValue) {
  EXPECT_EQ(printed<int32_t>({-5, 6}, DType::I32), "pid (1, 0, 1) idx (0) x -5\npid (1, 0, 1) idx (1) x 6\n");
}

TEST(Callbacks, IndicesAreAsWideAsTheLargest) {
  std::vector<uint8_t> elements(2 * 11, 3);
  const int64_t shape[] = {2, 11};
  TileryPrinted pair[] = {{elements.data(), shape, 2, uint32_t(DType::U8)}, {elements.data(), nullptr, 0, uint32_t(DType::U8)}};
  TileryLaunch launch{nullptr, {1, 1, 1}, 0, nullptr, nullptr};
  testing::internal::CaptureStdout();
  tilery_rt_print(&launch, 0, "", 0, 2, pair);
  std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 23);
  EXPECT_NE(text.find("pid (0, 0, 0) idx (1,  9) (operand 0) 3\npid (0, 0, 0) idx (1, 10) (operand 0) 3\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("pid (0, 0, 0) idx () (operand 1) 3\n"), std::string::npos) << text;
}

TEST(Callbacks, WithoutValuesThePrefixIsPrinted) {
  TileryLaunch launch{nullptr, {5, 1, 1}, 0, nullptr, nullptr};
  testing::internal::CaptureStdout();
  tilery_rt_print(&launch, 4, "here", 0, 0, nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "pid (4, 0, 0) here\n");
}

TEST(Callbacks, EveryTypeHasItsText) {
  EXPECT_EQ(values<uint8_t>({0, 1}, DType::Bool), (Words{"False", "True"}));
  EXPECT_EQ(values<int8_t>({-128}, DType::I8), Words{"-128"});
  EXPECT_EQ(values<uint16_t>({65535}, DType::U16), Words{"65535"});
  EXPECT_EQ(values<int64_t>({INT64_MIN}, DType::I64), Words{"-9223372036854775808"});
  EXPECT_EQ(values<uint64_t>({UINT64_MAX}, DType::U64), Words{"18446744073709551615"});
  EXPECT_EQ(values<float>({0.5f}, DType::F32), Words{"0.500000"});
  EXPECT_EQ(values<double>({-1e10}, DType::F64), Words{"-10000000000.000000"});
  // Signs, subnormal numbers, the largest ones, infinities and NaNs of the small formats.
  EXPECT_EQ(values<uint16_t>({0x3c00, 0xfbff, 0x7c00, 0xfc00, 0x0200}, DType::F16),
            (Words{"1.000000", "-65504.000000", "inf", "-inf", "0.000031"}));
  EXPECT_EQ(values<uint16_t>({0x3f80, 0xc040, 0x7f80}, DType::BF16), (Words{"1.000000", "-3.000000", "inf"}));
  EXPECT_EQ(values<uint8_t>({0x38, 0x7e, 0xfe, 0x7f, 0x01}, DType::F8E4M3),
            (Words{"1.000000", "448.000000", "-448.000000", "nan", "0.001953"}));
  EXPECT_EQ(values<uint8_t>({0x3c, 0x7b, 0x7c, 0x7d, 0x01}, DType::F8E5M2),
            (Words{"1.000000", "57344.000000", "inf", "nan", "0.000015"}));
}

TEST(Callbacks, HexadecimalHasAllDigits) {
  EXPECT_EQ(values<int32_t>({255, -1}, DType::I32, true), (Words{"0x000000ff", "0xffffffff"}));
  EXPECT_EQ(values<uint8_t>({10}, DType::U8, true), Words{"0x0a"});
  EXPECT_EQ(values<uint64_t>({4096}, DType(TILERY_POINTER)), Words{"0x0000000000001000"});
}

TEST(Callbacks, AnAssertionStopsTheLaunchWithItsPlace) {
  KernelPtr kernel = kernelOf(programLoop(incrementBody));
  const int64_t grid[3] = {3, 2, 4};
  LaunchOptions options;
  Job job(*kernel, grid, nullptr, options);
  tilery_rt_assert(&job.launch, 7, "x > 0", "program.py", 12, 5);
  tilery_rt_assert(&job.launch, 8, "later", nullptr, 0, 0);
  EXPECT_TRUE(job.finished());
  ASSERT_TRUE(job.failure);
  EXPECT_EQ(job.failure->kind, Diagnostic::Kind::Assertion);
  EXPECT_EQ(job.failure->message, "x > 0 (program (1, 0, 1) of k)");
  ASSERT_EQ(job.failure->chain.size(), 1u);
  EXPECT_EQ(job.failure->chain[0].file, "program.py");
  EXPECT_EQ(job.failure->chain[0].line, 12);
  const uint32_t extents[3] = {3, 2, 4};
  EXPECT_TRUE(assertionFailure(extents, 0, "m", {"", 0, 0, "k"}).chain.empty()) << "no file, no place";
}
