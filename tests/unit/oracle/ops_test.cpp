// Results of single ops, against values worked out by hand or by plain C++.
#include "compiler/oracle/element.h"
#include "program.h"
#include <cmath>
#include <limits>

using namespace tilery;
using namespace tilery::oracle;

namespace {

// Runs `body` on tiles %a and %b of `n` elements; it must define %r, a tile of `m` elements.
template <typename To, typename From>
std::vector<To> apply(const std::string &body, std::vector<From> a, std::vector<From> b, const std::string &from,
                      const std::string &to, size_t m = 0) {
  size_t n = a.size();
  m = m ? m : n;
  auto access = [](const std::string &name, const std::string &pointer, size_t size, const std::string &type) {
    std::string count = std::to_string(size), tile = "tensor<" + count + "x";
    return "%" + name + "s = tile.splat " + pointer + " : !tile.ptr<" + type + "> -> " + tile + "!tile.ptr<" + type + ">>\n%" +
           name + "l = tile.range 0 to " + count + " : " + tile + "i32>\n%" + name + "p = tile.add_ptr %" + name + "s, %" + name +
           "l : " + tile + "!tile.ptr<" + type + ">>, " + tile + "i32>\n%" + name + "x = tile.pointer_access %" + name +
           "p : " + tile + "!tile.ptr<" + type + ">> -> !tile.access<" + count + "x" + type + ">\n";
  };
  auto shaped = [](size_t size, const std::string &type) { return std::to_string(size) + "x" + type; };
  std::string text = "tile.kernel @k(%pa: !tile.ptr<" + from + ">, %pb: !tile.ptr<" + from + ">, %pr: !tile.ptr<" + to +
                     ">) {\n" + access("xa", "%pa", n, from) + access("xb", "%pb", n, from) + access("xr", "%pr", m, to) +
                     "%a = tile.load %xax : !tile.access<" + shaped(n, from) + "> -> tensor<" + shaped(n, from) + ">\n" +
                     "%b = tile.load %xbx : !tile.access<" + shaped(n, from) + "> -> tensor<" + shaped(n, from) + ">\n" + body +
                     "\ntile.store %xrx, %r : !tile.access<" + shaped(m, to) + ">, tensor<" + shaped(m, to) +
                     ">\ntile.return\n}\n";
  std::vector<To> result(m);
  Program(text).run({1, 1, 1}, {slot(a), slot(b), slot(result)});
  return result;
}
using I32 = std::vector<int32_t>;
using I8 = std::vector<int8_t>;
using F32 = std::vector<float>;
constexpr int32_t least = std::numeric_limits<int32_t>::min(), most = std::numeric_limits<int32_t>::max();
const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");

TEST(OracleOps, DivisionIsTotal) {
  I32 a{7, -7, 7, -7, least, 5, -5}, b{2, 2, -2, -2, -1, 0, 0};
  auto run = [&](const std::string &op) {
    return apply<int32_t>("%r = tile." + op + " %a, %b : tensor<7xi32>", a, b, "i32", "i32");
  };
  EXPECT_EQ(run("div trunc"), (I32{3, -3, -3, 3, least, 0, 0}));
  EXPECT_EQ(run("rem trunc"), (I32{1, -1, 1, -1, 0, 0, 0}));
  EXPECT_EQ(run("div floor"), (I32{3, -4, -4, 3, least, 0, 0}));
  EXPECT_EQ(run("rem floor"), (I32{1, 1, -1, -1, 0, 0, 0}));
  EXPECT_EQ(run("div unsigned"), (I32{3, int32_t(4294967289u / 2), 0, 0, 0, 0, 0}));
  EXPECT_EQ(run("rem unsigned"), (I32{1, 1, 7, -7, least, 0, 0}));
}

TEST(OracleOps, ShiftsBeyondTheWidth) {
  I8 a{-128, -128, 1, 1, -1, 64}, b{1, 100, 7, 8, -1, 1};
  auto run = [&](const std::string &op) {
    return apply<int8_t>("%r = tile.shift " + op + " %a, %b : tensor<6xi8>", a, b, "i8", "i8");
  };
  EXPECT_EQ(run("left"), (I8{0, 0, -128, 0, 0, -128}));
  EXPECT_EQ(run("right_signed"), (I8{-64, -1, 0, 0, -1, 32}));
  EXPECT_EQ(run("right_unsigned"), (I8{64, 0, 0, 0, 0, 32}));
}

TEST(OracleOps, FloatToIntegerSaturates) {
  F32 a{1.9f, -1.9f, nan, inf, -inf, 3e9f, -3e9f, 255.5f};
  EXPECT_EQ(apply<int32_t>("%r = tile.fp_to_int %a : tensor<8xf32> -> tensor<8xi32>", a, a, "f32", "i32"),
            (I32{1, -1, 0, most, least, most, least, 255}));
  EXPECT_EQ(apply<uint8_t>("%r = tile.fp_to_int %a {is_unsigned} : tensor<8xf32> -> tensor<8xi8>", a, a, "f32", "i8"),
            (std::vector<uint8_t>{1, 0, 0, 255, 0, 255, 0, 255}));
}

TEST(OracleOps, SixtyFourBitIntegersRoundOnceToF32) {
  std::vector<int64_t> a;
  for (int64_t base : {int64_t(1) << 53, int64_t(1) << 60, std::numeric_limits<int64_t>::max() - (int64_t(1) << 38)})
    for (int64_t low : {-3, -1, 0, 1, 5})
      for (int64_t middle : {int64_t(0), int64_t(1) << 28, int64_t(1) << 35, int64_t(1) << 36})
        a.push_back(base + middle + low);
  auto got = apply<float>("%r = arith.sitofp %a : tensor<60xi64> to tensor<60xf32>", a, a, "i64", "f32");
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_EQ(got[i], float(a[i])) << a[i];
}

TEST(OracleOps, IndexArithmeticDoesNotWrap) {
  I32 a{most, 5}, b{2, 2};
  auto run = [&](const std::string &flag) {
    return apply<int64_t>("%m = arith.muli %a, %b " + flag +
                              " : tensor<2xi32>\n%r = arith.extsi %m : tensor<2xi32> to tensor<2xi64>",
                          a, b, "i32", "i64");
  };
  EXPECT_EQ(run(""), (std::vector<int64_t>{-2, 10}));
  EXPECT_EQ(run("overflow<nsw>"), (std::vector<int64_t>{int64_t(most) * 2, 10}));
}

TEST(OracleOps, MinimumAndMaximumOfNan) {
  F32 a{nan, 1, nan, 3}, b{2, nan, nan, 4};
  auto run = [&](const std::string &op) {
    return apply<float>("%r = arith." + op + " %a, %b : tensor<4xf32>", a, b, "f32", "f32");
  };
  F32 loses = run("maxnumf"), wins = run("maximumf");
  EXPECT_EQ(loses[0], 2);
  EXPECT_EQ(loses[1], 1);
  EXPECT_TRUE(std::isnan(loses[2]));
  EXPECT_EQ(loses[3], 4);
  EXPECT_TRUE(std::isnan(wins[0]) && std::isnan(wins[1]) && std::isnan(wins[2]));
  EXPECT_EQ(run("minnumf")[3], 3);
}

TEST(OracleOps, HalfArithmeticRoundsAfterEachOp) {
  std::vector<uint16_t> a{0x3C01}, b{0x3C01}; // 1 + 2^-10
  auto product =
      apply<uint16_t>("%s = arith.mulf %a, %b : tensor<1xf16>\n%r = arith.subf %s, %a : tensor<1xf16>", a, b, "f16", "f16");
  // (1 + 2^-10)^2 rounds to 1 + 2^-9, less 1 + 2^-10: 2^-10
  EXPECT_EQ(product[0], 0x1400);
}

const char *addRegion = R"( {
^bb0(%x: f32, %y: f32):
  %s = arith.addf %x, %y : f32
  tile.yield %s : f32
})";

TEST(OracleOps, RowReductionKeeps64Partials) {
  for (int n : {1, 3, 63, 64, 65, 100, 200}) {
    F32 a(n);
    for (int i = 0; i < n; ++i)
      a[i] = std::sin(float(i)) * std::pow(10.0f, float(i % 7));
    std::string tile = "tensor<" + std::to_string(n) + "xf32>";
    auto got = apply<float>("%v = tile.reduce %a axis 0" + std::string(addRegion) + " : " + tile +
                                " -> f32\n%r = tile.splat %v : f32 -> tensor<1xf32>",
                            a, a, "f32", "f32", 1);
    F32 partials(a.begin(), a.begin() + std::min(n, 64));
    for (int i = 64; i < n; ++i)
      partials[i % 64] += a[i];
    for (int s = 32; s; s /= 2)
      for (int j = 0; j < s && j + s < int(partials.size()); ++j)
        partials[j] += partials[j + s];
    EXPECT_EQ(got[0], partials[0]) << n;
  }
}

TEST(OracleOps, ColumnReductionGoesInOrder) {
  F32 a(30 * 2);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = std::cos(float(i)) * std::pow(10.0f, float(i % 5));
  auto got = apply<float>("%m = tile.reshape %a : tensor<60xf32> -> tensor<30x2xf32>\n%r = tile.reduce %m axis 0" +
                              std::string(addRegion) + " : tensor<30x2xf32> -> tensor<2xf32>",
                          a, a, "f32", "f32", 2);
  for (int j : {0, 1}) {
    float sum = a[j];
    for (int i = 1; i < 30; ++i)
      sum += a[2 * i + j];
    EXPECT_EQ(got[j], sum);
  }
}

TEST(OracleOps, ArgMaxThroughAGeneralRegion) {
  F32 a{3, 9, 2, 9, 1};
  auto got = apply<int32_t>(R"(
%i = tile.range 0 to 5 : tensor<5xi32>
%m, %at = tile.reduce %a, %i axis 0 {
^bb0(%x: f32, %xi: i32, %y: f32, %yi: i32):
  %greater = arith.cmpf ogt, %y, %x : f32
  %v, %vi = scf.if %greater -> (f32, i32) {
    scf.yield %y, %yi : f32, i32
  } else {
    scf.yield %x, %xi : f32, i32
  }
  tile.yield %v, %vi : f32, i32
} : tensor<5xf32>, tensor<5xi32> -> f32, i32
%r = tile.splat %at : i32 -> tensor<1xi32>)",
                            a, a, "f32", "i32", 1);
  EXPECT_EQ(got[0], 1);
}

TEST(OracleOps, ScansBothWays) {
  F32 a{1, 2, 3, 4};
  auto run = [&](const std::string &attr) {
    return apply<float>("%r = tile.scan %a axis 0" + std::string(addRegion) + attr + " : tensor<4xf32> -> tensor<4xf32>", a, a,
                        "f32", "f32");
  };
  EXPECT_EQ(run(""), (F32{1, 3, 6, 10}));
  EXPECT_EQ(run(" {reverse}"), (F32{10, 9, 7, 4}));
}

TEST(OracleOps, SortPutsNanLast) {
  F32 a{3, nan, -inf, 2, nan, 5};
  for (std::string attr : {"", " {descending}"}) {
    F32 got = apply<float>("%r = tile.sort %a axis 0" + attr + " : tensor<6xf32> -> tensor<6xf32>", a, a, "f32", "f32");
    EXPECT_EQ(F32(got.begin(), got.begin() + 4), attr.empty() ? (F32{-inf, 2, 3, 5}) : (F32{5, 3, 2, -inf}));
    EXPECT_TRUE(std::isnan(got[4]) && std::isnan(got[5]));
  }
  EXPECT_EQ(apply<int8_t>("%r = tile.sort %a axis 0 {is_unsigned} : tensor<3xi8> -> tensor<3xi8>", I8{-1, 5, 0}, I8{0, 0, 0},
                          "i8", "i8"),
            (I8{0, 5, -1}));
}

TEST(OracleOps, TakeOutsideGivesZero) {
  I32 a{10, 20, 30}, b{2, 3, -1};
  EXPECT_EQ(apply<int32_t>("%r = tile.take %a, %b axis 0 : tensor<3xi32>, tensor<3xi32> -> tensor<3xi32>", a, b, "i32", "i32"),
            (I32{30, 0, 0}));
}

TEST(OracleOps, ShapesMoveLanes) {
  I32 a{0, 1, 2, 3, 4, 5};
  EXPECT_EQ(apply<int32_t>(R"(%m = tile.reshape %a : tensor<6xi32> -> tensor<2x3xi32>
%t = tile.permute %m [1, 0] : tensor<2x3xi32> -> tensor<3x2xi32>
%r = tile.reshape %t : tensor<3x2xi32> -> tensor<6xi32>)",
                           a, a, "i32", "i32"),
            (I32{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(apply<int32_t>(R"(%j = tile.join %a, %b : tensor<6xi32>, tensor<6xi32> -> tensor<6x2xi32>
%x, %y = tile.split %j : tensor<6x2xi32> -> tensor<6xi32>, tensor<6xi32>
%c = tile.cat %y, %x axis 0 : tensor<6xi32>, tensor<6xi32> -> tensor<12xi32>
%r = arith.addi %c, %c : tensor<12xi32>)",
                           a, I32{9, 8, 7, 6, 5, 4}, "i32", "i32", 12),
            (I32{18, 16, 14, 12, 10, 8, 0, 2, 4, 6, 8, 10}));
}

TEST(OracleOps, HistogramCountsWhatIsInside) {
  EXPECT_EQ(
      apply<int32_t>("%r = tile.histogram %a : tensor<6xi32> -> tensor<3xi32>", I32{0, 2, 2, 3, -1, 2}, I32(6), "i32", "i32", 3),
      (I32{1, 0, 3}));
}

TEST(OracleOps, SubviewsClipAtTheirBuffer) {
  // A window that begins before its buffer: outside elements read 0, and writes to them vanish.
  Program program(R"(
tile.kernel @k(%out: !tile.ptr<i32>, %off: i32) {
  %b = tile.alloc : !tile.buffer<4xi32, shared>
  %ones = arith.constant dense<1> : tensor<4xi32>
  tile.buffer_store %b, %ones : !tile.buffer<4xi32, shared>, tensor<4xi32>
  %w = tile.subview %b[%off] dims [0] : !tile.buffer<4xi32, shared>, i32 -> !tile.buffer<3xi32, shared>
  %v = tile.buffer_load %w : !tile.buffer<3xi32, shared> -> tensor<3xi32>
  %p = tile.splat %out : !tile.ptr<i32> -> tensor<3x!tile.ptr<i32>>
  %l = tile.range 0 to 3 : tensor<3xi32>
  %q = tile.add_ptr %p, %l : tensor<3x!tile.ptr<i32>>, tensor<3xi32>
  %x = tile.pointer_access %q : tensor<3x!tile.ptr<i32>> -> !tile.access<3xi32>
  tile.store %x, %v : !tile.access<3xi32>, tensor<3xi32>
  tile.buffer_store %w, %v : !tile.buffer<3xi32, shared>, tensor<3xi32>
  tile.return
})");
  I32 out(3, 7);
  program.run({1, 1, 1}, {slot(out), uint64_t(-2)});
  EXPECT_EQ(out, (I32{0, 0, 1}));
  program.run({1, 1, 1}, {slot(out), 2});
  EXPECT_EQ(out, (I32{1, 1, 0}));
}

TEST(OracleOps, AtomicsGiveTheOldValue) {
  Program program(R"(
tile.kernel @k(%x: !tile.ptr<i32>, %old: !tile.ptr<i32>) {
  %one = arith.constant 5 : i32
  %pid = tile.program_id 0
  %a = tile.pointer_access %x : !tile.ptr<i32> -> !tile.access<i32>
  %before = tile.atomic_rmw add %a, %one : !tile.access<i32>, i32 -> i32
  %p = tile.add_ptr %old, %pid : !tile.ptr<i32>, i32
  %o = tile.pointer_access %p : !tile.ptr<i32> -> !tile.access<i32>
  tile.store %o, %before : !tile.access<i32>, i32
  %ten = arith.constant 10 : i32
  %hundred = arith.constant 100 : i32
  %c = tile.atomic_cas %a, %ten, %hundred : !tile.access<i32>, i32 -> i32
  tile.return
})");
  I32 x(1), old(3);
  program.run({3, 1, 1}, {slot(x), slot(old)});
  EXPECT_EQ(old, (I32{0, 5, 100}));
  EXPECT_EQ(x[0], 105);
}

TEST(OracleOps, HostChecksAllocatesAndLaunches) {
  Program program(R"(
tile.kernel @fill(%out: !tile.ptr<i32>, %n: i64) {
  %pid = tile.program_id 0
  %p = tile.add_ptr %out, %pid : !tile.ptr<i32>, i32
  %a = tile.pointer_access %p : !tile.ptr<i32> -> !tile.access<i32>
  tile.store %a, %pid : !tile.access<i32>, i32
  tile.return
}
tile.host @call(%x: !tile.tensor_arg<2xf32>) -> !tile.tensor_arg<1xi32> {
  %rows = tile.host_extent %x, 0 : !tile.tensor_arg<2xf32>
  %three = arith.constant 3 : i64
  tile.host_check %rows equals %three, "x has {0} rows, expected {1}"
  %y = tile.host_empty [%rows] : !tile.tensor_arg<1xi32>
  %p = tile.host_pointer %y : !tile.tensor_arg<1xi32> -> !tile.ptr<i32>
  tile.launch @fill grid(%rows) args(%p, %rows) : !tile.ptr<i32>, i64
  tile.return %y : !tile.tensor_arg<1xi32>
})");
  HostArgument x;
  x.tensor = {0, {3, 2}, {2, 1}, nullptr};
  auto results = runHost(program.host(), {x});
  ASSERT_EQ(results.size(), 1u);
  auto *y = reinterpret_cast<const int32_t *>(results[0].tensor.data);
  EXPECT_EQ(I32(y, y + 3), (I32{0, 1, 2}));

  I32 memory(3);
  Options options;
  options.debug = true; // what the call makes is memory its kernels may touch
  options.allocate = [&](llvm::ArrayRef<int64_t> extents, DType dtype) {
    EXPECT_EQ(extents, llvm::ArrayRef<int64_t>({3}));
    EXPECT_EQ(dtype, DType::I32);
    return HostTensor{reinterpret_cast<uint64_t>(memory.data()), extents.vec(), {1}, nullptr, 7};
  };
  EXPECT_EQ(runHost(program.host(), {x}, options)[0].tensor.number, 7);
  EXPECT_EQ(memory, (I32{0, 1, 2}));

  x.tensor.extents[0] = 4;
  try {
    runHost(program.host(), {x});
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.diagnostic().message, "x has 4 rows, expected 3");
  }
}

// Rows and columns that are not live hold what nobody expects, so that a pass that is wrong about them is found.
TEST(OracleOps, DeadElementsOfADot) {
  Program program(R"(
tile.kernel @k(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %rows: i64, %columns: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c3 = arith.constant 3 : i64
  %a = arith.constant dense<2.0> : tensor<2x4xf32>
  %b = arith.constant dense<1.0> : tensor<4x3xf32>
  %c = arith.constant dense<0.5> : tensor<2x3xf32>
  %d = tile.dot %a, %b, %c live [%rows, %columns] : tensor<2x4xf32>, tensor<4x3xf32> -> tensor<2x3xf32>
  %place = tile.access %x, %c0 steps(%c3, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <2x3xf32>
  tile.store %place, %d : !tile.access<2x3xf32>, tensor<2x3xf32>
  %e = tile.contract %c3, %c live [%rows, %columns] {
  ^bb0(%step: i64):
    tile.yield %a, %b : tensor<2x4xf32>, tensor<4x3xf32>
  } : tensor<2x3xf32>
  %other = tile.access %y, %c0 steps(%c3, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <2x3xf32>
  tile.store %other, %e : !tile.access<2x3xf32>, tensor<2x3xf32>
  tile.return
}
)");
  std::vector<float> x(6, 7.f), y(6, 7.f);
  program.run({1, 1, 1}, {slot(x), slot(y), 1, 2});
  for (int i = 0; i < 6; ++i) {
    bool live = i / 3 < 1 && i % 3 < 2;
    EXPECT_EQ(std::isnan(x[i]), !live) << i;
    EXPECT_EQ(std::isnan(y[i]), !live) << i;
    if (live) {
      EXPECT_EQ(x[i], 8.5f);
      EXPECT_EQ(y[i], 24.5f);
    }
  }
}

TEST(OracleShadow, BoundsEveryOrderAndNothingExact) {
  const int n = 300;
  std::string text = R"(
tile.kernel @k(%input: !tile.ptr<f32>, %sum: !tile.ptr<f32>, %copy: !tile.ptr<f32>) {
  %ps = tile.splat %input : !tile.ptr<f32> -> tensor<300x!tile.ptr<f32>>
  %l = tile.range 0 to 300 : tensor<300xi32>
  %p = tile.add_ptr %ps, %l : tensor<300x!tile.ptr<f32>>, tensor<300xi32>
  %a = tile.pointer_access %p : tensor<300x!tile.ptr<f32>> -> !tile.access<300xf32>
  %v = tile.load %a : !tile.access<300xf32> -> tensor<300xf32>
  %t = tile.reduce %v axis 0)" +
                     std::string(addRegion) + R"( : tensor<300xf32> -> f32
  %o = tile.pointer_access %sum : !tile.ptr<f32> -> !tile.access<f32>
  tile.store %o, %t : !tile.access<f32>, f32
  %zero = arith.constant 0 : i32
  %first = tile.extract %v[%zero] : tensor<300xf32>, i32 -> f32
  %twice = arith.addf %first, %first : f32
  %c = tile.pointer_access %copy : !tile.ptr<f32> -> !tile.access<f32>
  tile.store %c, %twice : !tile.access<f32>, f32
  tile.return
})";
  F32 x(n), sum(1), copy(1);
  for (int i = 0; i < n; ++i)
    x[i] = std::sin(float(i)) * 100;
  Shadow shadow;
  Options options;
  options.shadow = &shadow;
  Program(text).run({1, 1, 1}, {slot(x), slot(sum), slot(copy)}, options);
  EXPECT_EQ(shadow.memory.size(), 1u); // an exact sum of two is exact
  ASSERT_TRUE(shadow.memory.count(slot(sum)));
  Interval range = shadow.memory[slot(sum)];
  float forward = 0, backward = 0;
  double exact = 0;
  for (int i = 0; i < n; ++i) {
    forward += x[i];
    backward += x[n - 1 - i];
    exact += x[i];
  }
  EXPECT_TRUE(range.contains(forward) && range.contains(backward) && range.contains(exact));
  EXPECT_FALSE(range.contains(exact + 1)); // and it is narrow
}

/// What a product of `row` with itself may be, in a program for tensor cores or for anything.
Interval squareRange(const std::string &type, std::vector<uint8_t> row, int64_t k, const std::string &precision,
                     bool tensorCores) {
  std::string depth = std::to_string(k), a = "1x" + depth + "x" + type, b = depth + "x1x" + type;
  auto load = [&](const std::string &name, const std::string &steps, const std::string &tile) {
    return "  %" + name + "x = tile.access %p, %zero steps(" + steps + ") bounds [0, 0]() : <" + type + ">, (i64, i64), () -> <" +
           tile + ">\n  %" + name + " = tile.load %" + name + "x : !tile.access<" + tile + "> -> tensor<" + tile + ">\n";
  };
  Program program("tile.kernel @k(%p: !tile.ptr<" + type + R"(>, %r: !tile.ptr<f32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c = arith.constant dense<0.0> : tensor<1x1xf32>
)" + load("a", "%zero, %one", a) +
                  load("b", "%one, %zero", b) + "  %d = tile.dot %a, %b, %c {precision = " + precision + " : i32} : tensor<" + a +
                  ">, tensor<" + b + R"(> -> tensor<1x1xf32>
  %x = tile.access %r, %zero steps(%one, %one) bounds [0, 0]() : <f32>, (i64, i64), () -> <1x1xf32>
  tile.store %x, %d : !tile.access<1x1xf32>, tensor<1x1xf32>
  tile.return
})");
  F32 result(1);
  Shadow shadow;
  Options options;
  options.shadow = &shadow;
  options.tensorCores = tensorCores;
  program.run({1, 1, 1}, {slot(row), slot(result)}, options);
  return shadow.memory.at(slot(result));
}

TEST(OracleOps, TensorCoresCutWhatOthersRound) {
  // 1 + 2^-10 - 2^-23, whose square is 1 where both are cut to 10 bits.
  std::vector<uint8_t> factor{0xff, 0x1f, 0x80, 0x3f};
  EXPECT_FALSE(squareRange("f32", factor, 1, "1", false).contains(1));
  EXPECT_TRUE(squareRange("f32", factor, 1, "1", true).contains(1));
  EXPECT_FALSE(squareRange("f32", factor, 1, "1", true).contains(1 - 0x1p-10));
  EXPECT_FALSE(squareRange("f32", factor, 1, "0", true).contains(1)) << "precision ieee";
  // 16 * 16, and 31 times 2^-3 * 2^-3, each less than 2^-13 of that.
  std::vector<uint8_t> row(32, 0x20);
  row[0] = 0x58;
  EXPECT_FALSE(squareRange("f8E4M3FN", row, 32, "0", false).contains(256));
  EXPECT_TRUE(squareRange("f8E4M3FN", row, 32, "0", true).contains(256));
  EXPECT_FALSE(squareRange("f8E4M3FN", row, 32, "0", true).contains(255));
}

/// What a kernel may store that loads %x and %y, f32, and makes %r of them.
Interval rangeOf(const std::string &ops, float x, float y, bool tensorCores = false) {
  Program program(R"(
tile.kernel @k(%p: !tile.ptr<f32>, %to: !tile.ptr<f32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c = arith.constant dense<0.0> : tensor<1x1xf32>
  %ax = tile.access %p, %zero steps(%one, %one) bounds [0, 0]() : <f32>, (i64, i64), () -> <1x1xf32>
  %ay = tile.access %p, %one steps(%one, %one) bounds [0, 0]() : <f32>, (i64, i64), () -> <1x1xf32>
  %x = tile.load %ax : !tile.access<1x1xf32> -> tensor<1x1xf32>
  %y = tile.load %ay : !tile.access<1x1xf32> -> tensor<1x1xf32>
)" + ops + R"(
  %a = tile.access %to, %zero steps(%one, %one) bounds [0, 0]() : <f32>, (i64, i64), () -> <1x1xf32>
  tile.store %a, %r : !tile.access<1x1xf32>, tensor<1x1xf32>
  tile.return
})");
  F32 from{x, y}, to(1);
  Shadow shadow;
  Options options;
  options.shadow = &shadow;
  options.tensorCores = tensorCores;
  program.run({1, 1, 1}, {slot(from), slot(to)}, options);
  auto found = shadow.memory.find(slot(to));
  return found == shadow.memory.end() ? Interval{to[0], to[0]} : found->second;
}

TEST(OracleOps, RoundingBelowTheNormalNumbersIsToTheirLastPlace) {
  auto product = [](const char *precision) {
    return std::string("  %r = tile.dot %x, %y, %c {precision = ") + precision +
           " : i32} : tensor<1x1xf32>, tensor<1x1xf32> -> tensor<1x1xf32>";
  };
  const float between = 0x1.8p-137f; // of 0 and 2^-136, which tf32 has
  EXPECT_TRUE(rangeOf(product("1"), between, 1).contains(0x1p-136));
  EXPECT_FALSE(rangeOf(product("1"), between, 1).contains(0));
  EXPECT_TRUE(rangeOf(product("1"), between, 1, true).contains(0));
  EXPECT_FALSE(rangeOf(product("0"), between, 1).contains(0x1p-136)) << "precision ieee";
  EXPECT_EQ(rangeOf(product("1"), 0, 1).hi, rangeOf(product("0"), 0, 1).hi);
}

TEST(OracleOps, WhichZeroAMaximumChoosesIsOpen) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const char *op : {"maxnumf", "minnumf", "maximumf", "minimumf"}) {
    std::string ops = std::string("  %m = arith.") + op + " %x, %y : tensor<1x1xf32>\n  %r = math.rsqrt %m : tensor<1x1xf32>";
    for (auto [x, y] : {std::pair(-0.0f, 0.0f), std::pair(0.0f, -0.0f)}) {
      EXPECT_TRUE(rangeOf(ops, x, y).contains(-infinity)) << op;
      EXPECT_TRUE(rangeOf(ops, x, y).contains(infinity)) << op;
    }
    EXPECT_FALSE(rangeOf(ops, 0, 0).contains(-infinity)) << op;
    EXPECT_FALSE(rangeOf(ops, -0.0f, -0.0f).contains(infinity)) << op;
    EXPECT_FALSE(rangeOf(ops, 4, 4).contains(0.6)) << op;
  }
}

} // namespace

// In one order the sum is 0, in another a partial sum overflows.
TEST(OracleShadow, PartialSumsMayOverflow) {
  std::string text = R"(
tile.kernel @k(%input: !tile.ptr<f32>, %sum: !tile.ptr<f32>) {
  %ps = tile.splat %input : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %l = tile.range 0 to 4 : tensor<4xi32>
  %p = tile.add_ptr %ps, %l : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %a = tile.pointer_access %p : tensor<4x!tile.ptr<f32>> -> !tile.access<4xf32>
  %v = tile.load %a : !tile.access<4xf32> -> tensor<4xf32>
  %t = tile.reduce %v axis 0)" +
                     std::string(addRegion) + R"( : tensor<4xf32> -> f32
  %o = tile.pointer_access %sum : !tile.ptr<f32> -> !tile.access<f32>
  tile.store %o, %t : !tile.access<f32>, f32
  tile.return
})";
  F32 x{3e38f, 3e38f, -3e38f, -3e38f}, sum(1);
  Shadow shadow;
  Options options;
  options.shadow = &shadow;
  Program(text).run({1, 1, 1}, {slot(x), slot(sum)}, options);
  EXPECT_EQ(sum[0], 0.f);
  EXPECT_TRUE(shadow.memory.at(slot(sum)).contains(std::numeric_limits<double>::infinity()));
}
