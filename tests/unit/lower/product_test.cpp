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

// Where a condition decides which elements count, the indices that it divides are worth computing once, too; shifts are not.
TEST(Product, DivisionsInConditions) {
  auto divisions = [](const std::string &divisor, bool throughShapes) {
    std::string text = R"(
tile.kernel @k(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i64, %width: i32) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %by = arith.constant #BY : i32
  %ax = tile.access %x, %zero steps(%n, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> !tile.access<32x16xf32>
  %ay = tile.access %y, %zero steps(%n, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> !tile.access<16x8xf32>
  %loaded = tile.load %ax : !tile.access<32x16xf32> -> tensor<32x16xf32>
  %rows = tile.range 0 to 32 : tensor<32xi32>
  %column = tile.expand_dims %rows axis 1 : tensor<32xi32> -> tensor<32x1xi32>
  %all = tile.splat %by : i32 -> tensor<32x1xi32>
  %image = tile.div trunc %column, %all : tensor<32x1xi32>
  %limit = tile.splat %width : i32 -> tensor<32x1xi32>
  %inside = arith.cmpi slt, %image, %limit : tensor<32x1xi32>
  %everywhere = tile.broadcast %inside : tensor<32x1xi1> -> tensor<32x16xi1>
  %nothing = arith.constant dense<0.0> : tensor<32x16xf32>
  %a = arith.select %everywhere, %loaded, %nothing : tensor<32x16xi1>, tensor<32x16xf32>
  %b = tile.load %ay : !tile.access<16x8xf32> -> tensor<16x8xf32>
  %none = arith.constant dense<0.0> : tensor<32x8xf32>
  %c = tile.dot %a, %b, %none : tensor<32x16xf32>, tensor<16x8xf32> -> tensor<32x8xf32>
  tile.return
})";
    text.replace(text.find("#BY"), 3, divisor);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context());
    EXPECT_TRUE(module);
    size_t count = 0;
    module->walk([&](tile::DotOp dot) { count = lower::dividingIndices(dot, throughShapes).size(); });
    return count;
  };
  EXPECT_EQ(divisions("56", true), 1u);
  EXPECT_EQ(divisions("56", false), 0u);
  EXPECT_EQ(divisions("64", true), 0u);
}
