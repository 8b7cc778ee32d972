// Bytes and operations of launches, from text.
#include "compiler/count/work.h"
#include "tests/unit/analysis/kernel.h"
#include <gtest/gtest.h>

using namespace tilery;

static count::Work workOf(const char *text, std::array<uint32_t, 3> grid, llvm::ArrayRef<uint64_t> args, bool onCpu = false) {
  Kernel kernel(text);
  return count::workOf(*kernel.module->getOps<tile::KernelOp>().begin(), grid, args, onCpu);
}

static const char *const row = R"(
tile.kernel @row(%x: !tile.ptr<f32> {tile.name = "x"}, %n: i32) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %size = arith.constant 64 : i64
  %p = tile.program_id 0
  %w = arith.extsi %p : i32 to i64
  %at = arith.muli %w, %size : i64
  %wide = arith.extsi %n : i32 to i64
  %left = arith.subi %wide, %at : i64
  %place = tile.access %x, %at steps(%one) bounds [1](%zero, %left) : <f32>, (i64), (i64, i64) -> <64xf32>
  %v = tile.load %place : !tile.access<64xf32> -> tensor<64xf32>
  %s = arith.addf %v, %v : tensor<64xf32>
  tile.store %place, %s : !tile.access<64xf32>, tensor<64xf32>
  tile.return
}
)";

TEST(Work, CountsWhatExists) {
  count::Work work = workOf(row, {4, 1, 1}, {4096, 200});
  ASSERT_EQ(work.arguments.size(), 2u);
  EXPECT_EQ(work.arguments[0].name, "x");
  EXPECT_EQ(work.arguments[0].address, 4096u);
  EXPECT_EQ(work.arguments[0].loaded, 800);
  EXPECT_EQ(work.arguments[0].stored, 800);
  EXPECT_EQ(work.operations, 256);
  EXPECT_TRUE(work.unsure.empty());
  EXPECT_EQ(workOf(row, {4, 1, 1}, {0, uint64_t(-5)}).arguments[0].loaded, 0) << "nothing is below a negative bound";
}

TEST(Work, ProgramsThatAreAlikeAreCountedOnce) {
  count::Work work = workOf(row, {4, 1u << 20, 1u << 10}, {0, 200});
  EXPECT_EQ(work.arguments[0].loaded, 800. * (1u << 30));
  EXPECT_TRUE(work.unsure.empty());
}

TEST(Work, TooManyProgramsAreSampled) {
  constexpr uint32_t programs = 1u << 30;
  count::Work work = workOf(row, {programs, 1, 1}, {0, 1u << 30});
  ASSERT_EQ(work.unsure.size(), 1u);
  EXPECT_NEAR(work.arguments[0].loaded, 4. * (1u << 30), 1e-3 * 4. * (1u << 30));
}

TEST(Work, ManyElementsOutsideAreAFinding) {
  EXPECT_TRUE(workOf(row, {100, 1, 1}, {0, 6400}).findings.empty());
  count::Work work = workOf(row, {100, 1, 1}, {0, 3200});
  ASSERT_EQ(work.findings.size(), 1u) << "load and store share the bound";
  EXPECT_EQ(work.findings[0].fault, "ragged");
  EXPECT_EQ(work.findings[0].message.substr(0, 4), "50 %");
}

TEST(Work, LoopsHangOnProgramsAndCarry) {
  const char *text = R"(
tile.kernel @triangle(%x: !tile.ptr<f32>, %n: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %p = tile.program_id 0
  %from = arith.extsi %p : i32 to i64
  %end = scf.for %i = %from to %n step %one iter_args(%c = %zero) -> (i64) : i64 {
    %place = tile.access %x, %i steps(%one) bounds [1](%zero, %c) : <f32>, (i64), (i64, i64) -> <8xf32>
    %v = tile.load %place : !tile.access<8xf32> -> tensor<8xf32>
    %d = arith.addi %c, %one : i64
    scf.yield %d : i64
  }
  %place = tile.access %x, %zero steps(%one) bounds [1](%zero, %end) : <f32>, (i64), (i64, i64) -> <8xf32>
  %v = tile.load %place : !tile.access<8xf32> -> tensor<8xf32>
  tile.return
}
)";
  EXPECT_EQ(workOf(text, {1, 1, 1}, {0, 4}).arguments[0].loaded, 4 * (0 + 1 + 2 + 3 + 4));
  EXPECT_EQ(workOf(text, {3, 1, 1}, {0, 4}).arguments[0].loaded, 4 * (6 + 4 + 3 + 3 + 1 + 2));
  EXPECT_EQ(workOf(text, {1, 1, 1}, {0, 0}).arguments[0].loaded, 0);
}

TEST(Work, WhatHangsOnDataIsSaid) {
  count::Work work = workOf(R"(
tile.kernel @counted(%x: !tile.ptr<i64>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %at = tile.access %x, %zero steps() bounds []() : <i64>, (), () -> <i64>
  %n = tile.load %at : !tile.access<i64> -> i64
  scf.for %i = %zero to %n step %one : i64 {
    tile.store %at, %i : !tile.access<i64>, i64
  }
  tile.return
})",
                            {1, 1, 1}, {0});
  EXPECT_EQ(work.unsure.size(), 1u);
  EXPECT_EQ(work.arguments[0].loaded, 8);
  EXPECT_EQ(work.arguments[0].stored, 8);
}
