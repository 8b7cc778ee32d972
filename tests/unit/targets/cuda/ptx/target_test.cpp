#include "compiler/targets/cuda/ptx/target.h"
#include <gtest/gtest.h>

using namespace tilery::cuda;

TEST(CudaTarget, Names) {
  EXPECT_EQ(targetNamed("sm_80")->arch(), "sm_80");
  EXPECT_EQ(targetNamed("sm_90")->arch(), "sm_90");
  EXPECT_EQ(targetNamed("sm_90a")->arch(), "sm_90a");
  EXPECT_TRUE(targetNamed("sm_90a")->hopper());
  EXPECT_FALSE(targetNamed("sm_90")->hopper());
  EXPECT_EQ(targetNamed("sm_87")->arch(), "sm_87");
  for (const char *name :
       {"sm_75", "sm_80a", "sm_90b", "sm_85", "sm_88", "sm_100", "sm_100a", "sm_120a", "sm_", "sm_x", "avx2", "", "host", "90a"})
    EXPECT_FALSE(targetNamed(name)) << name;
}

TEST(CudaTarget, CardsOfAKind) {
  EXPECT_EQ(targetNamed("sm_80")->multiprocessors, 108u);
  EXPECT_EQ(targetNamed("sm_80")->sharedBytes, 163u << 10);
  EXPECT_EQ(targetNamed("sm_89")->sharedBytes, 99u << 10);
  EXPECT_EQ(targetNamed("sm_90a")->sharedBytes, 227u << 10);
}

TEST(CudaTarget, TheDriverBoundsThePtx) {
  EXPECT_EQ(targetNamed("sm_90a:cuda12020")->ptx, 82u);
  EXPECT_EQ(targetNamed("sm_90a:cuda12020")->arch(), "sm_90a");
  EXPECT_EQ(ptxVersion(12080), 87u);
  EXPECT_EQ(ptxVersion(12085), 87u);
  EXPECT_EQ(ptxVersion(12079), 86u);
  EXPECT_EQ(ptxVersion(13000), 87u) << "newer PTX brings nothing that is used";
  EXPECT_EQ(ptxVersion(11000), 75u);
}

TEST(CudaTarget, TargetsNeedPtx) {
  for (auto [name, least] : {std::pair("sm_80", 75u), {"sm_86", 75u}, {"sm_89", 78u}, {"sm_90", 78u}, {"sm_90a", 80u}})
    EXPECT_EQ(leastPtx(*targetNamed(name)), least) << name;
}

TEST(CudaTarget, AssemblersOfOldDriversWriteOtherStrides) {
  EXPECT_TRUE(targetNamed("sm_90a")->writesMaps()) << "no driver is named";
  EXPECT_TRUE(targetNamed("sm_90a:cuda12050")->writesMaps());
  EXPECT_FALSE(targetNamed("sm_90a:cuda12040")->writesMaps());
}

TEST(CudaTarget, CachesTellTargetsApart) {
  EXPECT_NE(targetNamed("sm_90a")->key(), targetNamed("sm_90a:cuda12030")->key()) << "PTX 8.3 both";
  EXPECT_NE(targetNamed("sm_90")->key(), targetNamed("sm_90a")->key());
  EXPECT_NE(targetNamed("sm_90a:cuda12020")->key(), targetNamed("sm_90a:cuda12080")->key());
}
