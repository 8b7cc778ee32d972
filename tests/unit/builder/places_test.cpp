// Roots, views and buffers: their shapes, and what is said about wrong ones.
#include "tilery/builder.h"
#include <gtest/gtest.h>

using namespace tilery;

namespace {
struct BuilderPlaces : testing::Test {
  Builder b{Policy::Tir};
  std::vector<Value> args =
      b.beginKernel("k", {{"n", Type{DType::I32, {}}}, {"p", Type{DType::F32, {}, true}}, {"x", Type{DType::F32, {}}}});
  Value n = args[0], p = args[1];
  std::string errorOf(const std::function<void()> &action) {
    try {
      action();
    } catch (const Error &error) {
      return error.diagnostic().message;
    }
    return "";
  }
};

TEST_F(BuilderPlaces, ViewsTakeAnIndexForEachDimensionOfTheirRoot) {
  Root root = b.root(p, {n, n}, {n, b.constant(Literal(int64_t(1)), DType::I64)});
  EXPECT_EQ(root.rank, 2);
  Place view = b.view(root, {n, Literal(int64_t(0))}, {4, 8}, {0, 1});
  EXPECT_EQ(b.load(view, std::nullopt).type, (Type{DType::F32, {4, 8}}));
  EXPECT_EQ(errorOf([&] { b.view(root, {n}, {4}, {0}); }), "a tensor of rank 2 takes as many indices, got 1");
  EXPECT_EQ(errorOf([&] { b.view(root, {n, args[2]}, {4, 8}, {0, 1}); }), "an index must be an integer scalar, got float32");
}

TEST_F(BuilderPlaces, BuffersAndTheirWindows) {
  Buffer buffer = b.alloc({16, 8}, DType::F16, Space::Shared);
  EXPECT_EQ(b.bufferLoad(buffer).type, (Type{DType::F16, {16, 8}}));
  Buffer window = b.subview(buffer, {n, Literal(int64_t(0))}, {4, 8}, {0, 1});
  EXPECT_EQ(window.shape, (Shape{4, 8}));
  EXPECT_EQ(window.dtype, DType::F16);
  EXPECT_EQ(b.elementLoad(buffer, {n, n}).type, (Type{DType::F16, {}}));
  EXPECT_EQ(errorOf([&] { b.alloc({16, 0}, DType::F16, Space::Shared); }),
            "every dimension of a buffer must be at least 1, got [16, 0]");
  EXPECT_EQ(errorOf([&] { b.subview(buffer, {n}, {4, 8}, {0, 1}); }), "a buffer of rank 2 takes as many indices, got 1");
  EXPECT_EQ(errorOf([&] { b.elementLoad(buffer, {n}); }), "a buffer of rank 2 takes as many indices, got 1");
}

TEST_F(BuilderPlaces, BitsOfABufferInAnotherType) {
  Buffer buffer = b.alloc({16, 8}, DType::F32, Space::Shared);
  Buffer halves = b.reinterpret(buffer, {16, 16}, DType::F16);
  EXPECT_EQ(halves.shape, (Shape{16, 16}));
  EXPECT_EQ(halves.dtype, DType::F16);
  EXPECT_EQ(errorOf([&] { b.reinterpret(buffer, {16, 8}, DType::F16); }),
            "a view must keep the number of bits: [16, 8] of float32 is not [16, 8] of float16");
}

TEST_F(BuilderPlaces, BooleansTakeAByteAndComeBackAsBooleans) {
  Buffer flags = b.alloc({16}, DType::Bool, Space::Shared);
  EXPECT_EQ(b.bufferLoad(flags).dtype(), DType::Bool);
  EXPECT_EQ(b.elementLoad(flags, {n}).dtype(), DType::Bool);
}
} // namespace
