// Products over windows of an image: results whose rows are apart, factors in pieces of rows.
#include "compiler/targets/cpu/prepare_products.h"
#include "compiler/targets/cpu/dot_plan.h"
#include "differential.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::test;

namespace {
/// 64 windows of `width` a row, 8 wide, times 16 filters: element (i, j) of the result is at j * 200 + where window i lies. Windows from
/// `exist` on do not exist.
std::string windows(int width, const std::string &type, int exist, bool turned) {
  std::string t = type, w = std::to_string(width);
  auto tile = [&](const std::string &shape, const std::string &element) { return "tensor<" + shape + "x" + element + ">"; };
  std::string rows = tile("64", "i64"), mask = tile("64", "i1"),
              last = t == "f32" ? "  %half = arith.constant dense<0.5> : tensor<64x16xf32>\n"
                                  "  %r = arith.addf %half, %c : tensor<64x16xf32>\n"
                                : "  %r = arith.truncf %c : tensor<64x16xf32> to tensor<64x16x" + t + ">\n";
  return "tile.kernel @k(%x: !tile.ptr<" + t + ">, %y: !tile.ptr<" + t + ">, %o: !tile.ptr<" + t +
         ">) {\n"
         "  %zero = arith.constant 0 : i64\n  %one = arith.constant 1 : i64\n  %eight = arith.constant 8 : i64\n"
         "  %apart = arith.constant 200 : i64\n"
         "  %i32 = tile.range 0 to 64 : tensor<64xi32>\n  %i = arith.extsi %i32 : tensor<64xi32> to " +
         rows +
         "\n"
         "  %w = arith.constant dense<" +
         w + "> : " + rows + "\n  %further = arith.constant dense<" + std::to_string(width + 3) + "> : " + rows +
         "\n"
         "  %row = tile.div trunc %i, %w : " +
         rows + "\n  %column = tile.rem trunc %i, %w : " + rows +
         "\n"
         "  %start = arith.muli %row, %further overflow<nsw> : " +
         rows +
         "\n"
         "  %at = arith.addi %start, %column overflow<nsw> : " +
         rows +
         "\n"
         "  %end = arith.constant dense<" +
         std::to_string(exist) + "> : " + rows +
         "\n"
         "  %exists = arith.cmpi slt, %i, %end : " +
         rows +
         "\n"
         "  %k32 = tile.range 0 to 8 : tensor<8xi32>\n  %k = arith.extsi %k32 : tensor<8xi32> to tensor<8xi64>\n"
         "  %ax = tile.access %x, %zero steps(%at, %k) bounds [2, 0] (%exists) : !tile.ptr<" +
         t + ">, (" + rows + ", tensor<8xi64>), (" + mask + ") -> !tile.access<64x8x" + t +
         ">\n"
         "  %ay = tile.access %y, %zero steps(%one, %eight) bounds [0, 0] () : !tile.ptr<" +
         t + ">, (i64, i64), () -> !tile.access<8x16x" + t +
         ">\n"
         "  %a = tile.load %ax : !tile.access<64x8x" +
         t + "> -> tensor<64x8x" + t +
         ">\n"
         "  %b = tile.load %ay : !tile.access<8x16x" +
         t + "> -> tensor<8x16x" + t +
         ">\n"
         "  %none = arith.constant dense<0.0> : tensor<64x16xf32>\n"
         "  %c = tile.dot %a, %b, %none : tensor<64x8x" +
         t + ">, tensor<8x16x" + t + "> -> tensor<64x16xf32>\n" + last + "  %stretch = arith.constant dense<1040> : " + rows +
         "\n  %far = arith.muli %i, %stretch overflow<nsw> : " + rows +
         "\n"
         "  %ao = tile.access %o, %zero steps(" +
         std::string(turned ? "%at, %apart" : "%far, %one") + ") bounds [2, 0] (%exists) : !tile.ptr<" + t + ">, (" + rows +
         ", i64), (" + mask + ") -> !tile.access<64x16x" + t +
         ">\n"
         "  tile.store %ao, " +
         std::string("%r") + " : !tile.access<64x16x" + t + ">, tensor<64x16x" + t + ">\n  tile.return\n}\n";
}

Operation *prepared(OwningOpRef<ModuleOp> &module) {
  tile::KernelOp kernel = *module->getOps<tile::KernelOp>().begin();
  cpu::prepareProducts(kernel);
  EXPECT_TRUE(succeeded(verify(*module)));
  Operation *product = nullptr;
  kernel.walk([&](tile::DotOp dot) { product = dot; });
  return product;
}
} // namespace

TEST(PrepareProducts, TurnsWhatIsStoredByColumns) {
  for (const char *type : {"f32", "f16"}) {
    auto module = parseSourceString<ModuleOp>(windows(20, type, 64, true), &context());
    ASSERT_TRUE(module);
    Operation *product = prepared(module);
    ASSERT_TRUE(product);
    EXPECT_EQ(tile::shapeOf(product->getResult(0).getType()), ArrayRef<int64_t>({16, 64})) << type;
    auto plan = cpu::planDot(product, *cpu::findTarget("avx512"), true, [](Value) { return false; });
    EXPECT_FALSE(plan->b.kMajor) << "windows follow each other along the sliver";
    EXPECT_TRUE(plan->a.kMajor);
  }
}

TEST(PrepareProducts, LeavesWhatIsStoredByRows) {
  auto module = parseSourceString<ModuleOp>(windows(20, "f32", 64, false), &context());
  ASSERT_TRUE(module);
  Operation *product = prepared(module);
  EXPECT_EQ(tile::shapeOf(product->getResult(0).getType()), ArrayRef<int64_t>({64, 16}));
}

// Rows of any length: whole vectors, several pieces a vector, more pieces than are loaded one by one.
TEST(CpuDifferential, WindowsInRows) {
  for (const char *type : {"f32", "f16"})
    for (int width : {3, 5, 7, 9, 14, 16, 20, 64})
      for (int exist : {64, 37}) {
        SCOPED_TRACE(std::string(type) + " rows of " + std::to_string(width) + ", " + std::to_string(exist));
        size_t elements = size_t(64 / width + 1) * size_t(width + 3) + 16;
        differential(windows(width, type, exist, true), 1, {{type, elements}, {type, 16 * 8}, {type, 16 * 200}});
        if (testing::Test::HasFatalFailure())
          return;
      }
}

// Places that divide lie in scratch: those of the windows while the steps compute theirs.
TEST(CpuDifferential, WindowsOfSeveralSteps) {
  auto places = [](const std::string &of, const std::string &to, int size, int divisor, int apart) {
    std::string type = "tensor<" + std::to_string(size) + "xi64>", d = std::to_string(divisor), a = std::to_string(apart);
    return "  %" + to + "d = arith.constant dense<" + d + "> : " + type + "\n  %" + to + "a = arith.constant dense<" + a +
           "> : " + type + "\n  %" + to + "q = tile.div trunc %" + of + ", %" + to + "d : " + type + "\n  %" + to +
           "r = tile.rem trunc %" + of + ", %" + to + "d : " + type + "\n  %" + to + "m = arith.muli %" + to + "q, %" + to +
           "a overflow<nsw> : " + type + "\n  %" + to + " = arith.addi %" + to + "m, %" + to + "r overflow<nsw> : " + type + "\n";
  };
  std::string text =
      "tile.kernel @k(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %o: !tile.ptr<f32>) {\n"
      "  %zero = arith.constant 0 : i64\n  %one = arith.constant 1 : i64\n  %eight = arith.constant 8 : i64\n"
      "  %sixteen = arith.constant 16 : i64\n  %steps = arith.constant 3 : i64\n"
      "  %i32 = tile.range 0 to 32 : tensor<32xi32>\n  %i = arith.extsi %i32 : tensor<32xi32> to tensor<32xi64>\n"
      "  %k32 = tile.range 0 to 8 : tensor<8xi32>\n  %j = arith.extsi %k32 : tensor<8xi32> to tensor<8xi64>\n" +
      places("i", "at", 32, 5, 9) +
      "  %none = arith.constant dense<0.0> : tensor<32x16xf32>\n"
      "  %c = tile.contract %steps, %none {\n  ^bb0(%s: i64):\n"
      "  %first = arith.muli %s, %eight overflow<nsw> : i64\n  %firsts = tile.splat %first : i64 -> tensor<8xi64>\n"
      "  %k = arith.addi %firsts, %j overflow<nsw> : tensor<8xi64>\n" +
      places("k", "deep", 8, 3, 7) +
      "  %ax = tile.access %x, %zero steps(%at, %deep) bounds [0, 0] () : !tile.ptr<f32>, (tensor<32xi64>, tensor<8xi64>), () -> "
      "!tile.access<32x8xf32>\n"
      "  %from = arith.muli %first, %sixteen overflow<nsw> : i64\n"
      "  %ay = tile.access %y, %from steps(%sixteen, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> "
      "!tile.access<8x16xf32>\n"
      "  %a = tile.load %ax : !tile.access<32x8xf32> -> tensor<32x8xf32>\n"
      "  %b = tile.load %ay : !tile.access<8x16xf32> -> tensor<8x16xf32>\n"
      "  tile.yield %a, %b : tensor<32x8xf32>, tensor<8x16xf32>\n  } : tensor<32x16xf32>\n"
      "  %ao = tile.access %o, %zero steps(%sixteen, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> "
      "!tile.access<32x16xf32>\n"
      "  tile.store %ao, %c : !tile.access<32x16xf32>, tensor<32x16xf32>\n  tile.return\n}\n";
  differential(text, 1, {{"f32", 200}, {"f32", 24 * 16}, {"f32", 32 * 16}});
}
