#include "runtime/cuda/assembler_log.h"
#include "tilery/diagnostic.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace tilery;

namespace {
const std::string clean = "info    : 0 bytes gmem\n"
                          "info    : Compiling entry function 'C7510' for 'sm_90a'\n"
                          "info    : Function properties for 'C7510'\n"
                          "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                          "info    : Used 154 registers, used 3 barriers\n";

std::string messageOf(const std::string &log, const char *verify = "1") {
  setenv("TILERY_VERIFY", verify, 1);
  try {
    cuda::checkGivenUp(cuda::gaveUpOn(log));
  } catch (const Error &error) {
    EXPECT_EQ(error.diagnostic().hint, "this is a defect of Tilery's code generator");
    return error.diagnostic().message;
  }
  return "";
}
} // namespace

TEST(AssemblerLog, OrdinaryLinesPass) {
  EXPECT_EQ(messageOf(""), "");
  EXPECT_EQ(messageOf(clean), "");
  EXPECT_EQ(messageOf("info    : (C6510) something else\ninfo : (C75) (C751) (C75100) C7510\n"), "");
}

TEST(AssemblerLog, AnyC75LineIsAnError) {
  const std::string lines[] = {
      "info    : (C7504) Potential Performance Loss: 'setmaxnreg' ignored to maintain compatibility across compilation units.",
      "info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to a function call",
      "info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient registers",
      "info    : (C7517) Potential Performance Loss: wgmma.mma_async instructions are serialized",
  };
  for (const std::string &line : lines) {
    std::string expected = "the driver's assembler gave up on an instruction: " + line;
    EXPECT_EQ(messageOf(line), expected);
    EXPECT_EQ(messageOf(line, "0"), "") << "it runs, slowly";
    EXPECT_EQ(messageOf(line + "\n" + clean), expected);
    EXPECT_EQ(messageOf(clean + line + "\n" + clean), expected) << "the line alone, wherever it stands";
  }
}

TEST(AssemblerLog, SpillsHaveTheirKernel) {
  EXPECT_TRUE(cuda::spillsOf("").empty());
  EXPECT_TRUE(cuda::spillsOf(clean).empty());
  // As ptxas and its library print it, and as the driver does when it assembles.
  const std::string log =
      clean +
      "ptxas warning : Registers are spilled to local memory in function 'spiller', 148 bytes spill stores, 12 bytes "
      "spill loads\n"
      "ptxas info    : Function properties for spiller\n"
      "    152 bytes stack frame, 148 bytes spill stores, 12 bytes spill loads\n"
      "ptxas info    : Used 32 registers, used 0 barriers, 152 bytes cumulative stack size\n"
      "info    : Function properties for 'loader'\n"
      "ptxas         .     8 bytes stack frame, 0 bytes spill stores, 4 bytes spill loads\n" +
      clean;
  std::vector<cuda::Spill> expected{{"spiller", 148, 12}, {"loader", 0, 4}};
  EXPECT_EQ(cuda::spillsOf(log), expected);
}
