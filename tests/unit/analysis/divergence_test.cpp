// Which values differ between threads, and where only some threads come.
#include "compiler/analysis/divergence.h"
#include "tests/unit/analysis/kernel.h"
#include <gtest/gtest.h>

using namespace mlir;
using tilery::analysis::Divergence;

namespace {
struct Threads : Kernel {
  explicit Threads(const std::string &text)
      : Kernel("tile.kernel @k(%n: i32) {\n  %zero = arith.constant 0 : i32\n  %one = arith.constant 1 : i32\n"
               "  %s = tile.alloc : !tile.buffer<64xi32, shared>\n  tile.threads 64 {\n  ^bb0(%t: i32):\n" +
               text + "    tile.yield\n  }\n  tile.return\n}\n") {}
  /// Of each op with a name (a string attribute `is`): whether it varies.
  std::string varying(bool ownAlike = true) {
    std::string result;
    kernelThreads();
    Divergence divergence(threads, ownAlike);
    divergence.run();
    threads.walk([&](Operation *op) {
      if (auto name = op->getAttrOfType<StringAttr>("is"))
        result += name.str() + (divergence.varies(op->getResult(0)) ? "+" : "-") + (divergence.isUnderSplit(op) ? "s " : " ");
    });
    return result;
  }
  void kernelThreads() {
    module->walk([&](tilery::tile::ThreadsOp op) { threads = op; });
  }
  tilery::tile::ThreadsOp threads;
};
} // namespace

TEST(Divergence, FollowsValuesAndVotes) {
  Threads threads(R"(
    %a = arith.addi %t, %n {is = "a"} : i32
    %b = arith.addi %n, %n {is = "b"} : i32
    %x = tile.element_load %s[%t] {is = "x"} : !tile.buffer<64xi32, shared>, i32 -> i32
    %y = tile.element_load %s[%n] {is = "y"} : !tile.buffer<64xi32, shared>, i32 -> i32
    %low = arith.cmpi slt, %t, %n : i32
    %some = tile.vote any %low {is = "some"} -> i1
    %all = tile.vote any %low {is = "all", width = 0} -> i1
    %z = tile.shuffle down %n, %one {is = "z"} : i32 -> i32
    scf.if %low {
      %c = arith.addi %n, %one {is = "c"} : i32
    }
    %sum = scf.for %i = %zero to %t step %one iter_args(%acc = %zero) -> (i32) : i32 {
      %next = arith.addi %acc, %one {is = "next"} : i32
      scf.yield %next : i32
    }
    %d = arith.addi %sum, %one {is = "d"} : i32
  )");
  ASSERT_TRUE(threads.module);
  EXPECT_EQ(threads.varying(), "a+ b- x+ y- some+ all- z+ c-s next+s d+ ");
}

TEST(Divergence, KnowsArraysThatAllFillAlike) {
  Threads threads(R"(
    %alike = tile.alloc : !tile.buffer<4xi32, local>
    %unlike = tile.alloc : !tile.buffer<4xi32, local>
    tile.element_store %alike[%zero], %n : !tile.buffer<4xi32, local>, (i32), i32
    tile.element_store %unlike[%zero], %t : !tile.buffer<4xi32, local>, (i32), i32
    %a = tile.element_load %alike[%one] {is = "a"} : !tile.buffer<4xi32, local>, i32 -> i32
    %b = tile.element_load %unlike[%one] {is = "b"} : !tile.buffer<4xi32, local>, i32 -> i32
  )");
  ASSERT_TRUE(threads.module);
  EXPECT_EQ(threads.varying(true), "a- b+ ");
  EXPECT_EQ(threads.varying(false), "a+ b+ ");
}
