// What the IR of a product says.
#include "compiler/lower/product.h"
#include "tests/unit/targets/cpu/run_kernel.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::test;

namespace {
const char *program = R"(
tile.kernel @k(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %ax = tile.access %x, %zero steps(%n, %one) bounds [0, 1] (%zero, %n) : !tile.ptr<f32>, (i64, i64), (i64, i64) -> !tile.access<32x16xf32>
  %ay = tile.access %y, %zero steps(%n, %one) bounds [0, 1] (%zero, %n) : !tile.ptr<f32>, (i64, i64), (i64, i64) -> !tile.access<16x8xf32>
  %a = tile.load %ax : !tile.access<32x16xf32> -> tensor<32x16xf32>
  %b = tile.load %ay : !tile.access<16x8xf32> -> tensor<16x8xf32>
  %none = arith.constant dense<0.0> : tensor<32x8xf32>
  %first = tile.dot %a, %b, %none : tensor<32x16xf32>, tensor<16x8xf32> -> tensor<32x8xf32>
  %twice = arith.addf %a, %a : tensor<32x16xf32>
  %second = tile.dot %twice, %b, %first : tensor<32x16xf32>, tensor<16x8xf32> -> tensor<32x8xf32>
  tile.return
})";

struct ProductTest : testing::Test {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program, &context());
  SmallVector<Operation *> products;
  void SetUp() override {
    ASSERT_TRUE(module);
    module->walk([&](Operation *op) {
      if (lower::isProduct(op))
        products.push_back(op);
    });
    ASSERT_EQ(products.size(), 2u);
  }
};
} // namespace

TEST_F(ProductTest, FactorsAndAccumulator) {
  auto [a, b] = lower::factorsOf(products[0]);
  EXPECT_EQ(a, products[0]->getOperand(0));
  EXPECT_EQ(b, products[0]->getOperand(1));
  EXPECT_EQ(lower::accumulatorOf(products[1]), products[0]->getResult(0));
  EXPECT_TRUE(lower::startsAtZero(products[0]));
  EXPECT_FALSE(lower::startsAtZero(products[1]));
  EXPECT_TRUE(lower::liveExtents(products[0]).empty());
}

TEST_F(ProductTest, TheLoadBelowAFactor) {
  auto nothing = [](Value) { return false; };
  tile::LoadOp load = lower::sourceLoad(lower::factorsOf(products[0]).first, nothing);
  ASSERT_TRUE(load);
  EXPECT_EQ(load.getResult(), lower::factorsOf(products[0]).first);
  EXPECT_EQ(lower::sourceLoad(lower::factorsOf(products[1]).first, nothing), load) << "through elementwise code";
  EXPECT_FALSE(lower::sourceLoad(lower::factorsOf(products[0]).first, [](Value) { return true; }))
      << "a stored tile is read itself";
}
