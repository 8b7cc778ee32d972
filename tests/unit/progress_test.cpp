#include "compiler/progress.h"
#include <gtest/gtest.h>

using namespace tilery;

TEST(Progress, LongCompilationsSayWhatTakesTheTime) {
  constexpr int64_t second = 1'000'000'000;
  EXPECT_EQ(Progress::longText("kernel add", 5 * second + second / 10, 4 * second, "LLVM: GVN", 3 * second, 1200),
            "tilery: compiling kernel add takes long: 5.1 s so far, 3.0 s of it for \"LLVM: GVN\"; LLVM is at a function of 1200 "
            "instructions\n  hint: less of it where loops are unrolled (loops of C++ around tiles) or tiles unpacked "
            "into scalars\n");
  EXPECT_EQ(
      Progress::longText("kernel add", 6 * second, 2 * second, "LLVM: GVN", 5 * second, 1200),
      "tilery: compiling kernel add takes long: 6.0 s so far, in which it had a processor for 2.0 s: the machine is busy\n");
}
