#include "compiler/ir/Tile.h"
#include "compiler/passes/passes.h"
#include <gtest/gtest.h>

using namespace mlir;

TEST(Pipeline, RemovesWhatNothingUses) {
  MLIRContext context;
  context.loadDialect<tilery::tile::TileDialect, arith::ArithDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    tile.kernel @k(%n: i32) {
      %id = tile.program_id 0
      %sum = arith.addi %id, %n : i32
      tile.return
    })",
                                                             &context);
  ASSERT_TRUE(module);
  PassManager pm(&context);
  tilery::buildPipeline(pm);
  ASSERT_TRUE(succeeded(pm.run(*module)));
  auto kernel = *module->getOps<tilery::tile::KernelOp>().begin();
  EXPECT_EQ(kernel.getBody().front().getOperations().size(), 1u);
}
