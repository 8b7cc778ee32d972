#include "compiler/targets/cpu/target.h"
#include <gtest/gtest.h>

using namespace tilery::cpu;

TEST(CpuTarget, TheTableHasWhatItsNamesSay) {
  for (const std::string &name : targetNames()) {
    const CpuTarget *target = findTarget(name);
    ASSERT_TRUE(target);
    EXPECT_EQ(target->name, name);
    bool neon = target->architecture == Architecture::aarch64;
    EXPECT_EQ(neon, name.starts_with("aarch64"));
    EXPECT_EQ(target->vectorBits, neon ? 128u : target->avx512 ? 512u : 256u);
    EXPECT_EQ(target->vectorRegisters, neon || target->avx512 ? 32u : 16u);
    EXPECT_EQ(target->lanes(32), target->vectorBits / 32);
    EXPECT_TRUE(target->dotBF16 || !target->fastDotBF16);
  }
  EXPECT_FALSE(findTarget("avx2")->avx512);
  EXPECT_TRUE(findTarget("sapphirerapids")->amx);
  EXPECT_FALSE(findTarget("riscv"));
  EXPECT_FALSE(findTarget(""));
}

// LLVM shuffles bytes by extrq and insertq where it may, which no processor of Intel has.
TEST(CpuTarget, CodeForATableEntryRunsOnEveryProcessorThatHasItsFeatures) {
  for (const char *name : {"avx2", "avx512"})
    EXPECT_NE(findTarget(name)->features.find("-sse4a"), std::string::npos) << name;
}

TEST(CpuTarget, TheHostIsOneAndRunsItself) {
  EXPECT_EQ(findTarget("host"), &hostTarget());
  EXPECT_TRUE(hostRuns(hostTarget()));
  EXPECT_NE(hostTarget().features.find("avx2"), std::string::npos) << "every feature is stated, present or absent";
}

TEST(CpuTarget, WhatTheHostLacksItDoesNotRun) {
  CpuTarget more = *findTarget("avx2");
  EXPECT_TRUE(hostRuns(more)) << "x86-64-v3 is the least";
  for (bool CpuTarget::*feature :
       {&CpuTarget::avx512, &CpuTarget::dotBF16, &CpuTarget::dotInt8, &CpuTarget::halfArithmetic, &CpuTarget::amx}) {
    CpuTarget target = *findTarget("avx2");
    target.*feature = true;
    EXPECT_EQ(hostRuns(target), hostTarget().*feature);
  }
}

TEST(CpuTarget, CachesTellTargetsApart) {
  EXPECT_NE(findTarget("avx2")->key(), findTarget("avx512")->key());
  EXPECT_NE(findTarget("avx512")->key(), findTarget("sapphirerapids")->key());
}
