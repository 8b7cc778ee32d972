// Arrangements as plain values, and back.
#include "tilery/arrange.h"
#include <gtest/gtest.h>

using namespace tilery::arrange;

static Tensor source(const std::vector<int64_t> &shape) {
  std::vector<std::optional<Symbol>> sizes(shape.begin(), shape.end());
  return Tensor(Source{}, sizes);
}

TEST(ArrangeSteps, EveryStepComesBack) {
  Tensor tensor = source({5, 6, 2}).pad({{1, 0}, {0, 2}, {0, 0}}).tile({2, 3, -1}, {}, {{1}, {2}, {1}}).permute({1, 0, 2});
  tensor = tensor.flatten(0, 2).unsqueeze(0).slice({{Slice::Kind::ellipsis, {}, {}, {}}, {Slice::Kind::index, 0, {}, {}}});
  tensor = tensor.tile({1, 2}).ravel();
  Tensor restored = fromSteps(tensor.source(), stepsOf(tensor), tensor.level());
  EXPECT_EQ(describe(restored), describe(tensor));
  EXPECT_EQ(evaluate(restored).offsets, evaluate(tensor).offsets);
}

TEST(ArrangeSteps, AnInnerLevelStaysOne) {
  Tensor inner = source({4, 4}).tile({2, 2}).inner();
  EXPECT_EQ(describe(fromSteps(inner.source(), stepsOf(inner), inner.level())), describe(inner));
}

TEST(ArrangeSteps, NonsenseIsRefused) {
  Tensor tensor = source({4}).tile({2});
  auto steps = stepsOf(tensor);
  EXPECT_THROW(fromSteps(tensor.source(), {}, 0), ArrangementError);
  EXPECT_THROW(fromSteps(tensor.source(), steps, 2), ArrangementError);
  steps[1].kind = "fold";
  EXPECT_THROW(fromSteps(tensor.source(), steps, 0), ArrangementError);
}
