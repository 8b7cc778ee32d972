// Flattened indices: rows in segments among which quotients do not change.
#include "tests/unit/lower/plan.h"

using namespace tilery;
using namespace tilery::test;

namespace {
/// o[i] = x[i / width * 2 * width + i % width] for 512 elements, of which those whose remainder is below %n are loaded.
std::string rowsOf(int64_t width, const std::string &mode, bool masked = false) {
  auto line = [](const std::string &type) { return " : tensor<512x" + type + ">\n"; };
  auto all = [&](const std::string &name, int64_t number) {
    return "  %" + name + " = arith.constant dense<" + std::to_string(number) + "> : tensor<512xi64>\n";
  };
  std::string access =
      " : !tile.ptr<f32>, (tensor<512xi64>), " + std::string(masked ? "(tensor<512xi1>)" : "()") + " -> !tile.access<512xf32>\n";
  return "tile.kernel @k(%x: !tile.ptr<f32>, %o: !tile.ptr<f32>, %n: i64) {\n  %zero = arith.constant 0 : i64\n"
         "  %one = arith.constant 1 : i64\n" +
         all("width", width) + all("apart", 2 * width) + "  %i32 = tile.range 0 to 512 : tensor<512xi32>\n" +
         "  %i = arith.extsi %i32 : tensor<512xi32> to tensor<512xi64>\n" + "  %q = tile.div " + mode + " %i, %width" +
         line("i64") + "  %r = tile.rem " + mode + " %i, %width" + line("i64") +
         "  %start = arith.muli %q, %apart overflow<nsw>" + line("i64") + "  %at = arith.addi %start, %r overflow<nsw>" +
         line("i64") + "  %most = tile.splat %n : i64 -> tensor<512xi64>\n" + "  %below = arith.cmpi slt, %r, %most" +
         line("i64") + "  %ax = tile.access %x, %zero steps(%at) bounds " + (masked ? "[2] (%below)" : "[0] ()") + access +
         "  %ao = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<512xf32>\n" +
         "  %a = tile.load %ax : !tile.access<512xf32> -> tensor<512xf32>\n" +
         "  tile.store %ao, %a : !tile.access<512xf32>, tensor<512xf32>\n  tile.return\n}\n";
}
bool gathers(const std::string &llvm) { return llvm.find("masked.gather") != std::string::npos; }
} // namespace

TEST(Segments, LongRowsAreReadAsTheyLie) {
  for (const char *target : {"avx2", "avx512"})
    for (const char *mode : {"trunc", "floor"})
      for (bool masked : {false, true}) {
        std::string text = llvmOf(rowsOf(100, mode, masked), target);
        EXPECT_FALSE(gathers(text)) << target << " " << mode << "\n" << text;
      }
}

// Where the machine moves elements under masks, a comparison ends no segment: lanes' positions are compared with where it turns.
TEST(Segments, ComparisonsAreThoseOfPositions) {
  for (const char *target : {"avx2", "avx512"}) {
    std::string text = llvmOf(rowsOf(100, "trunc", true), target);
    unsigned loads = 0;
    for (size_t at = text.find("@llvm.masked.load"); at != std::string::npos; at = text.find("@llvm.masked.load", at + 1))
      ++loads;
    EXPECT_EQ(loads, 3u) << "of whole vectors, of the last one, and the declaration\n" << text;
    for (const char *lanes : {"8", "16"})
      EXPECT_EQ(text.find("icmp slt <" + std::string(lanes) + " x i64>"), std::string::npos) << text;
  }
}

namespace {
unsigned countOf(const std::string &text, const std::string &part) {
  unsigned count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}
/// The rows, stored where an element's remainder is below %n.
std::string storedBelow() {
  std::string text = rowsOf(100, "trunc");
  size_t at = text.find("bounds [0] ()", text.find("%ao = "));
  text.replace(at, 13, "bounds [2] (%below)");
  return text.replace(text.find("(i64), ()", at), 9, "(i64), (tensor<512xi1>)");
}
} // namespace

// Masked stores are slow without registers for masks: what is compared ends segments, and whole vectors are stored, or go where nobody reads.
TEST(Segments, StoresUnderComparisonsAreOfWholeVectors) {
  std::string text = llvmOf(storedBelow(), "avx2");
  EXPECT_EQ(countOf(text, "call void @llvm.masked.store"), 1u) << "of a segment's rest\n" << text;
  EXPECT_EQ(countOf(text, "store <8 x float>"), 1u) << text;
  EXPECT_EQ(countOf(text, "= alloca <8 x float>"), 1u) << text;
  text = llvmOf(storedBelow(), "avx512");
  EXPECT_EQ(countOf(text, "alloca"), 0u) << text;
}

// As the canonicalizer writes both bounds of an index.
TEST(Segments, UnsignedBoundsAreSignedOnes) {
  std::string text = storedBelow();
  text.replace(text.find("cmpi slt, %r, %most"), 19, "cmpi ult, %at, %apart");
  EXPECT_EQ(llvmOf(text, "avx2").find("icmp ult <"), std::string::npos);
}

TEST(Segments, ShortRowsAreGathered) { EXPECT_TRUE(gathers(llvmOf(rowsOf(3, "trunc"), "avx2"))); }

TEST(Segments, OfUnsignedQuotientsNothingIsKnown) { EXPECT_TRUE(gathers(llvmOf(rowsOf(100, "unsigned"), "avx2"))); }

namespace {
/// o[0] = the sum of x[i / width * 2 * width + i % width] for 512 elements.
std::string sumOf(int64_t width) {
  std::string text = rowsOf(width, "trunc");
  text.erase(text.find("  %ao = "), text.find("  %a = ") - text.find("  %ao = "));
  text.erase(text.find("  tile.store"));
  return text + "  %s = tile.reduce %a axis 0 {\n  ^bb0(%l: f32, %m: f32):\n    %t = arith.addf %l, %m : f32\n"
                "    tile.yield %t : f32\n  } : tensor<512xf32> -> f32\n"
                "  %ao = tile.access %o, %zero steps() bounds []() : !tile.ptr<f32>, (), () -> !tile.access<f32>\n"
                "  tile.store %ao, %s : !tile.access<f32>, f32\n  tile.return\n}\n";
}
} // namespace

TEST(Segments, SumsReadLongRowsAsTheyLie) {
  for (const char *target : {"avx2", "avx512"})
    EXPECT_FALSE(gathers(llvmOf(sumOf(100), target)));
  EXPECT_TRUE(gathers(llvmOf(sumOf(3), "avx2")));
}

// The sums of a nest are computed where the next one's segments cannot take them: on one of two sides.
TEST(Segments, CarryNothingOfTheNestBefore) {
  std::string text = rowsOf(100, "trunc");
  size_t body = text.find("  %i32 = ");
  text.insert(body, "  %few = tile.access %x, %zero steps(%one) bounds [1] (%zero, %n) : !tile.ptr<f32>, (i64), (i64, i64) -> "
                    "!tile.access<64xf32>\n" +
                        load("v", "few") + total("s", "v") +
                        "  %first = tile.access %o, %n steps() bounds []() : !tile.ptr<f32>, (), () -> !tile.access<f32>\n"
                        "  tile.store %first, %s : !tile.access<f32>, f32\n");
  for (const char *target : {"avx2", "avx512"})
    EXPECT_FALSE(gathers(llvmOf(text, target)));
}
