// Shapes and types of reductions, scans and products, and what is said about wrong ones.
#include "tilery/builder.h"
#include <gtest/gtest.h>

using namespace tilery;

namespace {
struct BuilderReductions : testing::Test {
  Builder b{Policy::Triton};
  std::vector<Value> args = b.beginKernel("k", {{"n", Type{DType::I32, {}}}});
  Value tile(const Shape &shape, DType dtype = DType::F32) { return b.full(shape, Literal(1.0), dtype); }
  Value dot(const Value &x, const Value &y, DType sums = DType::F32, std::optional<Value> acc = {}) {
    return b.dot(x, y, acc, std::nullopt, sums, {});
  }
  std::string errorOf(const std::function<void()> &action) {
    try {
      action();
    } catch (const Error &error) {
      return error.diagnostic().message;
    }
    return "";
  }
};

TEST_F(BuilderReductions, AnAxisGoesOrStaysAsOne) {
  for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Product, ReduceKind::Max, ReduceKind::Min, ReduceKind::MaxNan}) {
    EXPECT_EQ(b.reduce(kind, tile({4, 8}), 0, false).type, (Type{DType::F32, {8}}));
    EXPECT_EQ(b.reduce(kind, tile({4, 8}), -1, false).type, (Type{DType::F32, {4}}));
    EXPECT_EQ(b.reduce(kind, tile({4, 8}), -1, true).type, (Type{DType::F32, {4, 1}}));
    EXPECT_EQ(b.reduce(kind, tile({4, 8}), std::nullopt, false).type, (Type{DType::F32, {}}));
    EXPECT_EQ(b.reduce(kind, tile({4, 8}), std::nullopt, true).type, (Type{DType::F32, {1, 1}}));
  }
  EXPECT_EQ(b.reduce(ReduceKind::Sum, args[0], std::nullopt, false).type, args[0].type) << "a scalar is its own sum";
  EXPECT_EQ(b.reduce(ReduceKind::Sum, tile({8}, DType::I8), 0, false).dtype(), DType::I8) << "the type stays";
}

TEST_F(BuilderReductions, IndicesAreInt32) {
  auto [value, index] = b.argReduce(true, tile({4, 8}), 1, false, true);
  EXPECT_EQ(value.type, (Type{DType::F32, {4}}));
  EXPECT_EQ(index.type, (Type{DType::I32, {4}}));
  EXPECT_EQ(errorOf([&] { b.argReduce(true, tile({4}), 1, false, true); }), "axis 1 is outside a tile of rank 1");
  EXPECT_EQ(errorOf([&] { b.argReduce(true, args[0], 0, false, true); }), "argmax and argmin need a tile of rank 1 or more");
}

TEST_F(BuilderReductions, ScansKeepTheShape) {
  EXPECT_EQ(b.scan(ReduceKind::Sum, tile({4, 8}), 1, false).type, (Type{DType::F32, {4, 8}}));
  EXPECT_EQ(b.scan(ReduceKind::Max, tile({4, 8}), 0, true).type, (Type{DType::F32, {4, 8}}));
}

TEST_F(BuilderReductions, ProductsOfTiles) {
  EXPECT_EQ(dot(tile({4, 8}, DType::F16), tile({8, 16}, DType::F16)).type, (Type{DType::F32, {4, 16}}));
  EXPECT_EQ(dot(tile({2, 4, 8}), tile({2, 8, 16})).type, (Type{DType::F32, {2, 4, 16}}));
  EXPECT_EQ(dot(tile({4, 8}, DType::I8), tile({8, 16}, DType::I8), DType::I32).dtype(), DType::I32);
  EXPECT_EQ(dot(tile({4, 8}), tile({8, 16}), DType::F32, tile({4, 16})).shape(), (Shape{4, 16}));
}

TEST_F(BuilderReductions, ProductsThatDoNotFit) {
  EXPECT_EQ(errorOf([&] { dot(tile({4, 8}), tile({4, 16})); }),
            "dot of [4, 8] and [4, 16]: the inner sizes 8 and 4 must be equal");
  EXPECT_NE(errorOf([&] { dot(tile({8}), tile({8, 4})); }).find("dot needs two tiles of one rank, which is 2 or more"),
            std::string::npos);
  EXPECT_NE(errorOf([&] { dot(tile({2, 4, 8}), tile({3, 8, 4})); }), "");
  EXPECT_NE(errorOf([&] { dot(tile({4, 8}, DType::F16), tile({8, 4}, DType::BF16)); }).find("operands of one type"),
            std::string::npos);
  EXPECT_EQ(errorOf([&] { dot(tile({4, 8}), tile({8, 4}), DType::I32); }), "dot of float32 cannot accumulate in int32");
  EXPECT_NE(errorOf([&] { dot(tile({4, 8}), tile({8, 4}), DType::F32, tile({4, 8})); }).find("the accumulator"),
            std::string::npos);
}
} // namespace
