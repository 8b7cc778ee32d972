#include "compiler/targets/cpu/dot_sharing.h"
#include "tests/unit/targets/cpu/run_kernel.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::test;

namespace {
struct DotSharing : testing::Test {
  OwningOpRef<ModuleOp> module;
  /// The stored number of a kernel with `%p` and `%q`, the ids along the first two axes, `%n` and constants.
  Value number(const std::string &body) {
    module = parseSourceString<ModuleOp>(R"(
tile.kernel @k(%o: !tile.ptr<i32>, %n: i32) {
  %two = arith.constant 2 : i32
  %p = tile.program_id 0
  %q = tile.program_id 1
)" + body + R"(
  %zero = arith.constant 0 : i64
  %one = tile.splat %r : i32 -> tensor<1xi32>
  %place = tile.access %o, %zero steps(%zero) bounds [0] () : !tile.ptr<i32>, (i64), () -> !tile.access<1xi32>
  tile.store %place, %one : !tile.access<1xi32>, tensor<1xi32>
  tile.return
})",
                                         &context());
    Value found;
    if (module)
      module->walk([&](tile::SplatOp op) { found = op->getOperand(0); });
    return found;
  }
};
} // namespace

TEST_F(DotSharing, NumbersThatTellProgramsApart) {
  Value each = number("%m = arith.muli %p, %two overflow<nsw> : i32\n%r = arith.addi %m, %two overflow<nsw> : i32\n");
  ASSERT_TRUE(each);
  EXPECT_EQ(cpu::divisionsOf(each, 0)->size(), 0u);
  EXPECT_FALSE(cpu::divisionsOf(each, 1));
  EXPECT_EQ(cpu::sharersOf(each), (SmallVector<unsigned>{1, 2}));
  EXPECT_EQ(cpu::sharersOf({}), (SmallVector<unsigned>{0, 1, 2}));
}

TEST_F(DotSharing, DivisionsAreAskedAtRunTime) {
  Value row = number("%d = tile.div trunc %p, %n : i32\n%m = tile.rem trunc %d, %two : i32\n"
                     "%r = arith.muli %m, %two overflow<nsw> : i32\n");
  ASSERT_TRUE(row);
  auto divisions = cpu::divisionsOf(row, 0);
  ASSERT_TRUE(divisions);
  ASSERT_EQ(divisions->size(), 2u);
  EXPECT_FALSE((*divisions)[0].isQuotient);
  EXPECT_TRUE((*divisions)[1].isQuotient);
  EXPECT_EQ(cpu::sharersOf(row), (SmallVector<unsigned>{0, 1, 2})) << "they may have the same remainder";
  EXPECT_FALSE(cpu::divisionsOf(number("%r = arith.addi %p, %q : i32\n"), 0)) << "a sum of ids";
}
