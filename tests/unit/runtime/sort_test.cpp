// Sorts of the runtime beside the standard library's stable one.
#include "runtime/sort.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <list>
#include <random>
#include <vector>

using namespace tilery;

namespace {
template <typename T> bool before(T x, T y, bool descending) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(x) || std::isnan(y))
      return !std::isnan(x) && std::isnan(y);
    if (x == y)
      return std::signbit(descending ? y : x) && !std::signbit(descending ? x : y);
  }
  return descending ? x > y : x < y;
}

// std::stable_sort warns of a deprecated function of libstdc++'s own.
template <typename T, typename Before> void sortStably(std::vector<T> &values, Before before) {
  std::list<T> list(values.begin(), values.end());
  list.sort(before);
  values.assign(list.begin(), list.end());
}

/// Sizes of every way to sort, and as many kept; all bit patterns, in any order and in both orders, and elements that are often equal.
template <typename T> void checkAll(DType dtype) {
  std::mt19937_64 random(3);
  for (int64_t count : {1, 2, 31, 32, 33, 100, 256, 1000, 1100, 9000})
    for (int64_t keep : {int64_t(1), int64_t(8), int64_t(32), int64_t(40), count / 17, count / 2, count})
      for (bool descending : {false, true})
        for (const char *how : {"any", "few", "rising", "falling"}) {
          bool few = *how == 'f' && how[1] == 'e';
          if (keep < 1 || keep > count)
            continue;
          std::vector<T> values(count), scratch(count);
          for (T &value : values) {
            uint64_t bits = random();
            std::memcpy(&value, &bits, sizeof(T));
            if (few) {
              T small = T(int(bits % 7) - 3);
              value = bits & 64 ? small : T(-small); // -0.0, too
            }
          }
          if (*how == 'r' || how[1] == 'a')
            sortStably(values, [&](T x, T y) { return before(x, y, *how == 'f'); });
          std::vector<T> wanted(values);
          sortStably(wanted, [&](T x, T y) { return before(x, y, descending); });
          sortValues(values.data(), scratch.data(), count, keep, dtype, descending);
          ASSERT_EQ(0, std::memcmp(values.data(), wanted.data(), keep * sizeof(T)))
              << dtypeName(dtype) << " " << count << " " << keep << " " << descending << how;
        }
}
} // namespace

TEST(Sort, IntegersOfAllWidths) {
  checkAll<int8_t>(DType::I8);
  checkAll<uint8_t>(DType::U8);
  checkAll<int16_t>(DType::I16);
  checkAll<uint16_t>(DType::U16);
  checkAll<int32_t>(DType::I32);
  checkAll<uint32_t>(DType::U32);
  checkAll<int64_t>(DType::I64);
  checkAll<uint64_t>(DType::U64);
}

TEST(Sort, FloatsWithZerosOfBothSignsAndNaNs) {
  checkAll<float>(DType::F32);
  checkAll<double>(DType::F64);
}

TEST(Sort, NarrowFloatsAsTheirValues) {
  // Every pattern of one byte: NaNs last, the rest as the values that it stands for.
  auto valueOf = [](uint8_t bits, int mantissaBits) {
    int mantissa = bits & ((1 << mantissaBits) - 1), exponent = bits >> mantissaBits & ((1 << (7 - mantissaBits)) - 1);
    bool nan = mantissaBits == 3 ? (bits & 0x7f) == 0x7f : (bits & 0x7f) > 0x7c;
    double value =
        exponent ? std::ldexp(1 + std::ldexp(mantissa, -mantissaBits), exponent) : std::ldexp(mantissa, 1 - mantissaBits);
    return nan ? std::nan("") : bits & 0x80 ? -value : value;
  };
  for (auto [dtype, mantissaBits] : {std::pair(DType::F8E4M3, 3), std::pair(DType::F8E5M2, 2)})
    for (bool descending : {false, true}) {
      std::vector<uint8_t> values(256), scratch(256);
      for (int i = 0; i < 256; ++i)
        values[i] = uint8_t(i * 91);
      std::vector<uint8_t> wanted(values);
      sortStably(wanted, [&, bits = mantissaBits](uint8_t x, uint8_t y) {
        return before(valueOf(x, bits), valueOf(y, bits), descending);
      });
      sortValues(values.data(), scratch.data(), 256, 256, dtype, descending);
      EXPECT_EQ(values, wanted);
    }
}
