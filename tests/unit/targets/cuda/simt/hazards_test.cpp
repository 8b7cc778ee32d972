#include "compiler/targets/cuda/simt/hazards.h"
#include <gtest/gtest.h>

using tilery::cuda::Footprint;
using tilery::cuda::Hazards;
using tilery::lower::MemoryClass;

namespace {
const char a = 0, b = 0;
const MemoryClass x{MemoryClass::Argument, &a}, y{MemoryClass::Argument, &b};
const Footprint readsX{{x}, {}}, writesX{{}, {x}}, writesY{{}, {y}};
} // namespace

TEST(Hazards, OnlyWritesConflict) {
  Hazards hazards;
  hazards.begin({{x}, {x, y}}, true);
  EXPECT_FALSE(hazards.conflict(writesX)); // nothing came before
  hazards.add(readsX);
  EXPECT_FALSE(hazards.conflict(readsX));
  EXPECT_TRUE(hazards.conflict(writesX));
  EXPECT_FALSE(hazards.conflict(writesY));
  hazards.settled();
  EXPECT_FALSE(hazards.pending());
  EXPECT_FALSE(hazards.conflict(writesX));
  hazards.add(writesX);
  EXPECT_TRUE(hazards.conflict(readsX));
}

TEST(Hazards, ArgumentsMayOverlap) {
  Hazards hazards;
  hazards.begin({{x}, {y}}, false);
  hazards.add(readsX);
  EXPECT_TRUE(hazards.conflict(writesY));
}

TEST(Hazards, UnknownPastIsAllThatTheKernelDoes) {
  Hazards hazards;
  hazards.begin({{x}, {y}}, true);
  hazards.lose();
  EXPECT_TRUE(hazards.pending());
  EXPECT_FALSE(hazards.conflict(readsX)); // nothing writes x
  EXPECT_TRUE(hazards.conflict({{y}, {}}));
  EXPECT_TRUE(hazards.conflict(writesX));
}

TEST(Hazards, WhatOnlyReadsRepeatsWithoutWaits) {
  Hazards hazards;
  hazards.begin({{x}, {x, y}}, true);
  EXPECT_TRUE(hazards.repeats(readsX));
  EXPECT_TRUE(hazards.repeats({{x}, {}}));
  EXPECT_FALSE(hazards.repeats({{x}, {x}}));
  EXPECT_FALSE(hazards.repeats(writesX));
}
