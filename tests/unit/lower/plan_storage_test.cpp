// Where stored tiles lie: what is alive together lies apart, what is not shares memory, what does not fit lies outside.
#include "compiler/lower/plan.h"
#include "compiler/lower/read_behind.h"
#include "tests/unit/lower/plan.h"

using namespace tilery;
using namespace tilery::test;

namespace {
struct Buffer {
  int64_t elements, offset, first, last;
};
/// "  #0: 64 x f32 at 128 alive 3..9"
std::vector<Buffer> buffersOf(const std::string &plan) {
  std::vector<Buffer> buffers;
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(plan).split(lines, '\n', -1, false);
  for (llvm::StringRef line : lines) {
    Buffer buffer;
    char type[32];
    int index;
    if (std::sscanf(line.str().c_str(), " #%d: %ld x %31s at %ld alive %ld..%ld", &index, &buffer.elements, type, &buffer.offset,
                    &buffer.first, &buffer.last) == 6)
      buffers.push_back(buffer);
  }
  return buffers;
}
bool together(const Buffer &a, const Buffer &b) { return a.first <= b.last && b.first <= a.last; }

/// `count` rows of exponentials, each read by the reduction and again by the store after it.
std::string softmaxes(int count) {
  std::string body;
  for (int i = 0; i < count; ++i) {
    auto name = [&](const char *letter) { return letter + std::to_string(i); };
    body += load(name("a"), "ax") + apply(name("b"), "math.exp", "%" + name("a")) + total(name("t"), name("b")) + "  %" +
            name("s") + " = tile.splat %" + name("t") + " : f32 -> tensor<64xf32>\n" +
            apply(name("c"), "arith.mulf", "%" + name("b") + ", %" + name("s")) + store("ao", name("c"));
  }
  return overRows(body);
}

lower::Plan planWith(std::initializer_list<std::tuple<uint64_t, int64_t, int64_t>> buffers) {
  lower::Plan plan;
  for (auto [bytes, first, last] : buffers) {
    lower::ScratchBuffer buffer;
    buffer.bytes = bytes;
    buffer.first = first;
    buffer.last = last;
    plan.buffers.push_back(buffer);
  }
  return plan;
}
} // namespace

TEST(PlanStorage, TilesThatAreAliveTogetherLieApart) {
  std::string both = overRows(load("a", "ax") + load("b", "ay") + apply("ea", "math.exp", "%a") + apply("eb", "math.exp", "%b") +
                              total("ta", "ea") + total("tb", "eb") + "  %t = arith.addf %ta, %tb : f32\n" +
                              "  %s = tile.splat %t : f32 -> tensor<64xf32>\n" + apply("c", "arith.mulf", "%ea, %eb") +
                              apply("d", "arith.mulf", "%c, %s") + store("ao", "d"));
  for (const std::string &text : {both, softmaxes(1), softmaxes(4)}) {
    Compiled compiled = compileText(text, planOptions("avx512", true));
    std::vector<Buffer> buffers = buffersOf(compiled.code.plan);
    ASSERT_FALSE(buffers.empty()) << compiled.code.plan;
    for (size_t i = 0; i < buffers.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (const Buffer &a = buffers[i], &b = buffers[j]; together(a, b))
          EXPECT_TRUE(a.offset + 4 * a.elements <= b.offset || b.offset + 4 * b.elements <= a.offset) << compiled.code.plan;
  }
}

TEST(PlanStorage, TilesThatAreNeverAliveTogetherShareMemory) {
  auto arena = [](int count) {
    return compileText(softmaxes(count), planOptions("avx512", true)).code.kernels[0].scratchBytes - lower::readBehind;
  };
  // The next row is computed in the nest that stores the one before: two are alive.
  EXPECT_EQ(arena(2), 2 * arena(1));
  EXPECT_EQ(arena(8), arena(2));
}

TEST(PlanStorage, FirstFit) {
  lower::Plan plan = planWith({{256, 0, 10}, {128, 2, 4}, {128, 5, 8}, {64, 3, 6}, {64, 11, 12}});
  lower::placeBuffers(plan, UINT64_MAX);
  std::vector<uint64_t> offsets;
  for (const lower::ScratchBuffer &buffer : plan.buffers)
    offsets.push_back(buffer.offset);
  EXPECT_EQ(offsets, (std::vector<uint64_t>{0, 256, 256, 384, 0}));
  EXPECT_EQ(plan.arenaBytes, 448u);
  EXPECT_EQ(plan.workspaceBytes, 0u);
}

TEST(PlanStorage, TheLargestLieOutsideWhereTheArenaIsTooSmall) {
  lower::Plan plan = planWith({{256, 0, 10}, {1024, 0, 10}, {512, 0, 10}});
  lower::placeBuffers(plan, 800);
  EXPECT_FALSE(plan.buffers[0].outside || plan.buffers[2].outside);
  EXPECT_TRUE(plan.buffers[1].outside);
  EXPECT_EQ(plan.arenaBytes, 768u);
  EXPECT_EQ(plan.workspaceBytes, 1024u);
  lower::placeBuffers(plan, UINT64_MAX); // again, with more room
  EXPECT_FALSE(plan.buffers[1].outside);
  EXPECT_EQ(plan.arenaBytes, 1792u);
}

TEST(PlanStorage, AnArenaIsNeverEmpty) {
  lower::Plan plan;
  lower::placeBuffers(plan, UINT64_MAX);
  EXPECT_EQ(plan.arenaBytes, 64u);
}

TEST(PlanStorage, ALoopsResultIsDefinedInTheCarriedBuffer) {
  // The sum of a loop lies in one buffer: no copy after it, none of its initial value beyond the one that sets it.
  std::string text = overRows("  %init = arith.constant dense<0.0> : tensor<64xf32>\n"
                              "  %r = scf.for %i = %zero to %n step %one iter_args(%u = %init) -> (tensor<64xf32>) : i64 {\n" +
                              load("a", "ax") + apply("w", "arith.addf", "%u, %a") + "    scf.yield %w : tensor<64xf32>\n  }\n" +
                              store("ao", "r"));
  Compiled compiled = compileText(text, planOptions("avx512", true));
  EXPECT_EQ(buffersOf(compiled.code.plan).size(), 1u) << compiled.code.plan;
  EXPECT_EQ(stepsOf(text, planOptions("avx512", true)), "scf.for for 16 vectors at a time\n  nest 64: copy #0\nnest 64: store");
}

TEST(PlanStorage, AProductAddsToTheCarriedTileThatIsScaledInPlace) {
  auto text = [](const std::string &after) {
    return R"(tile.kernel @k(%x: !tile.ptr<f32>, %s: !tile.ptr<f32>, %o: !tile.ptr<f32>, %n: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %width = arith.constant 32 : i64
  %ax = tile.access %x, %zero steps(%width, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> !tile.access<32x32xf32>
  %as = tile.access %s, %zero steps(%one, %zero) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> !tile.access<32x32xf32>
  %ao = tile.access %o, %zero steps(%width, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> !tile.access<32x32xf32>
  %init = arith.constant dense<0.0> : tensor<32x32xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%u = %init) -> (tensor<32x32xf32>) : i64 {
    %a = tile.load %ax : !tile.access<32x32xf32> -> tensor<32x32xf32>
    %f = tile.load %as : !tile.access<32x32xf32> -> tensor<32x32xf32>
    %e = math.exp2 %f : tensor<32x32xf32>
    %v = arith.mulf %u, %e : tensor<32x32xf32>
    %w = tile.dot %a, %a, %v : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
)" + after +
           R"(    scf.yield %w : tensor<32x32xf32>
  }
  tile.store %ao, %r : !tile.access<32x32xf32>, tensor<32x32xf32>
  tile.return
}
)";
  };
  EXPECT_EQ(stepsOf(text(""), planOptions("avx512")).find("copy #0\nscf.for\n  nest 32 32: copy #0\n  tile.dot"), 12u)
      << stepsOf(text(""), planOptions("avx512"));
  // The old sums are read once more: the product has a buffer of its own.
  std::string again =
      stepsOf(text("    tile.store %ao, %u : !tile.access<32x32xf32>, tensor<32x32xf32>\n"), planOptions("avx512"));
  EXPECT_NE(again.find("copy #0\n  tile.dot\n  nest 32 32: store, copy #1"), std::string::npos) << again;
}
