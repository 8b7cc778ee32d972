#include "runtime/symbols.h"
#include "tilery/abi.h"
#include <gtest/gtest.h>

using namespace tilery;

TEST(Symbols, AreTheRuntimesAndTheProcesss) {
  EXPECT_EQ(resolveSymbol("tilery_rt_panel"), reinterpret_cast<void *>(&tilery_rt_panel));
  EXPECT_EQ(resolveSymbol("tilery_rt_panel_piece"), reinterpret_cast<void *>(&tilery_rt_panel_piece));
  EXPECT_EQ(resolveSymbol("tilery_rt_panel_release"), reinterpret_cast<void *>(&tilery_rt_panel_release));
  EXPECT_EQ(resolveSymbol("tilery_rt_print"), reinterpret_cast<void *>(&tilery_rt_print));
  EXPECT_EQ(resolveSymbol("tilery_rt_assert"), reinterpret_cast<void *>(&tilery_rt_assert));
  auto *root = reinterpret_cast<double (*)(double)>(resolveSymbol("sqrt"));
  ASSERT_TRUE(root);
  EXPECT_EQ(root(9.0), 3.0);
  EXPECT_FALSE(resolveSymbol("tilery_rt_nothing"));
}
