// Places of lanes, by constants: what they come to is in the constants that LLVM's builder folds. And where code of outer loops goes.
#include "compiler/lower/index_arithmetic.h"
#include "compiler/targets/cpu/lowering.h"
#include <gtest/gtest.h>

using namespace tilery;
using namespace tilery::lower;

namespace {
/// Arithmetic on places of `lanes` lanes, outside of any loop.
struct Arithmetic {
  explicit Arithmetic(unsigned lanes, bool spreads)
      : target(cpu::hostTarget()), options{target}, module("places", context), e(module, options), levels(e.b), lanes(lanes),
        indices(e, levels, this->lanes, spreads) {}

  /// Those of an index that counts up from `first`.
  Index from(int64_t first) { return {e.i64(first), lanes == 1 ? 0 : 1, nullptr, 0, first}; }
  std::vector<int64_t> places(const Index &index) {
    auto *vector = llvm::cast<llvm::Constant>(indices.vectorOf(index));
    std::vector<int64_t> found;
    for (unsigned l = 0; l < lanes; ++l) {
      llvm::Constant *lane = e.lanesOf(vector) == 1 ? vector : vector->getAggregateElement(l);
      found.push_back(llvm::cast<llvm::ConstantInt>(lane)->getSExtValue());
    }
    return found;
  }

  llvm::LLVMContext context;
  cpu::CpuLowering target;
  Options options;
  llvm::Module module;
  Emitter e;
  LoopLevels levels;
  unsigned lanes;
  IndexArithmetic indices;
};

void forAll(llvm::function_ref<void(Arithmetic &, int64_t first)> test) {
  for (bool spreads : {false, true})
    for (unsigned lanes : {1, 2, 4, 8})
      for (int64_t first : {0, 8, 24}) {
        Arithmetic arithmetic(lanes, spreads);
        test(arithmetic, first);
      }
}
} // namespace

TEST(LanePlaces, NumbersOfElementsBecomePointsRowByRow) {
  for (std::vector<int64_t> shape : {std::vector<int64_t>{32}, {4, 8}, {2, 16}, {4, 3, 3}, {1, 4, 1, 8}, {3, 5, 7}, {16, 2, 1}})
    forAll([&](Arithmetic &a, int64_t first) {
      Point point = a.indices.pointOf(a.from(first), shape);
      ASSERT_EQ(point.size(), shape.size());
      for (unsigned l = 0; l < a.lanes; ++l) {
        int64_t number = 0;
        for (auto [index, size] : llvm::zip(point, shape)) {
          int64_t place = a.places(index)[l];
          EXPECT_TRUE(place >= 0 && place < size);
          number = number * size + place;
        }
        EXPECT_EQ(number, first + l);
      }
    });
}

TEST(LanePlaces, SumsAndMultiplesAreThoseOfEachLane) {
  forAll([&](Arithmetic &a, int64_t first) {
    Point point = a.indices.pointOf(a.from(first), {16, 2}); // of which neither counts up by lanes
    Index sum = a.indices.plus(a.indices.scaled(point[0], 3), a.indices.plus(point[1], a.indices.constant(5)));
    for (unsigned l = 0; l < a.lanes; ++l)
      EXPECT_EQ(a.places(sum)[l], (first + l) / 2 * 3 + (first + l) % 2 + 5);
    EXPECT_EQ(a.places(a.indices.scaled(a.from(first), 4)).back(), 4 * (first + a.lanes - 1));
  });
}

TEST(LanePlaces, SumsAndProductsOfIntegers) {
  forAll([&](Arithmetic &a, int64_t first) {
    Linear counts{a.e.i64(first), 1}, four{a.e.i64(4)};
    Linear line = a.indices.sum(a.indices.product(four, counts), counts, /*subtract=*/true);
    EXPECT_EQ(line.base, a.e.i64(3 * first));
    EXPECT_EQ(line.step, 3);
    EXPECT_FALSE(line.lanes);
  });
}

TEST(LoopLevels, WhatNoInnerLoopMovesIsEmittedInFrontOfItAndKeptBehindIt) {
  Arithmetic a(1, false);
  auto &b = a.e.b;
  auto *function = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), {b.getInt64Ty()}, false),
                                          llvm::Function::ExternalLinkage, "f", a.module);
  auto *outside = llvm::BasicBlock::Create(a.context, "", function), *body = llvm::BasicBlock::Create(a.context, "", function);
  b.SetInsertPoint(outside);
  llvm::Instruction *end = b.CreateBr(body);
  b.SetInsertPoint(body);
  llvm::Instruction *last = b.CreateRetVoid();
  b.SetInsertPoint(last);
  a.levels.enter(end);
  Index fixed{function->getArg(0)}, moved{function->getArg(0), 0, nullptr, a.levels.current()};
  auto *sum = llvm::cast<llvm::Instruction>(a.indices.plus(fixed, fixed).base);
  EXPECT_EQ(sum->getNextNode(), end);
  auto *inside = llvm::cast<llvm::Instruction>(a.indices.plus(fixed, moved).base);
  EXPECT_EQ(inside->getNextNode(), last);
  a.levels.memoAt({fixed})[keyOf({}, {fixed})] = sum;
  a.levels.memoAt({moved})[keyOf({}, {moved})] = inside;
  EXPECT_NE(&a.levels.memoAt({fixed}), &a.levels.memoAt({moved}));
  a.levels.leave();
  EXPECT_EQ(a.levels.current(), 0u);
  EXPECT_EQ(a.levels.memoAt({fixed}).size(), 1u);
}
