// The texts of what programs print.
#include "runtime/print.h"
#include "tilery/dtype.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

using namespace tilery;

namespace {
/// What program 7 of a grid of 3 x 2 x 4 prints of one row of elements.
template <typename T> std::string printed(std::vector<T> elements, DType dtype, bool hex = false) {
  const int64_t shape[] = {int64_t(elements.size())};
  TileryPrinted value{elements.data(), shape, 1, uint32_t(dtype)};
  TileryLaunch launch{nullptr, {3, 2, 4}, 0, nullptr, nullptr, 0};
  return printedLines(launch, 7, "x ", hex, {&value, 1});
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
const TileryLaunch one{nullptr, {1, 1, 1}, 0, nullptr, nullptr, 0};
/// What a program prints of one tile, whole.
template <typename T> std::string printed(std::vector<T> elements, std::vector<int64_t> shape, DType dtype, bool hex = false) {
  TileryPrinted value{elements.data(), shape.data(), uint32_t(shape.size()), uint32_t(dtype)};
  return printedTiles(one, 0, "x: ", hex, {&value, 1});
}
} // namespace

TEST(Print, ALineSaysProgramIndexAndValue) {
  EXPECT_EQ(printed<int32_t>({-5, 6}, DType::I32), "pid (1, 0, 1) idx (0) x -5\npid (1, 0, 1) idx (1) x 6\n");
}

TEST(Print, IndicesAreAsWideAsTheLargest) {
  std::vector<uint8_t> elements(2 * 11, 3);
  const int64_t shape[] = {2, 11};
  TileryPrinted pair[] = {{elements.data(), shape, 2, uint32_t(DType::U8)}, {elements.data(), nullptr, 0, uint32_t(DType::U8)}};
  TileryLaunch launch{nullptr, {1, 1, 1}, 0, nullptr, nullptr, 0};
  std::string text = printedLines(launch, 0, ": ", false, pair);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 23);
  EXPECT_NE(text.find("pid (0, 0, 0) idx (1,  9): (operand 0) 3\npid (0, 0, 0) idx (1, 10): (operand 0) 3\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("pid (0, 0, 0) idx (): (operand 1) 3\n"), std::string::npos) << text;
}

TEST(Print, WithoutValuesThePrefixIsPrinted) {
  TileryLaunch launch{nullptr, {5, 1, 1}, 0, nullptr, nullptr, 0};
  EXPECT_EQ(printedLines(launch, 4, "here", false, {}), "pid (4, 0, 0) here\n");
  EXPECT_EQ(printedTiles(launch, 4, "here", false, {}), "(4, 0, 0) here\n");
}

TEST(Print, EveryTypeHasItsText) {
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

TEST(Print, HexadecimalHasAllDigits) {
  EXPECT_EQ(values<int32_t>({255, -1}, DType::I32, true), (Words{"0x000000ff", "0xffffffff"}));
  EXPECT_EQ(values<uint8_t>({10}, DType::U8, true), Words{"0x0a"});
  EXPECT_EQ(values<uint64_t>({4096}, DType(TILERY_POINTER)), Words{"0x0000000000001000"});
}

TEST(Print, TilesHaveEightElementsALineOfOneWidth) {
  std::vector<int32_t> elements(18);
  std::iota(elements.begin(), elements.end(), -7);
  EXPECT_EQ(printed(elements, {18}, DType::I32), "(0, 0, 0) x: [-7, -6, -5, -4, -3, -2, -1,  0,\n"
                                                 "               1,  2,  3,  4,  5,  6,  7,  8,\n"
                                                 "               9, 10]\n");
  EXPECT_EQ(printed<uint8_t>({1, 10}, {2}, DType::U8, true), "(0, 0, 0) x: [0x01, 0x0a]\n");
}

TEST(Print, RowsBeginInLinesOfTheirOwn) {
  EXPECT_EQ(printed<uint8_t>({1, 2, 3, 14}, {2, 2}, DType::U8), "(0, 0, 0) x: [[ 1,  2],\n"
                                                                "              [ 3, 14]]\n");
  EXPECT_EQ(printed<uint8_t>({0, 1}, {2, 1, 1}, DType::Bool), "(0, 0, 0) x: [[[False]],\n"
                                                              "              [[ True]]]\n");
}

TEST(Print, FloatsOfTilesHaveFourPlacesOrAnExponent) {
  EXPECT_EQ(printed<float>({0, -1.5f, 10}, {3}, DType::F32), "(0, 0, 0) x: [ 0.0000, -1.5000, 10.0000]\n");
  EXPECT_EQ(printed<float>({1e-5f, 1}, {2}, DType::F32), "(0, 0, 0) x: [1.0000e-05, 1.0000e+00]\n");
  EXPECT_EQ(printed<double>({2e9, INFINITY}, {2}, DType::F64), "(0, 0, 0) x: [2.0000e+09,        inf]\n");
  EXPECT_EQ(printed<float>({1e-5f}, {}, DType::F32), "(0, 0, 0) x: 0.000010\n");
}

TEST(Print, EachValueOfACallHasALineOfItsOwn) {
  const int32_t a = 1;
  const float b = 0.5f;
  TileryPrinted pair[] = {{&a, nullptr, 0, uint32_t(DType::I32)}, {&b, nullptr, 0, uint32_t(DType::F32)}};
  EXPECT_EQ(printedTiles(one, 0, ": ", false, pair), "(0, 0, 0): 1\n(0, 0, 0): 0.500000\n");
}
