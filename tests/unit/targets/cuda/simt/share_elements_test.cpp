// How many threads a block has, what each moves at once, and which stored tiles stay in registers.
#include "tests/unit/targets/cpu/run_kernel.h"
#include "tests/unit/targets/with.h"
#include "compiler/targets/cuda/simt/simt_plan.h"
#include "compiler/targets/cuda/ptx/lowering.h"
#include "compiler/targets/cuda/simt/simt.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::test;

namespace {
/// q = f(x) of `count` elements of f32, with attributes of the pointers and of the kernel. In `body`: $N the count, $T the tile's type.
std::string elementwise(int64_t count, const std::string &pointer = "", const std::string &kernel = "",
                        const std::string &body = "  %b = arith.addf %a, %a : $T\n") {
  std::string text =
      "tile.kernel @k(%x: !tile.ptr<f32>" + pointer + ", %q: !tile.ptr<f32>" + pointer + ", %n: i64) " + kernel +
      " {\n  %zero = arith.constant 0 : i64\n  %one = arith.constant 1 : i64\n"
      "  %ax = tile.access %x, %zero steps(%one) bounds [1] (%zero, %n) : !tile.ptr<f32>, (i64), (i64, i64) -> $A\n"
      "  %aq = tile.access %q, %zero steps(%one) bounds [1] (%zero, %n) : !tile.ptr<f32>, (i64), (i64, i64) -> $A\n"
      "  %a = tile.load %ax : $A -> $T\n" +
      body + "  tile.store %aq, %b : $A, $T\n  tile.return\n}\n";
  return with(std::move(text), {{"$A", "!tile.access<$Nxf32>"}, {"$T", "tensor<$Nxf32>"}, {"$N", std::to_string(count)}});
}
const char *aligned = " {tile.divisibility = 16 : i64}";
/// A row's softmax without its maximum: the exponentials are read by the sum and by the quotient.
const char *softmax = "  %e = math.exp %a : $T\n  %t = tile.reduce %e axis 0 {\n  ^bb0(%l: f32, %r: f32):\n"
                      "    %s = arith.addf %l, %r : f32\n    tile.yield %s : f32\n  } : $T -> f32\n"
                      "  %ts = tile.splat %t : f32 -> $T\n  %b = arith.divf %e, %ts : $T\n";

struct ShareElements : testing::Test {
  OwningOpRef<ModuleOp> module;
  cuda::SimtPlan plan(const std::string &text, bool clusters = false) {
    module = parseSourceString<ModuleOp>(text, &context());
    EXPECT_TRUE(module) << text;
    cuda::CudaTarget target = *cuda::targetNamed("sm_80");
    cuda::GpuLowering lowering(target);
    lower::Options options{lowering};
    options.disjoint = true;
    return cuda::planSimt(*module->getOps<tile::KernelOp>().begin(), options, cuda::tileBytes(target),
                          clusters ? cuda::longestOwnRow : 0);
  }
};
} // namespace

TEST_F(ShareElements, SixteenElementsAThreadAndFourWarpsAtLeast) {
  EXPECT_EQ(plan(elementwise(256)).threads, 128u);
  EXPECT_EQ(plan(elementwise(4096)).threads, 256u);
  EXPECT_EQ(plan(elementwise(65536)).threads, 512u);
}

TEST_F(ShareElements, TheUsersWarpsDecide) {
  for (int warps : {1, 2, 8})
    EXPECT_EQ(plan(elementwise(1024, "", "attributes {tile.num_warps = " + std::to_string(warps) + " : i64}")).threads,
              unsigned(32 * warps));
}

TEST_F(ShareElements, AThreadReducesMoreBeforeItMeetsTheOthers) {
  EXPECT_EQ(plan(elementwise(1024, "", "", softmax)).threads, 32u);
  EXPECT_EQ(plan(elementwise(8192, "", "", softmax)).threads, 256u);
}

TEST_F(ShareElements, VectorsAreAsWideAsAccessesAreAligned) {
  cuda::SimtPlan bare = plan(elementwise(1024)), wide = plan(elementwise(1024, aligned));
  ASSERT_EQ(bare.maps.size(), 1u);
  ASSERT_EQ(wide.maps.size(), 1u);
  EXPECT_EQ(bare.maps.begin()->second.width, 1u);
  EXPECT_EQ(wide.maps.begin()->second.width, 4u);
  EXPECT_EQ(wide.maps.begin()->second.chunks * 4 * wide.threads, 1024u);
}

TEST_F(ShareElements, ThreadsHaveFewNeighboursWhereMostAccessesAreNotAligned) {
  // q = x + w, rows of x and q that begin anywhere, of 1024 elements of T; w is aligned for vectors of 16 bytes.
  auto rows = [&](const std::string &element) {
    return plan(
        with("tile.kernel @k(%x: !tile.ptr<T>$P, %w: !tile.ptr<T>$P, %q: !tile.ptr<T>$P, %n: i64) {\n"
             "  %zero = arith.constant 0 : i64\n  %one = arith.constant 1 : i64\n"
             "  %ax = tile.access %x, %n steps(%one) bounds [0] () : !tile.ptr<T>, (i64), () -> $A\n"
             "  %aw = tile.access %w, %zero steps(%one) bounds [0] () : !tile.ptr<T>, (i64), () -> $A\n"
             "  %aq = tile.access %q, %n steps(%one) bounds [0] () : !tile.ptr<T>, (i64), () -> $A\n"
             "  %a = tile.load %ax : $A -> tensor<1024xT>\n  %b = tile.load %aw : $A -> tensor<1024xT>\n"
             "  %c = arith.addf %a, %b : tensor<1024xT>\n  tile.store %aq, %c : $A, tensor<1024xT>\n  tile.return\n}\n",
             {{"$A", "!tile.access<1024xT>"}, {"$P", aligned}, {"xT>", "x" + element + ">"}, {"<T>", "<" + element + ">"}}));
  };
  EXPECT_EQ(rows("f32").maps.begin()->second.width, 1u) << "a warp's neighbours lie in one line";
  EXPECT_EQ(rows("bf16").maps.begin()->second.width, 2u) << "of which two are one register";
}

TEST_F(ShareElements, AStoredTileStaysInRegistersWhereThreadsReadTheirOwnElements) {
  cuda::SimtPlan block = plan(elementwise(1024, aligned, "", softmax));
  ASSERT_FALSE(block.plan.buffers.empty());
  EXPECT_EQ(block.inRegisters.size(), block.plan.buffers.size());
  EXPECT_EQ(block.plan.arenaBytes, 64u) << "nothing is left in shared memory";
}

TEST_F(ShareElements, ATileThatOtherThreadsReadLiesInSharedMemory) {
  // Each thread reads the elements from the tile's other end: what it stored itself is of no use to it.
  std::string turned = "  %e = math.exp %a : $T\n  %lanes = tile.range 0 to $N : tensor<$Nxi32>\n"
                       "  %last = arith.constant dense<1023> : tensor<$Nxi32>\n"
                       "  %back = arith.subi %last, %lanes : tensor<$Nxi32>\n"
                       "  %b = tile.take %e, %back axis 0 : $T, tensor<$Nxi32> -> $T\n";
  cuda::SimtPlan block = plan(elementwise(1024, aligned, "", turned));
  EXPECT_TRUE(block.inRegisters.empty());
  EXPECT_GE(block.plan.arenaBytes, 4096u);
}

TEST_F(ShareElements, BlocksShareALongRow) {
  cuda::SimtPlan block = plan(elementwise(65536, aligned, "", softmax), true);
  EXPECT_EQ(block.cluster, 4u);
  EXPECT_EQ(block.threads, 512u);
  ASSERT_EQ(block.maps.count({65536}), 1u);
  EXPECT_EQ(block.maps.at({65536}).threads, 2048u);
  EXPECT_EQ(block.maps.at({65536}).chunks * 4, 32);
  EXPECT_EQ(plan(elementwise(262144, aligned, "", softmax), true).cluster, 8u) << "as many as any device runs";
}

TEST_F(ShareElements, ABlockHasItsProgramForItself) {
  EXPECT_EQ(plan(elementwise(65536, aligned, "", softmax), false).cluster, 1u) << "where there are no clusters";
  EXPECT_EQ(plan(elementwise(32768, aligned, "", softmax), true).cluster, 1u) << "where it holds the row";
  EXPECT_EQ(plan(elementwise(65536, aligned), true).cluster, 1u) << "where nothing is reduced";
  // Of the sum that stands in memory, others would need to know.
  const char *scanned =
      "  %c = tile.scan %a axis 0 {\n  ^bb0(%l: f32, %r: f32):\n    %s = arith.addf %l, %r : f32\n    tile.yield %s : f32\n"
      "  } : $T -> $T\n  %t = tile.reduce %a axis 0 {\n  ^bb0(%l: f32, %r: f32):\n    %s = arith.addf %l, %r : f32\n"
      "    tile.yield %s : f32\n  } : $T -> f32\n  %ts = tile.splat %t : f32 -> $T\n  %b = arith.divf %c, %ts : $T\n";
  EXPECT_EQ(plan(elementwise(65536, aligned, "", scanned), true).cluster, 1u);
}

namespace {
/// q = f(x) of 64 x 32 elements, with `body` between a load %a and what is stored, %b.
std::string lines(const std::string &body, const std::string &kernel = "attributes {tile.num_warps = 4 : i64}") {
  std::string text = "tile.kernel @k(%x: !tile.ptr<f32>" + std::string(aligned) + ", %q: !tile.ptr<f32>" + aligned + ") " +
                     kernel +
                     " {\n  %zero = arith.constant 0 : i64\n  %one = arith.constant 1 : i64\n  %row = arith.constant 32 : i64\n"
                     "  %ax = tile.access %x, %zero steps(%row, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> $A\n"
                     "  %aq = tile.access %q, %zero steps(%row, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> $A\n"
                     "  %a = tile.load %ax : $A -> $T\n" +
                     body + "  tile.store %aq, %b : $A, $T\n  tile.return\n}\n";
  return with(std::move(text), {{"$A", "!tile.access<64x32xf32>"}, {"$T", "tensor<64x32xf32>"}});
}
std::string scanAlong(int axis) {
  return "  %b = tile.scan %a axis " + std::to_string(axis) +
         " {\n  ^bb0(%l: f32, %r: f32):\n    %s = arith.addf %l, %r : f32\n    tile.yield %s : f32\n  } : $T -> $T\n";
}
std::string columns(const char *op) {
  return "  %c = tile.reduce %a axis 0 {\n  ^bb0(%l: f32, %r: f32):\n    %s = " + std::string(op) +
         " %l, %r : f32\n    tile.yield %s : f32\n  } : $T -> tensor<32xf32>\n"
         "  %d = tile.expand_dims %c axis 0 : tensor<32xf32> -> tensor<1x32xf32>\n"
         "  %e = tile.broadcast %d : tensor<1x32xf32> -> $T\n  %b = arith.subf %a, %e : $T\n";
}
} // namespace

TEST_F(ShareElements, ScansStayInRegisters) {
  for (int axis : {0, 1}) {
    cuda::SimtPlan block = plan(lines(scanAlong(axis)));
    EXPECT_EQ(block.scans.size(), 1u);
    EXPECT_EQ(block.inRegisters.size(), 1u);
    EXPECT_EQ(block.exchangeBytes > 0, axis == 0); // a row is one warp's
  }
}

TEST_F(ShareElements, ColumnsAreReducedByTheThreadsThatHaveThem) {
  for (const char *op : {"arith.addf", "arith.maximumf"})
    EXPECT_EQ(plan(lines(columns(op))).mapped.size(), 2u);
  EXPECT_EQ(plan(lines(columns("arith.subf"))).mapped.size(), 1u); // its order matters: in a loop
}
