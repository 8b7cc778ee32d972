// Prints of CPU code, and the errors of assertions.
#include "runtime/callbacks.h"
#include "kernels.h"
#include "runtime/pool.h"

using namespace tilery;
using namespace tilery::test;

TEST(Callbacks, CodeOfCpusPrintsWholeTiles) {
  const int32_t elements[] = {-5, 60};
  const int64_t shape[] = {2};
  TileryPrinted value{elements, shape, 1, uint32_t(DType::I32)};
  TileryLaunch launch{nullptr, {3, 2, 4}, 0, nullptr, nullptr, 0};
  testing::internal::CaptureStdout();
  tilery_rt_print(&launch, 7, "x: ", 0, 1, &value);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "(1, 0, 1) x: [-5, 60]\n");
}

TEST(Callbacks, AnAssertionStopsTheLaunchWithItsPlace) {
  KernelPtr kernel = kernelOf(programLoop(incrementBody));
  const int64_t grid[3] = {3, 2, 4};
  LaunchOptions options;
  Job job(*kernel, grid, nullptr, options);
  tilery_rt_assert(&job.launch, 7, "x > 0", "program.py", 12, 5);
  tilery_rt_assert(&job.launch, 8, "later", nullptr, 0, 0);
  EXPECT_TRUE(job.finished());
  ASSERT_TRUE(job.failure);
  EXPECT_EQ(job.failure->kind, Diagnostic::Kind::Assertion);
  EXPECT_EQ(job.failure->message, "x > 0 (program (1, 0, 1) of k)");
  ASSERT_EQ(job.failure->chain.size(), 1u);
  EXPECT_EQ(job.failure->chain[0].file, "program.py");
  EXPECT_EQ(job.failure->chain[0].line, 12);
  const uint32_t extents[3] = {3, 2, 4};
  EXPECT_TRUE(assertionFailure(extents, 0, "m", {"", 0, 0, "k"}).chain.empty()) << "no file, no place";
}
