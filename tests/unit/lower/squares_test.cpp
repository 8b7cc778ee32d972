// Tiles that are read across: squares of them are loaded as they lie and transposed in registers.
#include "tests/unit/lower/plan.h"

using namespace tilery;
using namespace tilery::test;

namespace {
/// o[j * m + i] = x[i * n + j] for a tile of m x n, i along the vectors; or, `stored`, of x sorted along j.
std::string turned(int64_t m, int64_t n, const std::string &type, bool sorted = false) {
  auto shape = [&](int64_t a, int64_t b) { return std::to_string(a) + "x" + std::to_string(b) + "x" + type; };
  std::string from = shape(m, n), to = shape(n, m), pointer = "!tile.ptr<" + type + ">";
  std::string steps = " : " + pointer + ", (i64, i64), () -> ";
  return "tile.kernel @k(%x: " + pointer + ", %o: " + pointer + ") {\n  %zero = arith.constant 0 : i64\n" +
         "  %one = arith.constant 1 : i64\n  %m = arith.constant " + std::to_string(m) + " : i64\n  %n = arith.constant " +
         std::to_string(n) + " : i64\n" + "  %ax = tile.access %x, %zero steps(%n, %one) bounds [0, 0] ()" + steps +
         "!tile.access<" + from + ">\n  %ao = tile.access %o, %zero steps(%m, %one) bounds [0, 0] ()" + steps + "!tile.access<" +
         to + ">\n  %a = tile.load %ax : !tile.access<" + from + "> -> tensor<" + from + ">\n" +
         (sorted ? "  %s = tile.sort %a axis 1 : tensor<" + from + "> -> tensor<" + from + ">\n" : "") + "  %t = tile.permute " +
         (sorted ? "%s" : "%a") + " [1, 0] : tensor<" + from + "> -> tensor<" + to + ">\n  tile.store %ao, %t : !tile.access<" +
         to + ">, tensor<" + to + ">\n  tile.return\n}\n";
}
bool gathers(const std::string &llvm) {
  return llvm.find("masked.gather") != std::string::npos || llvm.find("insertelement") != std::string::npos;
}
} // namespace

TEST(Squares, WholeTilesAreReadAsTheyLie) {
  for (const char *target : {"avx2", "avx512", "sapphirerapids", "aarch64-neon"})
    for (const char *type : {"f32", "f64", "f16", "i8", "i64"}) {
      std::string text = llvmOf(turned(64, 64, type), target);
      EXPECT_FALSE(gathers(text)) << target << " " << type << "\n" << text;
    }
}

TEST(Squares, SoAreTilesOfScratchMemory) { EXPECT_FALSE(gathers(llvmOf(turned(32, 32, "f32", true), "avx2"))); }

TEST(Squares, LoadsArePiecesOfWhatShufflesTake) {
  EXPECT_NE(llvmOf(turned(64, 64, "f32"), "avx2").find("load <4 x float>"), std::string::npos);
  EXPECT_NE(llvmOf(turned(64, 64, "i8"), "avx2").find("load <16 x i8>"), std::string::npos);
}

TEST(Squares, CodeDoesNotGrowWithTheTile) {
  size_t small = llvmOf(turned(64, 64, "f32"), "avx2").size(), large = llvmOf(turned(512, 512, "f32"), "avx2").size();
  EXPECT_LT(large, small + small / 10);
}
