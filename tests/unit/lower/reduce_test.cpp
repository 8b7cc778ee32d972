// Extrema of rows with NaN among them, against plain C++.
#include "tests/unit/targets/cpu/run_kernel.h"
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
