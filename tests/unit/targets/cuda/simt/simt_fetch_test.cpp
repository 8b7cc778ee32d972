// Loops whose loads run ahead, on the emulator: copies land when they are waited for, no sooner.
#include "tests/unit/targets/cuda/on_emulator.h"
#include <bit>

using namespace tilery;
using namespace tilery::test;

namespace {
/// Each program's row of n numbers in pieces of 512: their sum; then each number less the sum, in place.
const char *pieces = R"(
tile.kernel @k(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %out: !tile.ptr<f32>, %n: i32 {tile.divisibility = 4 : i64}) {
  %c0 = arith.constant 0 : i32
  %piece = arith.constant 512 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %missing = arith.constant dense<OTHER> : tensor<512xf32>
  %none = arith.constant 0.0 : f32
  %program = tile.program_id 0
  %row = arith.extsi %program : i32 to i64
  %columns = arith.extsi %n : i32 to i64
  %begin = arith.muli %row, %columns overflow<nsw> : i64
  %sum = scf.for %start = %c0 to %n step %piece iter_args(%before = %none) -> (f32) : i32 {
    %wide = arith.extsi %start : i32 to i64
    %at = arith.addi %begin, %wide overflow<nsw> : i64
    %left = arith.subi %columns, %wide overflow<nsw> : i64
    %place = tile.access %x, %at steps(%one) bounds [1](%zero, %left) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<512xf32>
    %values = tile.load %place other %missing : tensor<512xf32> : !tile.access<512xf32> -> tensor<512xf32>
    %part = tile.reduce %values axis 0 {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    } : tensor<512xf32> -> f32
    %now = arith.addf %before, %part : f32
    scf.yield %now : f32
  }
  %each = tile.splat %sum : f32 -> tensor<512xf32>
  scf.for %start = %c0 to %n step %piece : i32 {
    %wide = arith.extsi %start : i32 to i64
    %at = arith.addi %begin, %wide overflow<nsw> : i64
    %left = arith.subi %columns, %wide overflow<nsw> : i64
    %place = tile.access %x, %at steps(%one) bounds [1](%zero, %left) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<512xf32>
    %values = tile.load %place other %missing : tensor<512xf32> : !tile.access<512xf32> -> tensor<512xf32>
    %less = arith.subf %values, %each : tensor<512xf32>
    tile.store %place, %less : !tile.access<512xf32>, tensor<512xf32>
  }
  %to = tile.access %out, %row steps() bounds []() : !tile.ptr<f32>, (), () -> !tile.access<f32>
  tile.store %to, %sum : !tile.access<f32>, f32
  tile.return
})";

/// Rows of 256 numbers, dealt to the programs by turns; what is carried is where the next one begins. Sums of rows into `out`.
const char *rows = R"(
tile.kernel @k(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %out: !tile.ptr<f32>, %count: i32) {
  %c256 = arith.constant 256 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %width = arith.constant 256 : i64
  %program = tile.program_id 0
  %programs = tile.num_programs 0
  %first = arith.muli %program, %c256 overflow<nsw> : i32
  %stride = arith.muli %programs, %c256 overflow<nsw> : i32
  %last = scf.for %row = %program to %count step %programs iter_args(%begin = %first) -> (i32) : i32 {
    %at = arith.extsi %begin : i32 to i64
    %place = tile.access %x, %at steps(%one) bounds [1](%zero, %width) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<256xf32>
    %values = tile.load %place : !tile.access<256xf32> -> tensor<256xf32>
    %sum = tile.reduce %values axis 0 {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    } : tensor<256xf32> -> f32
    %wide = arith.extsi %row : i32 to i64
    %to = tile.access %out, %wide steps() bounds []() : !tile.ptr<f32>, (), () -> !tile.access<f32>
    tile.store %to, %sum : !tile.access<f32>, f32
    %next = arith.addi %begin, %stride overflow<nsw> : i32
    scf.yield %next : i32
  }
  tile.return
})";
/// Rows of n numbers of x and y a program, held whole: y w - s and a number of the row less the sum of that, where s is the sum of x y.
const char *whole = R"(
tile.kernel @k(%x: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %y: !tile.ptr<bf16> {tile.divisibility = 16 : i64},
               %w: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %more: !tile.ptr<f32>,
               %out: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32 {tile.divisibility = 8 : i64}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %missing = arith.constant dense<0.0> : tensor<16384xbf16>
  %px = tile.program_id 0
  %py = tile.program_id 1
  %width = tile.num_programs 0
  %above = arith.muli %py, %width overflow<nsw> : i32
  %program = arith.addi %above, %px overflow<nsw> : i32
  %row = arith.extsi %program : i32 to i64
  %columns = arith.extsi %n : i32 to i64
  %begin = arith.muli %row, %columns overflow<nsw> : i64
  %from = tile.access %x, %begin steps(%one) bounds [1](%zero, %columns) : !tile.ptr<bf16>, (i64), (i64, i64) -> !tile.access<16384xbf16>
  %fewx = tile.load %from other %missing : tensor<16384xbf16> : !tile.access<16384xbf16> -> tensor<16384xbf16>
  %values = arith.extf %fewx : tensor<16384xbf16> to tensor<16384xf32>
  %beside = tile.access %y, %begin steps(%one) bounds [1](%zero, %columns) : !tile.ptr<bf16>, (i64), (i64, i64) -> !tile.access<16384xbf16>
  %fewy = tile.load %beside other %missing : tensor<16384xbf16> : !tile.access<16384xbf16> -> tensor<16384xbf16>
  %others = arith.extf %fewy : tensor<16384xbf16> to tensor<16384xf32>
  %same = tile.access %w, %zero steps(%one) bounds [1](%zero, %columns) : !tile.ptr<bf16>, (i64), (i64, i64) -> !tile.access<16384xbf16>
  %unset = arith.constant dense<OTHER> : tensor<16384xbf16>
  %feww = tile.load %same other %unset : tensor<16384xbf16> : !tile.access<16384xbf16> -> tensor<16384xbf16>
  %factors = arith.extf %feww : tensor<16384xbf16> to tensor<16384xf32>
  %at = tile.access %more, %row steps() bounds []() : !tile.ptr<f32>, (), () -> !tile.access<f32>
  %number = tile.load %at : !tile.access<f32> -> f32
  %products = arith.mulf %values, %others : tensor<16384xf32>
  %sum = tile.reduce %products axis 0 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : tensor<16384xf32> -> f32
  %each = tile.splat %sum : f32 -> tensor<16384xf32>
  %larger = arith.addf %values, %factors : tensor<16384xf32>
  %scaled = arith.subf %larger, %each : tensor<16384xf32>
  %most = tile.reduce %scaled axis 0 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.maximumf %a, %b : f32
    tile.yield %s : f32
  } : tensor<16384xf32> -> f32
  %rest = arith.subf %number, %most : f32
  %all = tile.splat %rest : f32 -> tensor<16384xf32>
  %weighted = arith.mulf %others, %factors : tensor<16384xf32>
  %result = arith.addf %weighted, %all : tensor<16384xf32>
  %to = tile.access %out, %begin steps(%one) bounds [1](%zero, %columns) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<16384xf32>
  tile.store %to, %result : !tile.access<16384xf32>, tensor<16384xf32>
  tile.return
})";

/// The loop that reads again begins with what the first one has left in its ring, and runs backwards.
void expectPieces(int piece, float other, int n) {
  std::string text = pieces;
  text.replace(text.find("OTHER"), 5, std::to_string(other));
  for (size_t at = text.find("512"); at != text.npos; at = text.find("512", at + 3))
    text.replace(at, 3, std::to_string(piece));
  std::vector<float> x(3 * n + 4), out(3, -1), expected;
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(i % 17) - 8;
  std::vector<float> before = x;
  onEmulator(text, true, {3, 1, 1}, {slot(x.data()), slot(out.data()), uint64_t(n)});
  int missing = (piece - n % piece) % piece;
  for (int row = 0; row < 3; ++row) {
    float sum = other * float(missing);
    for (int i = 0; i < n; ++i)
      sum += before[row * n + i];
    EXPECT_EQ(out[row], sum) << n;
    for (int i = 0; i < n; ++i)
      ASSERT_EQ(x[row * n + i], before[row * n + i] - sum) << n << " " << row << " " << i;
  }
  for (int i = 3 * n; i < 3 * n + 4; ++i)
    EXPECT_EQ(x[i], before[i]);
}

} // namespace

TEST(SimtFetch, PiecesOfRows) {
  for (float other : {0.f, 1.f})
    for (int n : {0, 4, 508, 512, 516, 1024, 3076, 512 * 10, 512 * 13, 512 * 37 + 4})
      expectPieces(512, other, n);
  // Several vectors a turn, in a ring that is no whole number of turns.
  for (int piece : {4096, 8192})
    for (int n : {4, piece, 2 * piece + 8, 5 * piece, 9 * piece - 4, 17 * piece + 300})
      expectPieces(piece, 0, n);
}

TEST(SimtFetch, RowsByTurns) {
  for (int count : {0, 1, 3, 8, 29}) {
    std::vector<float> x(256 * std::max(count, 1)), out(size_t(count) + 1, -1);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = float(i % 13);
    onEmulator(rows, true, {3, 1, 1}, {slot(x.data()), slot(out.data()), uint64_t(count)});
    for (int row = 0; row < count; ++row) {
      float sum = 0;
      for (int i = 0; i < 256; ++i)
        sum += x[row * 256 + i];
      EXPECT_EQ(out[row], sum) << count << " " << row;
    }
    EXPECT_EQ(out[count], -1);
  }
}

// Blocks run several programs, have the next one's rows under way, and keep what all of them load.
TEST(SimtFetch, Programs) {
  auto bf16 = [](float number) { return uint16_t(std::bit_cast<uint32_t>(number) >> 16); }; // of few bits
  for (int other : {0, 50})
    for (std::array<uint32_t, 3> grid : {std::array<uint32_t, 3>{1, 1, 1}, {5, 1, 1}, {3, 2, 1}}) {
      std::string text = whole;
      text.replace(text.find("OTHER"), 5, std::to_string(other) + ".0");
      int rows = int(grid[0] * grid[1]), n = 3000;
      std::vector<uint16_t> x(size_t(rows) * n), y(x.size()), w(n);
      std::vector<float> more(rows), out(x.size() + 1, -1);
      auto valueOf = [](uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); };
      for (size_t i = 0; i < x.size(); ++i) {
        x[i] = bf16(float(i % 11) - 5);
        y[i] = bf16(float(i % 7) - 2);
      }
      for (int i = 0; i < n; ++i)
        w[i] = bf16(float(i % 13) - 3);
      for (int row = 0; row < rows; ++row)
        more[row] = float(100 * row);
      onEmulator(text, true, grid,
                 {slot(x.data()), slot(y.data()), slot(w.data()), slot(more.data()), slot(out.data()), uint64_t(n)});
      for (int row = 0; row < rows; ++row) {
        float sum = 0, most = float(other); // behind the row's end
        for (int i = 0; i < n; ++i) {
          sum += valueOf(x[row * n + i]) * valueOf(y[row * n + i]);
          most = std::max(most, valueOf(x[row * n + i]) + valueOf(w[i]));
        }
        for (int i = 0; i < n; ++i)
          ASSERT_EQ(out[row * n + i], valueOf(y[row * n + i]) * valueOf(w[i]) + (more[row] - (most - sum))) << row << " " << i;
      }
      EXPECT_EQ(out.back(), -1);
    }
}
