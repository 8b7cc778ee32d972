// Extents of copies (upstream's rules), and the errors of functions on regions. What they compute is tested by programs.
#include "compiler/builder/region.h"
#include <gtest/gtest.h>

using namespace tilery;

namespace {

struct RegionTest : testing::Test {
  Builder b{Policy::Tir};
  Value pointer = b.beginKernel("k", {{"p", Type{DType::F32, {}, true}}})[0];

  static std::vector<Operand> zeros(size_t n) { return std::vector<Operand>(n, Literal(int64_t(0))); }
  std::vector<Value> ones(size_t n) { return std::vector<Value>(n, b.constant(Literal(int64_t(1)), DType::I64)); }
  /// A tensor of `shape`; no extents: an element of it.
  Region tensor(Shape shape, Shape extents) {
    return {
        b.root(pointer, ones(shape.size()), ones(shape.size())), "t", shape, zeros(shape.size()), extents, extents == shape, ""};
  }
  Region buffer(Shape shape, Shape extents, Space space = Space::Shared) {
    return {b.alloc(shape, DType::F32, space), "b", shape, zeros(shape.size()), extents, extents == shape, ""};
  }
  std::string errorOf(const std::function<void()> &action) {
    try {
      action();
    } catch (const Error &error) {
      return error.diagnostic().message;
    }
    return "";
  }
  using Pair = std::pair<Shape, Shape>;
};

TEST_F(RegionTest, ExtentsOfCopies) {
  // An element takes the other side's extents, aligned from the right.
  EXPECT_EQ(copyExtents(b, tensor({64, 64}, {}), buffer({16, 8}, {16, 8}), "copy"), (Pair{{16, 8}, {16, 8}}));
  EXPECT_EQ(copyExtents(b, tensor({4, 64, 64}, {}), buffer({16, 8}, {16, 8}), "copy"), (Pair{{1, 16, 8}, {16, 8}}));
  EXPECT_EQ(copyExtents(b, buffer({1, 8}, {1, 8}), tensor({64}, {}), "copy"), (Pair{{1, 8}, {8}}));
  EXPECT_EQ(copyExtents(b, tensor({64}, {}), buffer({1}, {}), "copy"), (Pair{{1}, {1}}));
  // Dimensions of size 1 are dropped wherever they are.
  EXPECT_EQ(copyExtents(b, tensor({2, 64, 3, 64}, {1, 16, 1, 8}), buffer({16, 8}, {16, 8}), "copy"),
            (Pair{{1, 16, 1, 8}, {16, 8}}));
  // What is known at run time only takes the other side's length.
  EXPECT_EQ(copyExtents(b, tensor({-1, -1}, {16, -1}), buffer({16, 8}, {16, 8}), "copy"), (Pair{{16, 8}, {16, 8}}));
  // The lower level says how much: 16 rows of a register tile are written to the first 16 of 32.
  EXPECT_EQ(copyExtents(b, buffer({16, 8}, {16, 8}, Space::Fragment), tensor({64, 64}, {32, 8}), "copy"),
            (Pair{{16, 8}, {16, 8}}));
}

TEST_F(RegionTest, CopiesThatDoNotFit) {
  EXPECT_EQ(errorOf([&] { copy(b, tensor({64, 32}, {64, 32}), buffer({32, 32}, {32, 32})); }),
            "T.copy: `t` has shape (64, 32) but `b` has shape (32, 32)");
  EXPECT_EQ(errorOf([&] { copy(b, tensor({64, 64}, {32, 8}), buffer({16, 8}, {16, 8})); }),
            "T.copy: extents (32, 8) of `t` and (16, 8) of `b` do not correspond");
  EXPECT_EQ(errorOf([&] { copy(b, tensor({64}, {}), buffer({16, 8}, {16, 8})); }),
            "T.copy: extents (16, 8) do not fit `t`, which has 1 dimension");
  EXPECT_EQ(errorOf([&] { copy(b, tensor({-1}, {-1}), tensor({-1, 4}, {-1, 1})); }),
            "Can't deduce copy extents from `t` and `t`: a size is known at run time only");
}

TEST_F(RegionTest, ProductsCheckTheirShapes) {
  auto shaped = [&](Shape shape) { return buffer(shape, shape); };
  EXPECT_EQ(errorOf([&] { gemm(b, shaped({16, 32}), shaped({16, 64}), shaped({16, 64}), {}); }),
            "T.gemm K shape check failed: K_A = 32, K_B = 16 (`b` is (16, 32), `b` is (16, 64))");
  GemmOptions transposed;
  transposed.transposeA = true;
  EXPECT_EQ(errorOf([&] { gemm(b, shaped({1, 32, 16}), shaped({32, 64}), shaped({16, 64}), transposed); }), "");
}

} // namespace
