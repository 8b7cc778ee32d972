// Shapes, regions and errors of the builder. What the built ops compute is tested against the oracle elsewhere.
#include "tilery/builder.h"
#include "tilery/module.h"
#include <gtest/gtest.h>

using namespace tilery;

namespace {

struct BuilderTest : testing::Test {
  Builder b{Policy::Triton};
  Value n = b.beginKernel("k", {{"n", Type{DType::I32, {}}}, {"p", Type{DType::F32, {}, true}}})[0];
  std::string errorOf(const std::function<void()> &action) {
    try {
      action();
    } catch (const Error &error) {
      return error.diagnostic().message;
    }
    return "";
  }
  Value i32(int64_t value) { return b.constant(Literal(value), DType::I32); }
};

TEST_F(BuilderTest, BroadcastsLikeNumPy) {
  Value row = b.expandDims(b.arange(0, 4), 0), column = b.expandDims(b.arange(0, 3), 1);
  EXPECT_EQ(b.binary(BinaryOp::Add, row, column).shape(), (Shape{3, 4}));
  EXPECT_EQ(b.binary(BinaryOp::Add, b.arange(0, 4), column).shape(), (Shape{3, 4}));
  EXPECT_EQ(b.binary(BinaryOp::Mul, n, column).shape(), (Shape{3, 1}));
  EXPECT_EQ(errorOf([&] { b.binary(BinaryOp::Add, b.arange(0, 3), b.arange(0, 4)); }),
            "shapes [3] and [4] do not go together: each dimension must be equal or 1");
}

// A program's number, too, that is spread over a tile: a product between two of those would not go on in the sums that it is added to.
TEST_F(BuilderTest, TimesOneIsNoProduct) {
  Value tile = b.cast(b.arange(0, 4), DType::F32), one = b.constant(Literal(1.0), DType::F32);
  for (BinaryOp op : {BinaryOp::Mul, BinaryOp::TrueDiv, BinaryOp::RoundDiv})
    EXPECT_EQ(b.binary(op, tile, one).shape(), (Shape{4}));
  b.binary(BinaryOp::Mul, one, tile);
  b.binary(BinaryOp::TrueDiv, one, tile);
  b.binary(BinaryOp::Mul, tile, Literal(2.0));
  b.endKernel();
  std::string text = b.finish()->text();
  auto count = [&](const char *op) { return text.find(op) == text.rfind(op) && text.find(op) != std::string::npos; };
  EXPECT_TRUE(count("arith.mulf") && count("arith.divf")) << text;
}

TEST_F(BuilderTest, ValuesOfARegionDoNotLeaveIt) {
  b.beginIf(b.binary(BinaryOp::Gt, n, Literal(int64_t(0))));
  Value inner = b.binary(BinaryOp::Add, n, Literal(int64_t(1)));
  EXPECT_TRUE(b.visible(inner));
  b.beginElse();
  EXPECT_FALSE(b.visible(inner));
  b.endIf({}, {});
  EXPECT_NE(errorOf([&] { b.binary(BinaryOp::Add, inner, n); }).find("exists only inside"), std::string::npos);
}

TEST_F(BuilderTest, BranchesMustAgree) {
  b.beginIf(b.binary(BinaryOp::Gt, n, Literal(int64_t(0))));
  b.beginElse();
  EXPECT_EQ(errorOf([&] { b.endIf({n}, {b.constant(Literal(1.0), DType::F32)}); }),
            "a variable has type int32 in one branch and float32 in the other");
}

TEST_F(BuilderTest, BranchesOfTwoWidthsGiveTheWider) {
  Value wide = b.constant(Literal(int64_t(1) << 40), DType::I64);
  for (bool first : {false, true}) {
    b.beginIf(b.binary(BinaryOp::Gt, n, Literal(int64_t(0))));
    b.beginElse();
    Value result = b.endIf({first ? n : wide}, {first ? wide : n})[0];
    EXPECT_EQ(result.dtype(), DType::I64);
  }
  b.beginIf(b.binary(BinaryOp::Gt, n, Literal(int64_t(0))));
  b.beginElse();
  EXPECT_EQ(errorOf([&] { b.endIf({n}, {b.constant(Literal(int64_t(1)), DType::U64)}); }),
            "a variable has type int32 in one branch and uint64 in the other");
}

TEST_F(BuilderTest, HintsAreAttributesThatTextLeavesOutOnRequest) {
  b.hintKernel("num_warps", int64_t(4));
  b.hintKernel("num_warps", int64_t(8));
  b.beginFor(i32(0), n, i32(1), {}, {{"num_stages", int64_t(3)}, {"vectorize", true}});
  b.hintKernel("waits", true);
  b.endFor({});
  EXPECT_EQ(errorOf([&] { b.hintKernel("warps", int64_t(1)); }), "there is no hint named `warps`");
  b.endKernel();
  EXPECT_EQ(errorOf([&] { b.hintKernel("num_warps", int64_t(1)); }), "there is no open kernel");
  auto module = b.finish();
  std::string text = module->text();
  EXPECT_NE(text.find("} {tile.num_stages = 3 : i64, tile.vectorize = true}"), std::string::npos) << text;
  EXPECT_NE(text.find("attributes {tile.num_warps = 8 : i64, tile.waits = true}"), std::string::npos) << text;
  std::string bare = module->text(false, std::vector<std::string>{"vectorize"});
  for (const char *hint : {"num_warps", "num_stages", "waits"})
    EXPECT_EQ(bare.find(hint), std::string::npos) << bare;
  EXPECT_NE(bare.find("} {tile.vectorize = true}"), std::string::npos) << bare;
  EXPECT_NE(bare.find("tile.name = \"n\""), std::string::npos) << bare;
  EXPECT_EQ(module->text(), text);
}

TEST_F(BuilderTest, ScratchLeavesNothing) {
  b.beginScratch();
  b.beginFor(i32(0), n, i32(1), {n});
  b.beginIf(b.binary(BinaryOp::Gt, n, Literal(int64_t(0))));
  b.programId(2);
  b.discardScratch();
  b.endKernel();
  std::string text = b.finish()->text();
  EXPECT_EQ(text.find("scf.for"), std::string::npos);
  EXPECT_EQ(text.find("program_id"), std::string::npos);
}

TEST_F(BuilderTest, LoopsCarry) {
  auto loop = b.beginFor(i32(0), n, i32(1), {b.constant(Literal(0.0), DType::F32)});
  Value next = b.binary(BinaryOp::Add, loop.carried[0], loop.iv);
  EXPECT_EQ(next.dtype(), DType::F32);
  auto results = b.endFor({next});
  EXPECT_TRUE(b.visible(results[0]));
  EXPECT_FALSE(b.visible(next));
  auto carried = b.beginWhile({n});
  b.whileBody(b.binary(BinaryOp::Gt, carried[0], Literal(int64_t(0))));
  EXPECT_EQ(b.endWhile({n})[0].dtype(), DType::I32);
}

TEST_F(BuilderTest, ErrorsSayWhatToDo) {
  EXPECT_EQ(errorOf([&] { b.load(n, {}, {}); }), "load needs a pointer or a tile of pointers, got int32");
  EXPECT_EQ(errorOf([&] { b.arange(4, 4); }), "arange needs end > start, got 4 and 4");
  EXPECT_EQ(errorOf([&] { b.programId(3); }), "a grid has the axes 0, 1 and 2, got 3");
  EXPECT_EQ(errorOf([&] { b.reshape(b.arange(0, 6), {4, 2}); }), "cannot reshape [6] to [4, 2]: the numbers of elements differ");
  Value x = b.full({16, 8}, Literal(0.0), DType::F32), y = b.full({16, 8}, Literal(0.0), DType::F32);
  EXPECT_EQ(errorOf([&] { b.dot(x, y, {}, {}, DType::F32, {}); }),
            "dot of [16, 8] and [16, 8]: the inner sizes 8 and 16 must be equal");
}

} // namespace
