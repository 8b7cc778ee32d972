#include "runtime/cuda/fewer_blocks.h"
#include <gtest/gtest.h>

using namespace tilery::cuda;

namespace {
std::string kernel(const std::string &name, const std::string &directives, const std::string &body = "\tret;\n") {
  return ".visible .entry " + name + "(\n\t.param .u32 " + name + "_param_0\n)\n" + directives + "{\n" + body + "}\n";
}
const std::string threads = ".maxntid 512\n";
std::string blocks(int count) { return threads + ".minnctapersm " + std::to_string(count) + "\n"; }
const std::vector<Spill> much = {{"k", 300, 300}};
} // namespace

TEST(FewerBlocks, OnlyWhereItIsWorthIt) {
  EXPECT_EQ(withFewerBlocks(kernel("k", blocks(4)), {}), "");
  EXPECT_EQ(withFewerBlocks(kernel("k", blocks(4)), {{"k", 24, 24}}), "");
  EXPECT_EQ(withFewerBlocks(kernel("k", blocks(2)), {{"k", 256, 256}}), "");
  EXPECT_EQ(withFewerBlocks(kernel("k", blocks(4)), {{"other", 300, 300}}), "");
  EXPECT_EQ(withFewerBlocks(kernel("k", blocks(4)), {{"k", 24, 28}}), kernel("k", blocks(3)));
  EXPECT_EQ(withFewerBlocks(kernel("k", blocks(2)), much), kernel("k", blocks(1)));
}

TEST(FewerBlocks, EndsAtOne) {
  std::string text = kernel("k", blocks(10));
  for (int count : {7, 5, 3, 2, 1}) {
    text = withFewerBlocks(text, much);
    EXPECT_EQ(text, kernel("k", blocks(count)));
  }
  EXPECT_EQ(withFewerBlocks(text, much), "");
}

TEST(FewerBlocks, AnAssemblerThatWasToldNothingIsToldOne) {
  EXPECT_EQ(withFewerBlocks(kernel("k", threads), much), kernel("k", blocks(1)));
  EXPECT_EQ(withFewerBlocks(kernel("k", ""), much), "");
}

TEST(FewerBlocks, RegistersThatAreDealtStay) {
  EXPECT_EQ(withFewerBlocks(kernel("k", threads + ".maxnreg 64\n"), much), "");
  EXPECT_EQ(withFewerBlocks(kernel("k", blocks(2), "\tsetmaxnreg.inc.sync.aligned.u32 232;\n"), much), "");
}

TEST(FewerBlocks, OtherKernelsOfTheModuleStay) {
  std::string first = kernel("j", blocks(4)), last = kernel("kk", blocks(4), "\tsetmaxnreg.inc.sync.aligned.u32 232;\n");
  EXPECT_EQ(withFewerBlocks(first + kernel("k", threads) + last, much), first + kernel("k", blocks(1)) + last);
}

TEST(FewerBlocks, LongCodeIsAssembledTwiceAtMost) {
  std::string body(2 << 20, ' ');
  EXPECT_EQ(withFewerBlocks(kernel("k", blocks(10), body), much), kernel("k", blocks(1), body));
}
