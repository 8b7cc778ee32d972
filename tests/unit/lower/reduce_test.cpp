// Extrema of rows with NaN among them, against plain C++.
#include "tests/unit/lower/plan.h"
#include <cmath>
#include <random>
#include <vector>

using namespace tilery;
using namespace tilery::test;

namespace {
std::string extremum(const std::string &op, const std::string &type, int size) {
  std::string n = std::to_string(size), tensor = "tensor<" + n + "x" + type + ">",
              access = "!tile.access<" + n + "x" + type + ">";
  return "tile.kernel @k(%x: !tile.ptr<" + type + ">, %o: !tile.ptr<" + type +
         ">) {\n  %z = arith.constant 0 : i64\n  %one = arith.constant 1 : i64\n"
         "  %a = tile.access %x, %z steps(%one) bounds [0] () : !tile.ptr<" +
         type + ">, (i64), () -> " + access + "\n  %v = tile.load %a : " + access + " -> " + tensor +
         "\n  %s = tile.reduce %v axis 0 {\n  ^bb0(%l: " + type + ", %r: " + type + "):\n    %t = arith." + op +
         " %l, %r : " + type + "\n    tile.yield %t : " + type + "\n  } : " + tensor + " -> " + type +
         "\n  %oa = tile.access %o, %z steps() bounds [] () : !tile.ptr<" + type + ">, (), () -> !tile.access<" + type +
         ">\n  tile.store %oa, %s : !tile.access<" + type + ">, " + type + "\n  tile.return\n}\n";
}

template <typename T> void check(const std::string &op, const std::string &type, int size, const std::vector<T> &x) {
  bool isMax = op.starts_with("max"), nanWins = op.ends_with("imumf");
  T expected = NAN;
  bool anyNaN = false;
  for (T v : x)
    if (std::isnan(v))
      anyNaN = true;
    else if (std::isnan(expected) || (isMax ? v > expected : v < expected))
      expected = v;
  if (nanWins && anyNaN)
    expected = NAN;
  static std::map<std::string, Compiled> kernels;
  auto [kernel, fresh] = kernels.try_emplace(op + type + std::to_string(size));
  if (fresh)
    kernel->second = compileText(extremum(op, type, size));
  T result = 12345;
  run(kernel->second, 1, x.data(), &result);
  EXPECT_TRUE(std::isnan(expected) ? std::isnan(result) : result == expected)
      << op << " of " << size << " " << type << ": " << result << " instead of " << expected;
}

template <typename T> void checkAll(const std::string &type) {
  std::mt19937 engine(7);
  std::uniform_real_distribution<T> distribution(-3, 3);
  for (const char *op : {"maxnumf", "minnumf", "maximumf", "minimumf"})
    for (int size : {1, 3, 8, 64, 65, 100, 333}) {
      std::vector<T> x(size);
      for (T &v : x)
        v = distribution(engine);
      check(op, type, size, x);
      for (int hole : {0, size / 2, size - 1}) {
        std::vector<T> y = x;
        y[hole] = NAN;
        check(op, type, size, y);
      }
      check(op, type, size, std::vector<T>(size, T(NAN)));
      for (T other : {T(-INFINITY), T(INFINITY), T(1)}) { // a single number among NaNs
        std::vector<T> y(size, T(NAN));
        y[size / 3] = other;
        check(op, type, size, y);
      }
    }
}
} // namespace

TEST(CpuReduce, NaNLosesOrWins) {
  checkAll<float>("f32");
  checkAll<double>("f64");
}

namespace {
/// o[i] = sum of x[i * 128 + j], j of `width`, where i < m and from <= j < n; a row alone: o[0], a scalar.
std::string sums(int rows, int width) {
  bool single = rows == 0;
  std::string w = std::to_string(width), tile = (single ? w : std::to_string(rows) + "x" + w) + "xf32",
              sum = single ? "f32" : "tensor<" + std::to_string(rows) + "xf32>",
              place = single ? "f32" : std::to_string(rows) + "xf32";
  std::string x =
      single ? "steps(%one) bounds [1] (%from, %n) : !tile.ptr<f32>, (i64), (i64, i64)"
             : "steps(%pitch, %one) bounds [1, 1] (%zero, %m, %from, %n) : !tile.ptr<f32>, (i64, i64), (i64, i64, i64, i64)";
  std::string o =
      single ? "steps() bounds [] () : !tile.ptr<f32>, (), ()" : "steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), ()";
  return "tile.kernel @k(%x: !tile.ptr<f32>, %o: !tile.ptr<f32>, %m: i64, %from: i64, %n: i64) {\n"
         "  %zero = arith.constant 0 : i64\n  %one = arith.constant 1 : i64\n  %pitch = arith.constant 128 : i64\n"
         "  %none = arith.constant " +
         std::string("dense<0.0> : tensor<") + tile +
         ">\n"
         "  %a = tile.access %x, %zero " +
         x + " -> !tile.access<" + tile +
         ">\n"
         "  %v = tile.load %a other %none : tensor<" +
         tile + "> : !tile.access<" + tile + "> -> tensor<" + tile +
         ">\n"
         "  %s = tile.reduce %v axis " +
         (single ? "0" : "1") +
         " {\n  ^bb0(%l: f32, %r: f32):\n"
         "    %t = arith.addf %l, %r : f32\n    tile.yield %t : f32\n  } : tensor<" +
         tile + "> -> " + sum +
         "\n"
         "  %oa = tile.access %o, %zero " +
         o + " -> !tile.access<" + place +
         ">\n"
         "  tile.store %oa, %s : !tile.access<" +
         place + ">, " + sum + "\n  tile.return\n}\n";
}
} // namespace

// Rows that are there without masks, others with them: short ones and long ones, tiles of one row, rows that are all of a tile.
TEST(CpuReduce, RowsThatAreThereOrNot) {
  for (int rows : {0, 1, 5, 16})
    for (int width : {3, 16, 40, 64, 100}) {
      Compiled kernel = compileText(sums(rows, width));
      ASSERT_EQ(kernel.kernels.size(), 1u) << kernel.errors;
      int count = std::max(rows, 1);
      for (int m : {0, 1, count - 1, count, count + 3})
        for (int from : {-4, 0, 2})
          for (int n : {0, width / 2, width - 1, width, width + 9}) {
            std::vector<float> x(16 * 128, NAN), out(count + 1, -1.0f);
            for (int i = 0; i < count; ++i)
              for (int j = std::max(from, 0); j < std::min(n, width); ++j)
                if (i < m || rows == 0)
                  x[i * 128 + j] = float(i + j % 7);
            uint64_t slots[] = {slot(x.data()), slot(out.data()), slot(m), slot(from), slot(n)};
            int64_t grid[] = {1, 1, 1};
            launch(*kernel.kernels[0], grid, slots, {});
            for (int i = 0; i < count; ++i) {
              float expected = 0;
              for (int j = std::max(from, 0); j < std::min(n, width); ++j)
                expected += i < m || rows == 0 ? float(i + j % 7) : 0;
              ASSERT_EQ(out[i], expected) << rows << "x" << width << ", row " << i << ": m " << m << ", " << from << ".." << n;
            }
            ASSERT_EQ(out[count], -1.0f);
          }
    }
}

TEST(CpuReduce, RowsThatAreThereNeedNoMasks) {
  for (int width : {64, 256}) {
    std::string text = llvmOf(sums(16, width));
    EXPECT_NE(text.find("= load <16 x float>"), std::string::npos) << text;
  }
}
