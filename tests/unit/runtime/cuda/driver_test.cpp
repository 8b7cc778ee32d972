#include "runtime/cuda/code.h"
#include "runtime/cuda/driver.h"
#include "tilery/runtime.h"
#include <gtest/gtest.h>

using namespace tilery;

TEST(CudaDriver, IsFoundOrSaysWhyNot) {
  if (cuda::Driver::find()) {
    EXPECT_GT(gpuCount(), 0);
    EXPECT_EQ(gpuTarget(0).substr(0, 3), "sm_");
    EXPECT_THROW(gpuTarget(gpuCount()), Error);
    const GpuProperties &found = gpuProperties(0);
    EXPECT_TRUE(!found.name.empty() && found.sm >= 80 && found.multiprocessors && found.sharedBytes && found.registers);
    return;
  }
  EXPECT_THROW(gpuProperties(0), Error);
  EXPECT_EQ(gpuCount(), 0);
  try {
    gpuTarget(0);
    ADD_FAILURE() << "a GPU without a driver";
  } catch (const Error &error) {
    EXPECT_NE(error.diagnostic().message.find("NVIDIA driver"), std::string::npos);
    EXPECT_EQ(error.diagnostic().hint, "run on tensors of the CPU, or on a machine with an NVIDIA GPU and its driver");
  }
}

TEST(CudaDriver, ErrorsNameWhatWasDone) {
  if (!cuda::Driver::find())
    GTEST_SKIP() << "needs an NVIDIA GPU";
  cuda::check(0, "nothing");
  try {
    cuda::check(2, "launching matmul_kernel");
    ADD_FAILURE() << "an error code passed";
  } catch (const Error &error) {
    EXPECT_NE(error.diagnostic().message.find("launching matmul_kernel failed: out of memory (CUDA_ERROR_OUT_OF_MEMORY)"),
              std::string::npos);
  }
}

TEST(CudaCode, PtxThatIsWrongIsRefused) {
  if (!cuda::Driver::find())
    GTEST_SKIP() << "needs an NVIDIA GPU";
  cuda::DeviceScope scope(0);
  KernelInfo info{"k", 0, {}};
  info.gpu.threads = 32;
  EXPECT_THROW(cuda::Code("no ptx").kernel(info, 0), Error);
}
