// Offsets of jagged tensors: rows of lengths 3, 0 and 1 behind each other.
#include "tilery/arrange.h"
#include <gtest/gtest.h>

using namespace tilery::arrange;

namespace {
using Offsets = std::vector<int64_t>;

Tensor jagged(size_t dim, std::optional<Symbol> rows, std::optional<Symbol> other) {
  Source source;
  source.jagged = dim;
  std::vector<std::optional<Symbol>> shape{rows, other};
  shape.insert(shape.begin() + dim, std::optional<Symbol>());
  Tensor tensor(source, shape);
  tensor.setRowLengths({3, 0, 1});
  return tensor;
}
} // namespace

TEST(JaggedTable, RowsLieBehindEachOther) {
  EXPECT_EQ(evaluate(jagged(1, 3, 2)).offsets, (Offsets{0, 1, 2, 3, 4, 5, -1, -1, -1, -1, -1, -1, 6, 7, -1, -1, -1, -1}));
  EXPECT_EQ(evaluate(jagged(2, 3, 2)).offsets, (Offsets{0, 1, 2, 4, 5, 6, -1, -1, -1, -1, -1, -1, 3, -1, -1, 7, -1, -1}));
}

TEST(JaggedTable, StepsFollowTheOwnRow) {
  Tensor backwards = jagged(1, 3, 1).slice({{}, {Slice::Kind::range, {}, {}, Symbol(-1)}});
  EXPECT_EQ(evaluate(backwards).offsets, (Offsets{2, 1, 0, -1, -1, -1, 3, -1, -1}));
  Tensor whole = jagged(1, 3, 1).tile({1, 2, 1}, {}, {}, true); // no tile that overhangs: one of the first row, none of the last
  EXPECT_EQ(evaluate(whole).offsets, (Offsets{0, 1, -1, -1, -1, -1}));
}

TEST(JaggedTable, FlattenedRowsAreThoseOfThePaddedTensor) {
  EXPECT_EQ(evaluate(jagged(1, 3, 1).flatten(0, 2)).offsets, (Offsets{0, 1, 2, -1, -1, -1, 3, -1, -1}));
  EXPECT_TRUE(mixesRows(jagged(1, 3, 1).flatten(0, 2)));
  EXPECT_FALSE(mixesRows(jagged(1, 3, 1).flatten(1)));
}

TEST(JaggedTable, WhatIsMissing) {
  Tensor tensor = jagged(1, 2, 1);
  EXPECT_THROW(evaluate(tensor), ArrangementError); // three lengths
  tensor.setRowLengths({1, -1});
  EXPECT_THROW(evaluate(tensor), ArrangementError);
  tensor.setRowLengths({});
  EXPECT_THROW(evaluate(tensor), ArrangementError);
  EXPECT_THROW(jagged(1, {}, 1).sourceTensor().setShape({1}), ArrangementError);
}
