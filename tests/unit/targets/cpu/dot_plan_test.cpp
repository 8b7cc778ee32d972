// What is decided about a product: panels that programs share, where the result is written, how deep a panel is.
#include "compiler/targets/cpu/dot_plan.h"
#include "tests/unit/targets/cpu/run_kernel.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::test;

namespace {
/// c = a b of 32 x 64 x 16 for each program; `%a` has the columns of K next to each other. `around`: a loop's beginning and end.
std::string product(const std::string &type, const std::string &before = "", const std::string &after = "",
                    const std::string &stepsOfB = "%n, %one") {
  std::string t = type, f = type == "f64" ? "f64" : type == "i8" ? "i32" : "f32", none = type == "i8" ? "0" : "0.0";
  return "tile.kernel @k(%x: !tile.ptr<" + t + ">, %y: !tile.ptr<" + t + ">, %o: !tile.ptr<" + f +
         ">, %n: i64) {\n  %zero = arith.constant 0 : i64\n  %one = arith.constant 1 : i64\n"
         "  %p = tile.program_id 0\n  %first = arith.extsi %p : i32 to i64\n" +
         before + "  %ax = tile.access %x, %first steps(%n, %one) bounds [0, 0] () : !tile.ptr<" + t +
         ">, (i64, i64), () -> !tile.access<32x16x" + t + ">\n  %ay = tile.access %y, %zero steps(" + stepsOfB +
         ") bounds [0, 0] () : !tile.ptr<" + t + ">, (i64, i64), () -> !tile.access<16x64x" + t +
         ">\n  %ao = tile.access %o, %first steps(%n, %one) bounds [0, 0] () : !tile.ptr<" + f +
         ">, (i64, i64), () -> !tile.access<32x64x" + f + ">\n  %a = tile.load %ax : !tile.access<32x16x" + t +
         "> -> tensor<32x16x" + t + ">\n  %b = tile.load %ay : !tile.access<16x64x" + t + "> -> tensor<16x64x" + t +
         ">\n  %none = arith.constant dense<" + none + "> : tensor<32x64x" + f +
         ">\n  %c = tile.dot %a, %b, %none : tensor<32x16x" + t + ">, tensor<16x64x" + t + "> -> tensor<32x64x" + f +
         ">\n  tile.store %ao, %c : !tile.access<32x64x" + f + ">, tensor<32x64x" + f + ">\n" + after + "  tile.return\n}\n";
}

struct DotPlanTest : testing::Test {
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<cpu::DotPlan> plan(const std::string &text, bool disjoint = true, const char *target = "avx512") {
    module = parseSourceString<ModuleOp>(text, &context());
    if (!module)
      return nullptr;
    Operation *product = nullptr;
    module->walk([&](Operation *op) {
      if (lower::isProduct(op))
        product = op;
    });
    return cpu::planDot(product, *cpu::findTarget(target), disjoint, [](Value) { return false; });
  }
};
} // namespace

TEST_F(DotPlanTest, Sizes) {
  auto p = plan(product("f32"));
  ASSERT_TRUE(p);
  EXPECT_EQ(std::tuple(p->batch, p->m, p->n, p->k), std::tuple(1, 32, 64, 16));
  EXPECT_TRUE(p->startsAtZero);
  EXPECT_TRUE(p->compute.isF32());
  EXPECT_EQ(p->pack, 1);
  EXPECT_TRUE(plan(product("f64"))->compute.isF64());
  EXPECT_TRUE(plan(product("f16"))->compute.isF32());
}

TEST_F(DotPlanTest, PanelsAreSharedWhereEveryProgramSeesTheSameMemory) {
  auto p = plan(product("f32"));
  EXPECT_TRUE(p->a.shared && p->b.shared);
  EXPECT_EQ(p->a.key.size(), 1u) << "the first factor depends on the program";
  EXPECT_EQ(p->b.key.size(), 0u);
  EXPECT_EQ(p->a.sharers, (SmallVector<unsigned>{1, 2})) << "programs of one row of the grid have panels of their own";
  EXPECT_EQ(p->b.sharers, (SmallVector<unsigned>{0, 1, 2}));
  EXPECT_EQ(p->temporaries().size(), 1u) << "for the first factor, where the grid is one column";
  auto overlapping = plan(product("f32"), false); // another program's result may lie in a factor
  EXPECT_FALSE(overlapping->a.shared || overlapping->b.shared);
  EXPECT_EQ(overlapping->temporaries().size(), 2u);
}

TEST_F(DotPlanTest, PanelsAreNotSharedInALoop) {
  auto p = plan(product("f32", "  scf.for %i = %zero to %n step %one : i64 {\n", "  }\n"));
  EXPECT_FALSE(p->a.shared || p->b.shared);
}

TEST_F(DotPlanTest, PanelsAreNotSharedWhereTheKernelWritesThem) {
  std::string store = "  tile.store %ay, %b : !tile.access<16x64xf32>, tensor<16x64xf32>\n";
  auto p = plan(product("f32", "", store));
  EXPECT_TRUE(p->a.shared);
  EXPECT_FALSE(p->b.shared);
}

TEST_F(DotPlanTest, TheResultIsWrittenAtOnceWhereNothingElseTouchesItsMemory) {
  EXPECT_TRUE(plan(product("f32"))->directStore);
  EXPECT_FALSE(plan(product("f32"), false)->directStore);
  std::string again = "  tile.store %ao, %none : !tile.access<32x64xf32>, tensor<32x64xf32>\n";
  EXPECT_FALSE(plan(product("f32", "", again))->directStore) << "two stores to one argument";
  std::string use = "  %twice = arith.addf %c, %c : tensor<32x64xf32>\n";
  EXPECT_FALSE(plan(product("f32", "", use))->directStore) << "the result has another use";
}

TEST_F(DotPlanTest, RowsOfAThatLieAlongKStayRows) {
  EXPECT_EQ(plan(product("f32"), true, "avx2")->blocking.rowDepth, 8u) << "16 values of K";
  EXPECT_EQ(plan(product("f32"), true, "avx512")->blocking.rowDepth, 16u);
  EXPECT_EQ(plan(product("f32"), true, "aarch64-neon")->blocking.rowDepth, 0u);
}

TEST_F(DotPlanTest, PackingTransposesWhatIsContiguousAlongK) {
  EXPECT_FALSE(plan(product("f32"))->b.kMajor);
  EXPECT_TRUE(plan(product("f32", "", "", "%one, %n"))->b.kMajor);
  // b = permute of a tile whose rows are b's columns, loaded or computed.
  for (bool stored : {false, true}) {
    std::string text = product("f32"), from = "%b = tile.load %ay : !tile.access<16x64xf32> -> tensor<16x64xf32>";
    std::string turned = stored
                             ? "%t = arith.constant dense<1.0> : tensor<64x16xf32>\n"
                             : "%at = tile.access %y, %zero steps(%n, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> "
                               "!tile.access<64x16xf32>\n  %t = tile.load %at : !tile.access<64x16xf32> -> tensor<64x16xf32>\n";
    text.replace(text.find(from), from.size(), turned + "  %b = tile.permute %t [1, 0] : tensor<64x16xf32> -> tensor<16x64xf32>");
    auto p = plan(text);
    ASSERT_TRUE(p) << text;
    EXPECT_TRUE(p->b.kMajor);
  }
}

TEST_F(DotPlanTest, PairsOfBf16WhereTheMachineIsFastAtThem) {
  for (const char *target : {"avx2", "avx512", "sapphirerapids"}) {
    bool fast = cpu::findTarget(target)->fastDotBF16 || cpu::findTarget(target)->amx;
    auto p = plan(product("bf16"), true, target);
    EXPECT_EQ(p->pack, fast ? 2 : 1) << target;
    EXPECT_EQ(p->packedK(), fast ? 8 : 16) << target;
    EXPECT_EQ(plan(product("f16"), true, target)->pack, 1) << target;
  }
}

TEST_F(DotPlanTest, TilesWhereTheMachineHasThem) {
  auto p = plan(product("bf16"), true, "sapphirerapids");
  EXPECT_EQ(p->blocking.multiply, cpu::Multiply::bf16Tiles);
  EXPECT_EQ(p->blocking.rowDepth, 8u) << "16 values of K";
  EXPECT_EQ(plan(product("f8E4M3FN"), true, "sapphirerapids")->blocking.multiply, cpu::Multiply::bf16Tiles) << "exact in bf16";
  EXPECT_EQ(plan(product("f8E4M3FN"), true, "avx512")->blocking.multiply, cpu::Multiply::bf16Pairs);
  EXPECT_EQ(plan(product("f8E4M3FN"), true, "avx2")->blocking.multiply, cpu::Multiply::single);
  EXPECT_EQ(plan(product("f16"), true, "sapphirerapids")->blocking.multiply, cpu::Multiply::single);
}

TEST_F(DotPlanTest, FourBytesAtOnceWhereTheMachineHasThem) {
  std::string text = product("i8");
  for (auto [target, multiply] : {std::pair("avx2", cpu::Multiply::int16Pairs),
                                  {"avx512", cpu::Multiply::int8Quads},
                                  {"aarch64-neon", cpu::Multiply::single},
                                  {"aarch64-dotprod", cpu::Multiply::int8Quads},
                                  {"sapphirerapids", cpu::Multiply::int8Tiles}}) {
    auto p = plan(text, true, target);
    ASSERT_TRUE(p) << text;
    EXPECT_EQ(p->blocking.multiply, multiply) << target;
    EXPECT_EQ(p->packedK(), 16 / cpu::packOf(multiply)) << target;
    EXPECT_EQ(p->blocking.flipsB(), std::string_view(target) == "avx512") << target;
  }
}

TEST_F(DotPlanTest, BlocksFitTheRegisters) {
  for (const char *target : {"avx2", "avx512"}) {
    auto p = plan(product("f32"), true, target);
    const cpu::CpuTarget &machine = *cpu::findTarget(target);
    int64_t lanes = machine.vectorBits / 32, vectors = p->blocking.rows.width * p->blocking.columns.width / lanes;
    EXPECT_LT(vectors, int64_t(machine.vectorRegisters)) << target;
    EXPECT_GE(vectors, int64_t(machine.vectorRegisters) / 2) << target;
  }
}

TEST_F(DotPlanTest, StrandsAlongK) {
  // Windows of 3x3 in an image of channels last: k = (channel, row, column), every ninth is a neighbour in memory.
  auto text = [](const std::string &other, const std::string &attributes, const std::string &bounds = "0, 0] (",
                 const std::string &types = "") {
    return R"(
tile.kernel @k(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %o: !tile.ptr<f32>, %n: i64, %w: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %k32 = tile.range 0 to 64 : tensor<64xi32>
  %m32 = tile.range 0 to 32 : tensor<32xi32>
  %k = arith.extsi %k32 : tensor<64xi32> to tensor<64xi64>
  %m = arith.extsi %m32 : tensor<32xi32> to tensor<32xi64>
  %three = arith.constant dense<3> : tensor<64xi64>
  %nine = arith.constant dense<9> : tensor<64xi64>
  %column = tile.rem trunc %k, %three : tensor<64xi64>
  %channel = tile.div trunc %k, %nine : tensor<64xi64>
  %ws = tile.splat %w : i64 -> tensor<64xi64>
  %wm = tile.splat %w : i64 -> tensor<32xi64>
  %right = arith.muli %column, %ws overflow<nsw> : tensor<64xi64>
  %along = arith.addi %right, %channel overflow<nsw> : tensor<64xi64>
  %rows = arith.muli %m, %wm overflow<nsw> : tensor<32xi64>
  %end = tile.splat %n : i64 -> tensor<64xi64>
  %before = arith.cmpi slt, %k, %end : tensor<64xi64>
  %inside = arith.cmpi slt, %column, %end : tensor<64xi64>
  %ax = tile.access %x, %zero steps(%rows, %along) bounds [)" +
           bounds + R"() : !tile.ptr<f32>, (tensor<32xi64>, tensor<64xi64>), ()" + types + R"() -> !tile.access<32x64xf32>
  %ay = tile.access %y, %zero steps(%n, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> !tile.access<64x64xf32>
  %ao = tile.access %o, %zero steps(%n, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> !tile.access<32x64xf32>
  %numbers = tile.range 0 to 2048 : tensor<2048xi32>
  %square = tile.reshape %numbers : tensor<2048xi32> -> tensor<32x64xi32>
  %others = arith.sitofp %square : tensor<32x64xi32> to tensor<32x64xf32>
  %same = arith.constant dense<1.0> : tensor<32x64xf32>
  %a = tile.load %ax )" +
           other + attributes + R"( : !tile.access<32x64xf32> -> tensor<32x64xf32>
  %b = tile.load %ay : !tile.access<64x64xf32> -> tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<32x64xf32>
  %c = tile.dot %a, %b, %none : tensor<32x64xf32>, tensor<64x64xf32> -> tensor<32x64xf32>
  tile.store %ao, %c : !tile.access<32x64xf32>, tensor<32x64xf32>
  tile.return
})";
  };
  auto p = plan(text("", ""));
  ASSERT_TRUE(p && p->a.kMajor && p->a.strands);
  EXPECT_EQ(p->a.strands->period, 9);
  EXPECT_FALSE(p->b.strands);
  EXPECT_FALSE(p->a.everyLane);
  EXPECT_FALSE(plan(text("", "", "0, 2] (%inside", "tensor<64xi1>"))->a.everyLane) << "a strand is inside or outside";
  p = plan(text("", "", "0, 2] (%before", "tensor<64xi1>"));
  ASSERT_TRUE(p && p->a.strands);
  EXPECT_TRUE(p->a.everyLane) << "K ends within a tile";
  EXPECT_TRUE(plan(text("other %same : tensor<32x64xf32>", ""))->a.strands);
  EXPECT_FALSE(plan(text("other %others : tensor<32x64xf32>", ""))->a.strands) << "what does not exist differs from lane to lane";
  EXPECT_FALSE(plan(text("", "{is_volatile}"))->a.strands);
}
