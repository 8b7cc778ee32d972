#include "compiler/lower/divisor.h"
#include "compiler/ir/Tile.h"
#include <gtest/gtest.h>

using namespace mlir;
using tilery::lower::divisorOf;

TEST(Divisor, FollowsArithmetic) {
  constexpr const char *text = R"(
    tile.kernel @k(%p: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32 {tile.divisibility = 16 : i64}, %m: i32) {
      %id = tile.program_id 0
      %c = arith.constant 12 : i32
      %row = arith.muli %id, %n : i32
      %sum = arith.addi %row, %c : i32
      %wide = arith.extsi %sum : i32 to i64
      %least = arith.minsi %n, %m : i32
      %moved = tile.add_ptr %p, %row : !tile.ptr<f32>, i32
      %product = arith.muli %c, %c : i32
      tile.return
    })";
  MLIRContext context;
  context.loadDialect<tilery::tile::TileDialect, arith::ArithDialect>();
  auto module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  auto kernel = *module->getOps<tilery::tile::KernelOp>().begin();
  std::vector<int64_t> found;
  for (Operation &op : kernel.getBody().front().without_terminator())
    found.push_back(divisorOf(op.getResult(0)));
  EXPECT_EQ(found, (std::vector<int64_t>{1, 4, 16, 4, 4, 1, 16, 16}));
  EXPECT_EQ(divisorOf(kernel.getBody().getArgument(0)), 16);
  EXPECT_EQ(divisorOf(kernel.getBody().getArgument(2)), 1);
}
