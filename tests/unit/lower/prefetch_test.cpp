// What is fetched ahead: tiles of the next program that a nest walks again, lines that will be written; nothing else.
#include "tests/unit/targets/cpu/run_kernel.h"
#include <cmath>
#include <vector>

using namespace tilery;
using namespace tilery::test;

namespace {
/// o[row] = x[row] - max(x[row]), rows of `tile` lanes of which n exist, the row's start being `start` (an i64 of %p, %n64 or %z).
std::string rows(int tile, const std::string &start, bool twice = true) {
  std::string t = std::to_string(tile) + "xf32", access = "!tile.access<" + t + ">", tensor = "tensor<" + t + ">";
  return "tile.kernel @k(%x: !tile.ptr<f32>, %o: !tile.ptr<f32>, %n: i32) {\n  %pid = tile.program_id 0\n"
         "  %p = arith.extsi %pid : i32 to i64\n  %n64 = arith.extsi %n : i32 to i64\n  %z = arith.constant 0 : i64\n"
         "  %one = arith.constant 1 : i64\n  %own = arith.muli %p, %n64 overflow<nsw> : i64\n"
         "  %a = tile.access %x, %" +
         start + " steps(%one) bounds [1] (%z, %n64) : !tile.ptr<f32>, (i64), (i64, i64) -> " + access +
         "\n  %inf = arith.constant dense<0xFF800000> : " + tensor + "\n  %v = tile.load %a other %inf : " + tensor + " : " +
         access + " -> " + tensor + "\n" +
         (twice ? "  %m = tile.reduce %v axis 0 {\n  ^bb0(%l: f32, %q: f32):\n    %s = arith.maxnumf %l, %q : f32\n"
                  "    tile.yield %s : f32\n  } : " +
                      tensor + " -> f32\n"
                : "  %m = arith.constant 0.0 : f32\n") +
         "  %ms = tile.splat %m : f32 -> " + tensor + "\n  %d = arith.subf %v, %ms : " + tensor +
         "\n  %oa = tile.access %o, %own steps(%one) bounds [1] (%z, %n64) : !tile.ptr<f32>, (i64), (i64, i64) -> " + access +
         "\n  tile.store %oa, %d : " + access + ", " + tensor + "\n  tile.return\n}\n";
}
/// The same with rows of axis 1 of the grid, tiles of 1 x `tile` lanes, which are reduced as a line.
std::string rowsOfTiles(int tile) {
  std::string line = "tensor<" + std::to_string(tile) + "xf32>", t = "1x" + std::to_string(tile) + "xf32",
              access = "!tile.access<" + t + ">", tensor = "tensor<" + t + ">";
  auto place = [&](const std::string &name, const std::string &pointer) {
    return "  %" + name + " = tile.access %" + pointer +
           ", %own steps(%z, %one) bounds [0, 1] (%z, %n64) : !tile.ptr<f32>, (i64, i64), (i64, i64) -> " + access + "\n";
  };
  return "tile.kernel @k(%x: !tile.ptr<f32>, %o: !tile.ptr<f32>, %n: i32) {\n  %pid = tile.program_id 1\n"
         "  %p = arith.extsi %pid : i32 to i64\n  %n64 = arith.extsi %n : i32 to i64\n  %z = arith.constant 0 : i64\n"
         "  %one = arith.constant 1 : i64\n  %own = arith.muli %p, %n64 overflow<nsw> : i64\n" +
         place("a", "x") + "  %inf = arith.constant dense<0xFF800000> : " + tensor +
         "\n  %v = tile.load %a other %inf : " + tensor + " : " + access + " -> " + tensor +
         "\n  %w = tile.reshape %v : " + tensor + " -> " + line +
         "\n  %m = tile.reduce %w axis 0 {\n  ^bb0(%l: f32, %q: f32):\n    %s = arith.maxnumf %l, %q : f32\n"
         "    tile.yield %s : f32\n  } : " +
         line + " -> f32\n  %ms = tile.splat %m : f32 -> " + tensor + "\n  %d = arith.subf %v, %ms : " + tensor + "\n" +
         place("oa", "o") + "  tile.store %oa, %d : " + access + ", " + tensor + "\n  tile.return\n}\n";
}
Compiled compiled(const std::string &text) {
  cpu::Options options;
  options.disjoint = options.wantLLVM = true;
  return compileText(text, options);
}
bool fetches(const Compiled &k) { return k.code.llvm.find("call void @llvm.prefetch") != std::string::npos; }
} // namespace

TEST(CpuPrefetch, RowsThatAreWalkedTwice) {
  EXPECT_TRUE(fetches(compiled(rows(1024, "own"))));
  EXPECT_FALSE(fetches(compiled(rows(1024, "own", false)))); // once: the hardware follows
  EXPECT_FALSE(fetches(compiled(rows(1024, "z"))));          // the same row in every program
  EXPECT_FALSE(fetches(compiled(rows(1 << 20, "own"))));     // larger than a second-level cache
}

TEST(CpuPrefetch, RowsOfTilesAlongAnotherAxis) { EXPECT_TRUE(fetches(compiled(rowsOfTiles(1024)))); }

/// Launches rows of all kinds of lengths, along this axis of the grid.
static void expectLargestTakenOff(const Compiled &k, unsigned axis) {
  for (uint32_t flags : {TILERY_DISJOINT, TILERY_DISJOINT | TILERY_STREAM})
    for (int n : {1, 31, 64, 100, 255, 256}) {
      constexpr int programs = 5;
      std::vector<float> x(programs * n), out(programs * n + 8, 99.0f);
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = float(i * 37 % 101);
      uint64_t slots[] = {slot(x.data()), slot(out.data()), slot(n)};
      int64_t grid[] = {1, 1, 1};
      grid[axis] = programs;
      LaunchOptions options;
      options.flags = flags;
      launch(*k.kernels[0], grid, slots, options);
      for (int row = 0; row < programs; ++row) {
        float largest = *std::max_element(x.begin() + row * n, x.begin() + (row + 1) * n);
        for (int i = row * n; i < (row + 1) * n; ++i)
          ASSERT_EQ(out[i], x[i] - largest) << i << " of rows of " << n;
      }
      for (int i = programs * n; i < programs * n + 8; ++i)
        ASSERT_EQ(out[i], 99.0f);
    }
}

TEST(CpuPrefetch, ChangesNoResult) {
  expectLargestTakenOff(compiled(rows(256, "own")), 0);
  expectLargestTakenOff(compiled(rowsOfTiles(256)), 1);
}
