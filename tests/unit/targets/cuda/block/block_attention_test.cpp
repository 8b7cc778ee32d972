// Attention forward from tile IR through block IR to code, on the CPU: roles are fibers, boxes come early or late.
#include "tests/unit/targets/cpu/run_kernel.h"
#include "tests/unit/targets/with.h"
#include "tests/unit/targets/cuda/numbers.h"
#include "tests/emulator/emulator.h"

using namespace tilery;
using namespace tilery::test;
using emulator::Timing;

namespace {
struct Attention {
  int m, keys, d; // of a program's tile and of a step
  int n, heads;   // rows of a head, a multiple of both
  bool causal;    // a loop up to the program's rows, and one over them that masks
  const char *schedule = "";
  float scale = 0.125f;
  bool anew = false;    // queries are loaded in each step
  bool natural = false; // exponentials of e instead of 2
  bool onMask = false;  // causal: one loop, whose products of queries and keys start from 0, or from -inf where a key comes later
  bool byWarps = false; // for GPUs before Hopper
};
std::ostream &operator<<(std::ostream &out, const Attention &a) {
  return out << a.m << " rows, " << a.keys << " keys, " << a.d << " wide, " << a.heads << " heads of " << a.n
             << (a.causal ? ", causal " : " ") << a.schedule << " scale " << a.scale << (a.anew ? ", queries anew" : "")
             << (a.natural ? ", natural" : "") << (a.onMask ? ", onto masks" : "");
}

// MxN scores, MxD sums.
constexpr const char *loopText = R"(
  %sum@, %total@, %top@ = scf.for %i = %from@ to %to@ step %keys iter_args(%acc = %acc@, %old = %old@, %most = %most@) -> (tensor<MxDxf32>, tensor<Mxf32>, tensor<Mxf32>) : i32 {
    %w = arith.extsi %i : i32 to i64
    %at = arith.addi %base, %w overflow<nsw> : i64
    %first = arith.muli %at, %wide overflow<nsw> : i64
    %ak = tile.access %k, %first steps(%wide, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <NxDxf16>
    %tk = tile.load %ak : !tile.access<NxDxf16> -> tensor<NxDxf16>
    %kt = tile.permute %tk [1, 0] : tensor<NxDxf16> -> tensor<DxNxf16>
    START
    %s = tile.dot %tq, %kt, %from : tensor<MxDxf16>, tensor<DxNxf16> -> tensor<MxNxf32>
    %scaled = arith.mulf %s, %scales : tensor<MxNxf32>
    MASK
    %rows = tile.reduce %seen axis 1 {
    ^bb0(%a: f32, %b: f32):
      %x = arith.maxnumf %a, %b : f32
      tile.yield %x : f32
    } : tensor<MxNxf32> -> tensor<Mxf32>
    %new = arith.maxnumf %most, %rows : tensor<Mxf32>
    %column = tile.expand_dims %new axis 1 : tensor<Mxf32> -> tensor<Mx1xf32>
    %tops = tile.broadcast %column : tensor<Mx1xf32> -> tensor<MxNxf32>
    %below = arith.subf %seen, %tops : tensor<MxNxf32>
    %p = math.exp2 %below : tensor<MxNxf32>
    %less = arith.subf %most, %new : tensor<Mxf32>
    %keep = math.exp2 %less : tensor<Mxf32>
    %kc = tile.expand_dims %keep axis 1 : tensor<Mxf32> -> tensor<Mx1xf32>
    %kb = tile.broadcast %kc : tensor<Mx1xf32> -> tensor<MxDxf32>
    %kept = arith.mulf %acc, %kb : tensor<MxDxf32>
    %h = arith.truncf %p : tensor<MxNxf32> to tensor<MxNxf16>
    %av = tile.access %v, %first steps(%wide, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <NxDxf16>
    %tv = tile.load %av : !tile.access<NxDxf16> -> tensor<NxDxf16>
    %next = tile.dot %h, %tv, %kept : tensor<MxNxf16>, tensor<NxDxf16> -> tensor<MxDxf32>
    %part = tile.reduce %p axis 1 {
    ^bb0(%a: f32, %b: f32):
      %x = arith.addf %a, %b : f32
      tile.yield %x : f32
    } : tensor<MxNxf32> -> tensor<Mxf32>
    %before = arith.mulf %old, %keep : tensor<Mxf32>
    %all = arith.addf %before, %part : tensor<Mxf32>
    scf.yield %next, %all, %new : tensor<MxDxf32>, tensor<Mxf32>, tensor<Mxf32>
  }
)";
constexpr const char *maskText = R"(
    %offsets = tile.range 0 to N : tensor<Nxi32>
    %is = tile.splat %i : i32 -> tensor<Nxi32>
    %number = arith.addi %is, %offsets : tensor<Nxi32>
    %line = tile.expand_dims %number axis 0 : tensor<Nxi32> -> tensor<1xNxi32>
    %lines = tile.broadcast %line : tensor<1xNxi32> -> tensor<MxNxi32>
    %exists = arith.cmpi sge, %rowNumbers, %lines : tensor<MxNxi32>
    %seen = arith.select %exists, %scaled, %nothing : tensor<MxNxi1>, tensor<MxNxf32>)";

constexpr const char *queryText = R"(
    %tq = tile.load %aq : !tile.access<MxDxf16> -> tensor<MxDxf16>)";

std::string program(const Attention &a) {
  auto loop = [&](const char *number, bool masked) {
    std::string mask = with(with(maskText, "%scaled", "%scores"), "%seen", "%from"); // what products start from
    std::string start = (a.anew ? queryText : "") + (masked && a.onMask ? mask : "");
    std::string text = with(with(loopText, "@", number), "START", start);
    text = with(text, "MASK", masked && !a.onMask ? maskText : "");
    text = masked && !a.onMask ? text : with(text, "%seen", "%scaled");
    return masked && a.onMask ? text : with(text, "%from :", "%scores :");
  };
  std::string first = loop("1", a.onMask), second = loop("2", true);
  std::string text = R"(
tile.kernel @k(%q: !tile.ptr<f16> ALIGNED, %k: !tile.ptr<f16> ALIGNED, %v: !tile.ptr<f16> ALIGNED, %o: !tile.ptr<f16> ALIGNED,
               %length: i32, %scale: f32) {
  %c1 = arith.constant 1 : i64
  %i0 = arith.constant 0 : i32
  %wide = arith.constant D : i64
  %keys = arith.constant N : i32
  %m = arith.constant M : i32
  %scores = arith.constant dense<0.0> : tensor<MxNxf32>
  %nothing = arith.constant dense<0xFF800000> : tensor<MxNxf32>
  %acc1 = arith.constant dense<0.0> : tensor<MxDxf32>
  %old1 = arith.constant dense<0.0> : tensor<Mxf32>
  %most1 = arith.constant dense<0xFF800000> : tensor<Mxf32>
  %scales = tile.splat %scale : f32 -> tensor<MxNxf32>
  %id = tile.program_id 0
  %head = tile.program_id 1
  %row = arith.muli %id, %m overflow<nsw> : i32
  %end = arith.addi %row, %m overflow<nsw> : i32
  %headWide = arith.extsi %head : i32 to i64
  %rowsWide = arith.extsi %length : i32 to i64
  %base = arith.muli %headWide, %rowsWide overflow<nsw> : i64
  %rowWide = arith.extsi %row : i32 to i64
  %ahead = arith.addi %base, %rowWide overflow<nsw> : i64
  %start = arith.muli %ahead, %wide overflow<nsw> : i64
  %aq = tile.access %q, %start steps(%wide, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <MxDxf16>
  QUERY
  %numbers = tile.range 0 to M : tensor<Mxi32>
  %ids = tile.splat %row : i32 -> tensor<Mxi32>
  %own = arith.addi %ids, %numbers : tensor<Mxi32>
  %ownColumn = tile.expand_dims %own axis 1 : tensor<Mxi32> -> tensor<Mx1xi32>
  %rowNumbers = tile.broadcast %ownColumn : tensor<Mx1xi32> -> tensor<MxNxi32>
)";
  text = with(text, "QUERY", a.anew ? "" : queryText);
  text += a.onMask   ? with(with(first, "%from1", "%i0"), "%to1", "%end")
          : a.causal ? with(with(first, "%from1", "%i0"), "%to1", "%row") + with(with(second, "%from2", "%row"), "%to2", "%end")
                     : with(with(first, "%from1", "%i0"), "%to1", "%length");
  text = with(with(with(text, "%acc2", "%sum1"), "%old2", "%total1"), "%most2", "%top1");
  std::string last = a.causal && !a.onMask ? "2" : "1";
  text += "  %totals = tile.expand_dims %total" + last + R"( axis 1 : tensor<Mxf32> -> tensor<Mx1xf32>
  %divisors = tile.broadcast %totals : tensor<Mx1xf32> -> tensor<MxDxf32>
  %quotient = arith.divf %sum)" +
          last + R"(, %divisors : tensor<MxDxf32>
  %result = arith.truncf %quotient : tensor<MxDxf32> to tensor<MxDxf16>
  %ao = tile.access %o, %start steps(%wide, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <MxDxf16>
  tile.store %ao, %result : !tile.access<MxDxf16>, tensor<MxDxf16>
  tile.return
})";
  text = with(text, "math.exp2", a.natural ? "math.exp" : "math.exp2");
  text = with(text, "ALIGNED", "{tile.divisibility = 16 : i64}");
  for (auto [mark, size] : {std::pair("M", a.m), {"N", a.keys}, {"D", a.d}})
    for (const char *around : {"<_x", "x_x", "to _ ", "constant _ "})
      text = with(text, with(around, "_", mark), with(around, "_", std::to_string(size)));
  return text;
}

/// The exact results.
std::vector<double> attention(const Attention &a, const Numbers &q, const Numbers &k, const Numbers &v) {
  std::vector<double> result;
  for (int h = 0; h < a.heads; ++h)
    for (int i = 0; i < a.n; ++i) {
      std::vector<double> weights(a.causal ? i + 1 : a.n);
      double total = 0;
      for (size_t j = 0; j < weights.size(); ++j) {
        double score = 0;
        for (int x = 0; x < a.d; ++x)
          score += double(q.values[(h * a.n + i) * a.d + x]) * k.values[(h * a.n + j) * a.d + x];
        total += weights[j] = a.natural ? std::exp(score * a.scale) : std::exp2(score * a.scale);
      }
      for (int x = 0; x < a.d; ++x) {
        double sum = 0;
        for (size_t j = 0; j < weights.size(); ++j)
          sum += weights[j] * v.values[(h * a.n + j) * a.d + x];
        result.push_back(sum / total);
      }
    }
  return result;
}

class BlockAttention : public testing::TestWithParam<Attention> {};

TEST_P(BlockAttention, IsRight) {
  Attention a = GetParam();
  setenv("TILERY_SCHEDULE", a.schedule, 1);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(program(a), &context());
  ASSERT_TRUE(module) << program(a);
  auto kernel = emulator::Kernel::translate(*module, a.byWarps ? emulator::Path::Warps : emulator::Path::Block, true, 0);
  unsetenv("TILERY_SCHEDULE");
  ASSERT_TRUE(kernel);
  size_t count = size_t(a.heads) * a.n * a.d;
  Numbers q(count, 1, true), k(count, 2, true), v(count, 3, true);
  std::vector<double> expected = attention(a, q, k, v);
  uint32_t grid[] = {uint32_t(a.n / a.m), uint32_t(a.heads), 1};
  for (Timing timing : {Timing::CopiesAtOnce, Timing::CopiesLate}) {
    Aligned<uint16_t> out(count, nanOfHalf);
    std::vector<uint64_t> slots = {slot(q.data), slot(k.data), slot(v.data), slot(out.data), slot(a.n), slot(a.scale)};
    ASSERT_EQ(kernel->run(grid, slots.data(), timing), "");
    double worst = 0;
    for (size_t i = 0; i < count; ++i)
      worst = std::max(worst, distance(valueOfHalf(out.data[i]), expected[i]));
    // Weights and results are rounded to f16, values are at most 2: 2^-11 of both, and f32's errors, a thousandth of that.
    EXPECT_LE(worst, 2 * 2 * 2.0 / 2048);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, BlockAttention,
                         testing::Values(Attention{64, 64, 64, 192, 2, false}, Attention{64, 64, 64, 192, 2, false, "overlap=0"},
                                         Attention{128, 64, 128, 256, 1, false}, Attention{128, 128, 64, 256, 2, true},
                                         Attention{128, 64, 64, 256, 2, true}, Attention{64, 64, 64, 256, 3, true, "longest=0"},
                                         Attention{64, 128, 128, 128, 1, false}, Attention{192, 64, 64, 192, 1, false},
                                         Attention{128, 64, 96, 256, 1, true}, Attention{64, 64, 32, 192, 1, false},
                                         Attention{128, 64, 80, 256, 1, true}, Attention{64, 64, 48, 192, 1, false},
                                         Attention{128, 128, 112, 256, 1, false},
                                         Attention{64, 64, 64, 192, 1, true, "", -0.125f},
                                         Attention{64, 64, 64, 192, 1, true, "", 0.0f},
                                         Attention{128, 64, 64, 256, 2, false, "", 0.125f, true},
                                         Attention{64, 64, 64, 256, 1, true, "", 0.125f, true, false, true},
                                         Attention{64, 64, 64, 256, 1, true, "", 0.125f, false, true},
                                         Attention{128, 128, 128, 384, 2, true, "", 0.125f, false, true, true}));

Attention byWarps(Attention a) {
  a.byWarps = true;
  return a;
}
INSTANTIATE_TEST_SUITE_P(Warps, BlockAttention,
                         testing::Values(byWarps({64, 64, 64, 192, 2, false}), byWarps({128, 128, 64, 256, 2, true}),
                                         byWarps({128, 64, 64, 256, 2, false, "stages=3"}),
                                         byWarps({64, 64, 64, 192, 1, true, "stages=2", 0.0f}),
                                         byWarps({128, 128, 128, 384, 1, true}), byWarps({128, 64, 96, 256, 1, true}),
                                         byWarps({64, 64, 32, 192, 1, false}), byWarps({64, 64, 80, 192, 1, true})));
} // namespace
