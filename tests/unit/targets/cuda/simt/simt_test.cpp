// The GPU's general code, its threads as fibers.
#include "tests/unit/targets/with.h"
#include "tests/unit/targets/cuda/on_emulator.h"
#include "tilery/diagnostic.h"

using namespace tilery;
using namespace tilery::test;

namespace {
std::string threads(const std::string &body, int count) {
  std::string text = R"(
tile.kernel @k(%out: !tile.ptr<i32>) {
  %buffer = tile.alloc : !tile.buffer<64xi32, shared>
  tile.threads 64 {
  ^bb0(%t: i32):
    %yes = arith.constant true
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c10 = arith.constant 10 : i32
    %c63 = arith.constant 63 : i32
    tile.element_store %buffer[%t], %t : !tile.buffer<64xi32, shared>, (i32), i32
    tile.sync
    %mirror = arith.subi %c63, %t : i32
    %x = tile.element_load %buffer[%mirror] : !tile.buffer<64xi32, shared>, i32 -> i32
    %low = arith.cmpi slt, %t, %c10 : i32
)" + body +
                     R"(
    %p = tile.add_ptr %out, %t : !tile.ptr<i32>, i32
    %a = tile.pointer_access %p : !tile.ptr<i32> -> !tile.access<i32>
    tile.store %a, %r : !tile.access<i32>, i32
    tile.yield
  }
  tile.return
})";
  return with(std::move(text), {{"threads 64", "threads " + std::to_string(count)},
                                {"<64xi32", "<" + std::to_string(count) + "xi32"}, // buffers and tiles
                                {"constant 63", "constant " + std::to_string(count - 1)}});
}

void expectOfThreads(const std::string &body, llvm::function_ref<int(int)> expected, int count = 64) {
  std::vector<int32_t> out(64, -7);
  onEmulator(threads(body, count), false, {1, 1, 1}, {slot(out.data())});
  for (int t = 0; t < 64; ++t)
    EXPECT_EQ(out[t], t < count ? expected(t) : -7) << body << " thread " << t;
}
} // namespace

TEST(Simt, ReductionsOverOneElement) {
  const char *text = R"(
tile.kernel @k(%in: !tile.ptr<i32>, %out: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c4 = arith.constant 4 : i64
  %from = tile.access %in, %c0 steps(%c1, %c1) bounds [1, 1](%c0, %c4, %c0, %c1) : <i32>, (i64, i64), (i64, i64, i64, i64) -> <4x1xi32>
  %x = tile.load %from : !tile.access<4x1xi32> -> tensor<4x1xi32>
  %largest = tile.reduce %x axis 1 {
  ^bb0(%a: i32, %b: i32):
    %m = arith.maxsi %a, %b : i32
    tile.yield %m : i32
  } : tensor<4x1xi32> -> tensor<4xi32>
  %column = tile.expand_dims %largest axis 1 : tensor<4xi32> -> tensor<4x1xi32>
  %y = arith.muli %x, %column : tensor<4x1xi32>
  %flat = tile.reshape %y : tensor<4x1xi32> -> tensor<4xi32>
  %again = tile.reshape %flat : tensor<4xi32> -> tensor<4x1xi32>
  %sum = tile.reduce %again axis 1 {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  } : tensor<4x1xi32> -> tensor<4xi32>
  %sums = tile.expand_dims %sum axis 1 : tensor<4xi32> -> tensor<4x1xi32>
  %z = arith.addi %y, %sums : tensor<4x1xi32>
  %to = tile.access %out, %c0 steps(%c1, %c1) bounds [1, 1](%c0, %c4, %c0, %c1) : <i32>, (i64, i64), (i64, i64, i64, i64) -> <4x1xi32>
  tile.store %to, %z : !tile.access<4x1xi32>, tensor<4x1xi32>
  tile.return
})";
  std::vector<int32_t> in = {3, -5, 7, 11}, out(4, -7);
  onEmulator(text, false, {1, 1, 1}, {slot(in.data()), slot(out.data())});
  EXPECT_EQ(out, (std::vector<int32_t>{18, 50, 98, 242}));
}

TEST(Simt, RowsBeyondTheBoundAreNotRead) {
  const char *text = R"(
tile.kernel @k(%in: !tile.ptr<i32>, %out: !tile.ptr<i32>, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c48 = arith.constant 48 : i64
  %from = tile.access %in, %c0 steps(%c1, %c1) bounds [1, 1](%c0, %n, %c0, %c1) : <i32>, (i64, i64), (i64, i64, i64, i64) -> <48x1xi32>
  %x = tile.load %from : !tile.access<48x1xi32> -> tensor<48x1xi32>
  %column = tile.expand_dims %x axis 2 : tensor<48x1xi32> -> tensor<48x1x1xi32>
  %pairs = tile.broadcast %column : tensor<48x1x1xi32> -> tensor<48x1x2xi32>
  %sum = tile.reduce %pairs axis 2 {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  } : tensor<48x1x2xi32> -> tensor<48x1xi32>
  %to = tile.access %out, %c0 steps(%c1, %c1) bounds [1, 1](%c0, %c48, %c0, %c1) : <i32>, (i64, i64), (i64, i64, i64, i64) -> <48x1xi32>
  tile.store %to, %sum : !tile.access<48x1xi32>, tensor<48x1xi32>
  tile.return
})";
  std::vector<int32_t> in(48, 3), out(48, -7), expected(48, 0);
  std::fill_n(expected.begin(), 38, 6);
  onEmulator(text, false, {1, 1, 1}, {slot(in.data()), slot(out.data()), 38});
  EXPECT_EQ(out, expected);
}

/// Threads without a row read the last one's elements, not what lies behind the tile and others write.
TEST(Simt, RowsOfMoreThreadsThanRows) {
  const char *text = R"(
tile.kernel @k(%in: !tile.ptr<i64>, %out: !tile.ptr<i64>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c5 = arith.constant 5 : i64
  %zero = arith.constant dense<0> : tensor<4xi64>
  %three = arith.constant dense<3> : tensor<4xi64>
  %from = tile.access %in, %c0 steps(%c1) bounds [0]() : <i64>, (i64), () -> <4xi64>
  %kept = scf.for %k = %c0 to %c5 step %c1 iter_args(%v = %zero) -> (tensor<4xi64>) : i64 {
    %x = tile.load %from : !tile.access<4xi64> -> tensor<4xi64>
    %more = arith.addi %v, %x : tensor<4xi64>
    scf.yield %more : tensor<4xi64>
  }
  %r = tile.rem floor %kept, %three : tensor<4xi64>
  %column = tile.expand_dims %r axis 1 : tensor<4xi64> -> tensor<4x1xi64>
  %sum = tile.reduce %column axis 1 {
  ^bb0(%a: i64, %b: i64):
    %both = arith.xori %a, %b : i64
    tile.yield %both : i64
  } : tensor<4x1xi64> -> tensor<4xi64>
  %to = tile.access %out, %c0 steps(%c1) bounds [0]() : <i64>, (i64), () -> <4xi64>
  tile.store %to, %sum : !tile.access<4xi64>, tensor<4xi64>
  tile.return
})";
  std::vector<int64_t> in{1, -2, 3, 4}, out(4, -7);
  onEmulator(text, false, {1, 1, 1}, {slot(in.data()), slot(out.data())});
  EXPECT_EQ(out, (std::vector<int64_t>{2, 2, 0, 2}));
}

TEST(Simt, ShufflesOfThreads) {
  expectOfThreads("%r = tile.shuffle down %x, %c1 : i32 -> i32", [](int t) { return t % 32 == 31 ? 63 - t : 62 - t; });
  expectOfThreads("%r = tile.shuffle up %x, %c3 {width = 8} : i32 -> i32", [](int t) { return t % 8 < 3 ? 63 - t : 66 - t; });
  expectOfThreads("%r = tile.shuffle xor %x, %c3 {width = 16} : i32 -> i32", [](int t) { return 63 - (t ^ 3); });
  expectOfThreads("%r = tile.shuffle idx %x, %c3 {width = 4} : i32 -> i32", [](int t) { return 63 - (t / 4 * 4 + 3); });
  expectOfThreads("%r = tile.shuffle idx %x, %c10 {width = 4} : i32 -> i32", [](int t) { return 63 - t; });
}

TEST(Simt, VotesOfThreads) {
  expectOfThreads("%r = tile.vote count %low {width = 0} -> i32", [](int) { return 10; });
  expectOfThreads("%r = tile.vote ballot %low {width = 0} -> i32", [](int) { return 1023; });
  expectOfThreads("%r = tile.vote count %low {width = 4} -> i32", [](int t) { return t < 8 ? 4 : t < 12 ? 2 : 0; });
  expectOfThreads("%r = tile.vote ballot %low {width = 8} -> i32", [](int t) { return t < 8 ? 255 : t < 16 ? 3 : 0; });
  expectOfThreads("%v = tile.vote any %low -> i1\n%r = arith.extui %v : i1 to i32", [](int t) { return t < 32; });
  expectOfThreads("%v = tile.vote all %low {width = 2} -> i1\n%r = arith.extui %v : i1 to i32", [](int t) { return t < 10; });
}

// Those who take a branch vote among themselves.
TEST(Simt, ThreadsOfABranch) {
  auto inBranch = [](const std::string &op) {
    return "%none = arith.constant 0 : i32\n%r = scf.if %low -> (i32) {\n" + op +
           "\nscf.yield %v : i32\n} else {\nscf.yield %none : i32\n}";
  };
  expectOfThreads(inBranch("%v = tile.vote ballot %yes {width = 32} -> i32"), [](int t) { return t < 10 ? 1023 : 0; });
  expectOfThreads(inBranch("%w = tile.vote all %low -> i1\n%v = arith.extui %w : i1 to i32"), [](int t) { return t < 10; });
  expectOfThreads(inBranch("%v = tile.vote count %yes {width = 8} -> i32"), [](int t) { return t < 8 ? 8 : t < 10 ? 2 : 0; });
  expectOfThreads(inBranch("%v = tile.shuffle down %x, %c1 : i32 -> i32"), [](int t) {
    return t < 9 ? 62 - t : t == 9 ? 54 : 0;
  });
  expectOfThreads(inBranch("tile.sync {width = 32 : i64}\n%v = arith.addi %x, %c1 : i32"),
                  [](int t) { return t < 10 ? 64 - t : 0; });
}

// A block has whole warps: threads that fill the last one do nothing that is seen.
TEST(Simt, FewerThreadsThanTheBlock) {
  auto expect = [](const std::string &body, llvm::function_ref<int(int)> expected) { expectOfThreads(body, expected, 40); };
  expect("%r = arith.addi %x, %c1 : i32", [](int t) { return 40 - t; });
  expect("%r = tile.shuffle down %x, %c1 : i32 -> i32", [](int t) { return t == 31 || t == 39 ? 39 - t : 38 - t; });
  expect("%r = tile.shuffle xor %x, %c10 : i32 -> i32", [](int t) { return t < 32 ? 39 - (t ^ 10) : 39 - t; });
  expect("%r = tile.vote count %yes {width = 0} -> i32", [](int) { return 40; });
  expect("%r = tile.vote ballot %yes {width = 32} -> i32", [](int t) { return t < 32 ? -1 : 255; });
  expect("%v = tile.vote all %yes {width = 0} -> i1\n%r = arith.extui %v : i1 to i32", [](int) { return 1; });
  expect("%v = tile.vote all %yes {width = 32} -> i1\n%r = arith.extui %v : i1 to i32", [](int) { return 1; });
  expect("%v = tile.vote any %low {width = 32} -> i1\n%r = arith.extui %v : i1 to i32", [](int t) { return t < 32; });
  expect(R"(tile.sync
    %zero = arith.constant 0 : i32
    tile.element_store %buffer[%t], %zero : !tile.buffer<64xi32, shared>, (i32), i32
    tile.sync
    %old = tile.element_update add %buffer[%zero], %c1 : !tile.buffer<64xi32, shared>, (i32), i32
    tile.sync
    %r = tile.element_load %buffer[%zero] : !tile.buffer<64xi32, shared>, i32 -> i32)",
         [](int) { return 40; });
  expect(R"(%n = tile.together {
      %all = tile.buffer_load %buffer : !tile.buffer<64xi32, shared> -> tensor<64xi32>
      %sum = tile.reduce %all axis 0 {
      ^bb0(%p0: i32, %q0: i32):
        %s0 = arith.addi %p0, %q0 : i32
        tile.yield %s0 : i32
      } : tensor<64xi32> -> i32
      tile.yield %sum : i32
    } -> i32
    %r = arith.addi %n, %t : i32)",
         [](int t) { return 780 + t; });
}

TEST(Simt, PrintsAndAssertions) {
  std::string text = R"(
tile.kernel @k(%out: !tile.ptr<i32>) {
  %p = tile.program_id 0
  %i = tile.range 0 to 3 : tensor<3xi32>
  %ps = tile.splat %p : i32 -> tensor<3xi32>
  %x = arith.addi %i, %ps : tensor<3xi32>
  tile.print "x: ", %x, %p : tensor<3xi32>, i32 {is_signed = array<i1: true, true>}
  %six = arith.constant dense<6> : tensor<3xi32>
  %fine = arith.cmpi slt, %x, %six : tensor<3xi32>
  tile.assert %fine, "too large" : tensor<3xi1>
  %a = tile.add_ptr %out, %p : !tile.ptr<i32>, i32
  %place = tile.pointer_access %a : !tile.ptr<i32> -> !tile.access<i32>
  tile.store %place, %p : !tile.access<i32>, i32
  tile.return
})";
  std::vector<int32_t> out(7, -7);
  testing::internal::CaptureStdout();
  std::string message;
  try {
    onEmulator(text, false, {7, 1, 1}, {slot(out.data())});
  } catch (const Error &error) {
    message = error.what();
  }
  std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_NE(message.find("too large (program (4, 0, 0) of k)"), std::string::npos)
      << message; // the first, though the last one ran first
  EXPECT_EQ(out, (std::vector<int32_t>{0, 1, 2, 3, -7, -7, -7}));
  EXPECT_EQ(printed.substr(0, printed.find("pid (1")), "pid (0, 0, 0) idx (0) x: (operand 0) 0\n"
                                                       "pid (0, 0, 0) idx (1) x: (operand 0) 1\n"
                                                       "pid (0, 0, 0) idx (2) x: (operand 0) 2\n"
                                                       "pid (0, 0, 0) idx () x: (operand 1) 0\n");
  EXPECT_EQ(llvm::count(printed, '\n'), 28);
}

// A constant part of an address does not move with any loop, the part before it does.
TEST(Simt, OperandsAtIndicesThatAreAllTheSame) {
  std::string text = R"(
tile.kernel @k(%b: !tile.ptr<bf16>, %n: i64, %out: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c40 = arith.constant 40 : i64
  %zero = arith.constant dense<0.0> : tensor<24x40xf32>
  %sum = tile.contract %c2, %zero {
  ^bb0(%step: i64):
    %ones = arith.constant dense<1.0> : tensor<24x40xbf16>
    %c17 = arith.constant 17 : i64
    %same = tile.splat %c17 : i64 -> tensor<40xi64>
    %place = tile.access %b, %c0 steps(%c1, %same) bounds [1, 0](%c0, %n) : <bf16>, (i64, tensor<40xi64>), (i64, i64) -> <40x40xbf16>
    %y = tile.load %place : !tile.access<40x40xbf16> -> tensor<40x40xbf16>
    tile.yield %ones, %y : tensor<24x40xbf16>, tensor<40x40xbf16>
  } {num_stages = 1 : i64} : tensor<24x40xf32>
  %to = tile.access %out, %c0 steps(%c40, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <24x40xf32>
  tile.store %to, %sum : !tile.access<24x40xf32>, tensor<24x40xf32>
  tile.return
})";
  std::vector<uint16_t> b(57); // 0, 1, 2, ... in bfloat16
  for (int i = 0; i < 57; ++i)
    b[i] = uint16_t(std::bit_cast<uint32_t>(float(i)) >> 16);
  std::vector<float> out(24 * 40, -7);
  onEmulator(text, false, {1, 1, 1}, {slot(b.data()), 33, slot(out.data())});
  float expected = 0;
  for (int k = 0; k < 33; ++k)
    expected += 2 * (17 + k);
  for (float value : out)
    EXPECT_EQ(value, expected);
}
