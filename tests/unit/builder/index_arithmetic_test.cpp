// Arithmetic that feeds addresses and masks does not wrap; the same arithmetic on data does.
#include "tilery/builder.h"
#include "tilery/module.h"
#include <gtest/gtest.h>

using namespace tilery;

namespace {
struct IndexArithmetic : testing::Test {
  Builder b{Policy::Triton};
  std::vector<Value> args = b.beginKernel("k", {{"n", Type{DType::I32, {}}}, {"p", Type{DType::I32, {}, true}}});
  Value n = args[0], p = args[1];
  Literal number(int64_t value) { return Literal(value); }
  Value add(Value x, Value y) { return b.binary(BinaryOp::Add, x, y); }
  Value times(Value x, int64_t y) { return b.binary(BinaryOp::Mul, x, number(y)); }
  /// How many of the kernel's additions, subtractions and products are marked, and how many are not.
  std::pair<size_t, size_t> marks() {
    b.endKernel();
    std::string text = b.finish()->text();
    size_t marked = 0, plain = 0;
    for (size_t at = text.find("arith."); at != std::string::npos; at = text.find("arith.", at + 1)) {
      std::string line = text.substr(at, text.find('\n', at) - at);
      if (line.starts_with("arith.muli") || line.starts_with("arith.addi") || line.starts_with("arith.subi"))
        (line.find("nsw") != std::string::npos ? marked : plain) += 1;
    }
    return {marked, plain};
  }
};
using Marks = std::pair<size_t, size_t>;

TEST_F(IndexArithmetic, AddressesAreMarked) {
  b.store(add(p, add(times(n, 3), b.arange(0, 8))), b.arange(0, 8), {});
  EXPECT_EQ(marks(), Marks(2, 0));
}

TEST_F(IndexArithmetic, DataIsNot) {
  b.store(add(p, b.arange(0, 8)), times(b.arange(0, 8), 5), {});
  EXPECT_EQ(marks(), Marks(0, 1));
}

TEST_F(IndexArithmetic, WhatIsBothIsCopied) {
  Value offset = add(times(n, 3), b.arange(0, 8));
  b.store(add(p, offset), times(offset, 5), {});
  EXPECT_EQ(marks(), Marks(2, 3)); // the address; its wrapping copies, and the data's own product
}

TEST_F(IndexArithmetic, MasksAreMarked) {
  Value lanes = b.arange(0, 8);
  b.store(add(p, lanes), lanes, b.binary(BinaryOp::Lt, add(lanes, times(n, 8)), n));
  EXPECT_EQ(marks(), Marks(2, 0));
}

TEST_F(IndexArithmetic, SoAreNegatedMasks) {
  Value lanes = b.arange(0, 8), above = b.binary(BinaryOp::Lt, add(lanes, times(n, 8)), n);
  b.store(add(p, lanes), lanes, b.unary(UnaryOp::Invert, above));
  EXPECT_EQ(marks(), Marks(2, 0));
}

TEST_F(IndexArithmetic, NumbersOfBitsAreNot) {
  Value lanes = b.arange(0, 8), mixed = b.binary(BinaryOp::Xor, add(lanes, times(n, 8)), n);
  b.store(add(p, lanes), lanes, b.binary(BinaryOp::Lt, mixed, n));
  EXPECT_EQ(marks(), Marks(0, 2));
}

TEST_F(IndexArithmetic, CarriedOffsetsAreMarked) {
  Value zero = b.constant(number(0), DType::I32), one = b.constant(number(1), DType::I32);
  auto loop = b.beginFor(zero, n, one, {zero});
  b.store(add(p, loop.carried[0]), n, {});
  b.endFor({add(loop.carried[0], n)});
  EXPECT_EQ(marks(), Marks(1, 0));
}
} // namespace
