#include "compiler/targets/cuda/gemm_schedule.h"
#include "tilery/diagnostic.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace tilery;
using namespace tilery::cuda;

TEST(GemmSchedule, FillsSharedMemoryAndNoMore) {
  CudaTarget target = *targetNamed("sm_90a");
  for (unsigned m : {64, 128, 256})
    for (unsigned n : {64, 128, 256}) {
      GemmProblem problem{m, n, 64, 2, 2, true};
      if (m * n > 128 * 256)
        continue;
      GemmSchedule schedule = chooseSchedule(problem, target);
      EXPECT_LE(sharedBytes(problem, schedule), target.sharedBytes);
      EXPECT_GE(schedule.stages, 2u);
      EXPECT_EQ(schedule.consumers, m == 64 ? 1u : 2u);
    }
}

TEST(GemmSchedule, HeedsHintsAndOverrides) {
  CudaTarget target = *targetNamed("sm_90a");
  GemmProblem problem{128, 256, 64, 2, 2, true, 3};
  EXPECT_EQ(chooseSchedule(problem, target).stages, 3u);
  GemmSchedule schedule;
  schedule.override("stages=5 group=1 stage_output=0");
  EXPECT_EQ(schedule.print(), "consumers=2 k=64 stages=5 group=1 stage_output=0 general=0");
  EXPECT_THROW(schedule.override("stags=5"), Error);
}

TEST(GemmSchedule, StagesAPartOfResultsThatDoNotFit) {
  CudaTarget target = *targetNamed("sm_90a");
  GemmSchedule half = chooseSchedule({128, 256, 64, 2, 2, true}, target),
               whole = chooseSchedule({128, 256, 64, 2, 4, true}, target);
  EXPECT_EQ(half.stageOutput, 2u);  // half of 64 x 256 of 16 bits
  EXPECT_EQ(whole.stageOutput, 2u); // a quarter of 64 x 256 of 32 bits
  EXPECT_EQ(half.stages, 4u);
  EXPECT_EQ(whole.stages, 4u);
  EXPECT_EQ(chooseSchedule({128, 256, 64, 2, 2, true, 3}, target).stageOutput, 4u); // beside three stages, as the user wants
}

TEST(GemmSchedule, CountsStagesThatAreNotDeep) {
  GemmProblem problem{128, 256, 16, 2, 2, true};
  GemmSchedule schedule = chooseSchedule(problem, *targetNamed("sm_90a"));
  EXPECT_EQ(schedule.k, 16u);
  EXPECT_EQ(schedule.stages, 8u);
  EXPECT_EQ(sharedBytes(problem, schedule), 1024u + 8 * 384 * 32 + 65536);
}

TEST(GemmSchedule, ThreeConsumersForRowsThatTwoCannotShare) {
  EXPECT_EQ(chooseSchedule({192, 128, 64, 2, 2, true}, *targetNamed("sm_90a")).consumers, 3u);
}

TEST(GemmSchedule, RefusesWhatHasNoCode) {
  CudaTarget target = *targetNamed("sm_90a");
  GemmProblem problem{128, 256, 64, 2, 2, true};
  for (const char *text : {"consumers=3", "k=48", "k=128", "stages=1", "stage_output=3", "consumers=0"}) {
    setenv("TILERY_SCHEDULE", text, 1);
    EXPECT_THROW(chooseSchedule(problem, target), Error) << text;
  }
  unsetenv("TILERY_SCHEDULE");
}

TEST(GemmSchedule, SaysWhatDoesNotFit) {
  setenv("TILERY_SCHEDULE", "stages=9", 1);
  try {
    chooseSchedule({128, 256, 64, 2, 2, true}, *targetNamed("sm_90a"));
    ADD_FAILURE() << "nine stages fit";
  } catch (const Error &error) {
    EXPECT_EQ(error.diagnostic().message,
              "a matrix product of tiles 128x256 needs 476160 bytes of shared memory, the device has 232448");
    EXPECT_EQ(error.diagnostic().hint, "use a smaller tile or fewer stages");
  }
  unsetenv("TILERY_SCHEDULE");
}
