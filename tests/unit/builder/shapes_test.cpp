// Shapes and types of the results of shape operations, and what is said about wrong ones.
#include "tilery/builder.h"
#include <gtest/gtest.h>

using namespace tilery;

namespace {
struct BuilderShapes : testing::Test {
  Builder b{Policy::Triton};
  std::vector<Value> args = b.beginKernel("k", {{"n", Type{DType::I32, {}}}, {"p", Type{DType::F32, {}, true}}});
  Value tile(const Shape &shape, DType dtype = DType::F32) { return b.full(shape, Literal(1.0), dtype); }
  std::string errorOf(const std::function<void()> &action) {
    try {
      action();
    } catch (const Error &error) {
      return error.diagnostic().message;
    }
    return "";
  }
};

TEST_F(BuilderShapes, Ranges) {
  EXPECT_EQ(b.arange(3, 8).type, (Type{DType::I32, {5}}));
  EXPECT_EQ(errorOf([&] { b.arange(4, 4); }), "arange needs end > start, got 4 and 4");
  EXPECT_EQ(errorOf([&] { b.arange(-1, 4); }), "arange bounds must fit in int32 and be non-negative");
  EXPECT_EQ(errorOf([&] { b.programId(3); }), "a grid has the axes 0, 1 and 2, got 3");
}

TEST_F(BuilderShapes, Broadcasting) {
  EXPECT_EQ(b.broadcastTo(args[0], {4, 8}).shape(), (Shape{4, 8}));
  EXPECT_EQ(b.broadcastTo(tile({8}), {4, 8}).shape(), (Shape{4, 8}));
  EXPECT_EQ(b.broadcastTo(tile({4, 1}), {4, 8}).shape(), (Shape{4, 8}));
  auto both = b.broadcast({tile({4, 1}), tile({8})});
  EXPECT_EQ(both[0].shape(), both[1].shape());
  EXPECT_EQ(both[0].shape(), (Shape{4, 8}));
  EXPECT_EQ(errorOf([&] { b.broadcastTo(tile({4}), {4, 8}); }), "cannot broadcast a tile of shape [4] to [4, 8]");
  EXPECT_EQ(errorOf([&] { b.broadcastTo(tile({4, 8}), {8}); }), "cannot broadcast a tile of shape [4, 8] to [8]");
  EXPECT_EQ(errorOf([&] { b.broadcastTo(args[0], {4, 0}); }), "every dimension of a tile must be at least 1, got [4, 0]");
}

TEST_F(BuilderShapes, DimensionsComeGoAndMove) {
  EXPECT_EQ(b.expandDims(tile({4, 8}), 0).shape(), (Shape{1, 4, 8}));
  EXPECT_EQ(b.expandDims(tile({4, 8}), -1).shape(), (Shape{4, 8, 1}));
  EXPECT_EQ(b.expandDims(args[0], 0).shape(), (Shape{1}));
  EXPECT_EQ(b.reshape(tile({4, 8}), {2, 16}).shape(), (Shape{2, 16}));
  EXPECT_EQ(b.permute(tile({2, 4, 8}), {2, 0, -2}).shape(), (Shape{8, 2, 4}));
  EXPECT_EQ(errorOf([&] { b.expandDims(tile({4, 8}), 3); }), "dimension 3 is outside a tile of rank 3");
  EXPECT_EQ(errorOf([&] { b.reshape(tile({4, 8}), {3, 8}); }), "cannot reshape [4, 8] to [3, 8]: the numbers of elements differ");
  EXPECT_EQ(errorOf([&] { b.permute(tile({4, 8}), {0, 0}); }),
            "a permutation of a tile of rank 2 must name each dimension once, got [0, 0]");
}

TEST_F(BuilderShapes, TilesAreJoinedAndCut) {
  Value pair = b.join(tile({4, 1}), tile({8}));
  EXPECT_EQ(pair.shape(), (Shape{4, 8, 2}));
  auto [left, right] = b.split(pair);
  EXPECT_EQ(left.shape(), (Shape{4, 8}));
  EXPECT_EQ(right.type, left.type);
  EXPECT_EQ(b.cat(tile({4, 8}), tile({4, 3}), 1).shape(), (Shape{4, 11}));
  EXPECT_EQ(b.cat(tile({4, 8}), tile({2, 8}), -2).shape(), (Shape{6, 8}));
  EXPECT_NE(errorOf([&] { b.join(tile({4}), tile({4}, DType::F16)); }).find("two tiles of one type"), std::string::npos);
  EXPECT_EQ(errorOf([&] { b.split(tile({2, 4})); }), "split needs a last dimension of size 2, got shape [2, 4]");
  EXPECT_EQ(errorOf([&] { b.cat(tile({4, 8}), tile({3, 7}), 1); }),
            "cat needs equal sizes except along dimension 1, got [4, 8] and [3, 7]");
}

TEST_F(BuilderShapes, ElementsAreGathered) {
  EXPECT_EQ(b.take(tile({4, 8}), b.reshape(b.arange(0, 12), {4, 3}), 1).type, (Type{DType::F32, {4, 3}}));
  EXPECT_EQ(errorOf([&] { b.take(tile({4, 8}), b.reshape(b.arange(0, 12), {3, 4}), 1); }),
            "gather indices must have the shape of the source except along the axis, got [3, 4] for [4, 8]");
  EXPECT_NE(errorOf([&] { b.take(tile({8}), tile({8}), 0); }).find("must be integers"), std::string::npos);
  EXPECT_EQ(b.extract(tile({4, 8}), {args[0], args[0]}).shape(), Shape{});
  EXPECT_EQ(errorOf([&] { b.extract(tile({4, 8}), {args[0]}); }), "a tile of rank 2 takes as many indices, got 1");
  EXPECT_EQ(b.histogram(b.arange(0, 64), 10, std::nullopt).type, (Type{DType::I32, {10}}));
  EXPECT_NE(errorOf([&] { b.histogram(tile({8}), 10, std::nullopt); }).find("one-dimensional tile of integers"),
            std::string::npos);
}
} // namespace
