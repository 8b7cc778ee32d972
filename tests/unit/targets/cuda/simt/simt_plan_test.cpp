// As many stages of a product in flight as shared memory holds beside the tiles that are stored.
#include "compiler/targets/cuda/simt/simt_plan.h"
#include "tests/unit/targets/cpu/run_kernel.h"
#include "compiler/targets/cuda/ptx/lowering.h"
#include "compiler/targets/cuda/simt/simt.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::test;

namespace {
/// o = a contraction over K of M x N tiles of f16, by steps of `k`.
std::string matmul(int m, int n, int k) {
  auto shape = [](int rows, int columns, const char *type) {
    return std::to_string(rows) + "x" + std::to_string(columns) + "x" + type;
  };
  std::string a = shape(m, k, "f16"), b = shape(k, n, "f16"), c = shape(m, n, "f32");
  return "tile.kernel @k(%x: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %y: !tile.ptr<f16> {tile.divisibility = 16 : i64}, "
         "%o: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %s: i64 {tile.divisibility = 16 : i64}, %steps: i64) {\n"
         "  %zero = arith.constant 0 : i64\n  %one = arith.constant 1 : i64\n  %k = arith.constant " +
         std::to_string(k) + " : i64\n  %none = arith.constant dense<0.0> : tensor<" + c +
         ">\n  %c = tile.contract %steps, %none {\n  ^bb0(%i: i64):\n    %at = arith.muli %i, %k overflow<nsw> : i64\n"
         "    %ax = tile.access %x, %at steps(%s, %one) bounds [0, 0] () : !tile.ptr<f16>, (i64, i64), () -> !tile.access<" +
         a +
         ">\n    %row = arith.muli %at, %s overflow<nsw> : i64\n"
         "    %ay = tile.access %y, %row steps(%s, %one) bounds [0, 0] () : !tile.ptr<f16>, (i64, i64), () -> !tile.access<" +
         b + ">\n    %a = tile.load %ax : !tile.access<" + a + "> -> tensor<" + a + ">\n    %b = tile.load %ay : !tile.access<" +
         b + "> -> tensor<" + b + ">\n    tile.yield %a, %b : tensor<" + a + ">, tensor<" + b + ">\n  } : tensor<" + c +
         ">\n  %ao = tile.access %o, %zero steps(%s, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> !tile.access<" +
         c + ">\n  tile.store %ao, %c : !tile.access<" + c + ">, tensor<" + c + ">\n  tile.return\n}\n";
}

struct SimtPlanTest : testing::Test {
  OwningOpRef<ModuleOp> module;
  cuda::SimtPlan plan(const std::string &text, uint64_t tileBytes) {
    ScopedDiagnosticHandler handler(&context(), [](mlir::Diagnostic &error) { ADD_FAILURE() << error.str(); });
    module = parseSourceString<ModuleOp>(text, &context());
    cuda::GpuLowering lowering(*cuda::targetNamed("sm_80"));
    return cuda::planSimt(*module->getOps<tile::KernelOp>().begin(), lower::Options{lowering}, tileBytes);
  }
  const cuda::MmaPlan &product(const cuda::SimtPlan &plan) {
    Operation *found = nullptr;
    module->walk([&](Operation *op) {
      if (lower::isProduct(op))
        found = op;
    });
    return plan.product(found);
  }
};
} // namespace

TEST_F(SimtPlanTest, LessSharedMemoryHoldsFewerStages) {
  unsigned before = 9;
  for (uint64_t bytes : {256 << 10, 96 << 10, 64 << 10, 48 << 10, 24 << 10}) {
    cuda::SimtPlan block = plan(matmul(64, 64, 64), bytes);
    unsigned stages = product(block).stages;
    EXPECT_LE(stages, before) << bytes;
    EXPECT_GE(stages, 1u) << bytes;
    uint64_t used = block.stagingOffset() + (block.stagesInResult(product(block)) ? 0 : block.stagingBytes);
    EXPECT_LE(used + 2 * block.exchangeBytes, bytes);
    before = stages;
  }
  EXPECT_LT(before, 8u);
}

TEST_F(SimtPlanTest, StagesLieWhereTheResultWillLie) {
  cuda::SimtPlan block = plan(matmul(64, 64, 32), 160 << 10);
  ASSERT_TRUE(block.stagesInResult(product(block)));
  EXPECT_GE(block.plan.arenaBytes, uint64_t(product(block).stages) * product(block).stageBytes());
}

TEST_F(SimtPlanTest, AResultThatDoesNotFitLiesOutside) {
  cuda::SimtPlan block = plan(matmul(128, 256, 32), 64 << 10); // 128 KiB of sums
  EXPECT_GE(block.plan.workspaceBytes, 128u << 10);
  EXPECT_FALSE(block.inResults) << "stages may not lie there";
  EXPECT_LE(block.stagingOffset() + block.stagingBytes + 2 * block.exchangeBytes, 64u << 10);
}

TEST_F(SimtPlanTest, ThreadsAreThoseOfTheProduct) {
  for (auto [m, n] : {std::pair(16, 16), std::pair(64, 64), std::pair(128, 128)}) {
    cuda::SimtPlan block = plan(matmul(m, n, 32), 160 << 10);
    EXPECT_EQ(block.threads, cuda::mmaThreads(*module->getOps<tile::KernelOp>().begin())) << m;
    EXPECT_EQ(block.threads % 32, 0u);
  }
}
