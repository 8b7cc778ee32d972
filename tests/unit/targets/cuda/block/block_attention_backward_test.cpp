// Attention backward from tile IR through block IR to code, on the CPU: loops with three and four products, two of whose sums are carried.
#include "tests/unit/targets/cpu/run_kernel.h"
#include "tests/unit/targets/with.h"
#include "tests/unit/targets/cuda/numbers.h"
#include "tests/emulator/emulator.h"

using namespace tilery;
using namespace tilery::test;
using emulator::Timing;

namespace {
struct Backward {
  bool keys;      // rows are keys, and the sums dK and dV; else queries and dQ
  int m, step, d; // rows of a program, of a step
  int n, heads;   // rows of a head, a multiple of both
  bool causal;
  const char *schedule = "";
  bool once = false; // dK, dV and, added up in memory, dQ
};
std::ostream &operator<<(std::ostream &out, const Backward &a) {
  return out << (a.keys ? "dK and dV, " : "dQ, ") << a.m << " rows in steps of " << a.step << ", " << a.d << " wide, " << a.heads
             << " heads of " << a.n << (a.causal ? ", causal " : " ") << (a.once ? "once " : "") << a.schedule;
}

// x is the program's K (or Q), x2 its V (dO); y are the steps' Q (K), y2 their dO (V).
constexpr const char *loopText = R"(
  %a@, %b@ = scf.for %i = %from@ to %to@ step %steps iter_args(%sum = %sum@, %other = %other@) -> (tensor<MxDxf32>, tensor<MxDxf32>) : i32 {
    %w = arith.extsi %i : i32 to i64
    %at = arith.addi %base, %w overflow<nsw> : i64
    %start = arith.muli %at, %wide overflow<nsw> : i64
    %ay = tile.access %y, %start steps(%wide, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <NxDxf16>
    %ty = tile.load %ay : !tile.access<NxDxf16> -> tensor<NxDxf16>
    %yt = tile.permute %ty [1, 0] : tensor<NxDxf16> -> tensor<DxNxf16>
    LOGS
    %s = tile.dot %tx, %yt, %zeros : tensor<MxDxf16>, tensor<DxNxf16> -> tensor<MxNxf32>
    %scaled = arith.mulf %s, %scales : tensor<MxNxf32>
    %less = arith.subf %scaled, %logRows : tensor<MxNxf32>
    %weights = math.exp2 %less : tensor<MxNxf32>
    MASK
    %ay2 = tile.access %y2, %start steps(%wide, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <NxDxf16>
    %ty2 = tile.load %ay2 : !tile.access<NxDxf16> -> tensor<NxDxf16>
    %p16 = arith.truncf %p : tensor<MxNxf32> to tensor<MxNxf16>
    OTHER
    %y2t = tile.permute %ty2 [1, 0] : tensor<NxDxf16> -> tensor<DxNxf16>
    %dp = tile.dot %tx2, %y2t, %zeros : tensor<MxDxf16>, tensor<DxNxf16> -> tensor<MxNxf32>
    %apart = arith.subf %dp, %dotRows : tensor<MxNxf32>
    %ds = arith.mulf %p, %apart : tensor<MxNxf32>
    %ds16 = arith.truncf %ds : tensor<MxNxf32> to tensor<MxNxf16>
    %next = tile.dot %ds16, %ty, %sum : tensor<MxNxf16>, tensor<NxDxf16> -> tensor<MxDxf32>
    ADD
    scf.yield %next, %nextOther : tensor<MxDxf32>, tensor<MxDxf32>
  }
)";
constexpr const char *linesText = R"(
    %al = tile.access %logs, %at steps(%c1) bounds [0]() : <f32>, (i64), () -> <Nxf32>
    %l = tile.load %al : !tile.access<Nxf32> -> tensor<Nxf32>
    %ll = tile.expand_dims %l axis 0 : tensor<Nxf32> -> tensor<1xNxf32>
    %logRows = tile.broadcast %ll : tensor<1xNxf32> -> tensor<MxNxf32>
    %ad = tile.access %dots, %at steps(%c1) bounds [0]() : <f32>, (i64), () -> <Nxf32>
    %dl = tile.load %ad : !tile.access<Nxf32> -> tensor<Nxf32>
    %dll = tile.expand_dims %dl axis 0 : tensor<Nxf32> -> tensor<1xNxf32>
    %dotRows = tile.broadcast %dll : tensor<1xNxf32> -> tensor<MxNxf32>)";
constexpr const char *columnsText = R"(
  %al = tile.access %logs, %ahead steps(%c1) bounds [0]() : <f32>, (i64), () -> <Mxf32>
  %l = tile.load %al : !tile.access<Mxf32> -> tensor<Mxf32>
  %lc = tile.expand_dims %l axis 1 : tensor<Mxf32> -> tensor<Mx1xf32>
  %logRows = tile.broadcast %lc : tensor<Mx1xf32> -> tensor<MxNxf32>
  %ad = tile.access %dots, %ahead steps(%c1) bounds [0]() : <f32>, (i64), () -> <Mxf32>
  %dl = tile.load %ad : !tile.access<Mxf32> -> tensor<Mxf32>
  %dc = tile.expand_dims %dl axis 1 : tensor<Mxf32> -> tensor<Mx1xf32>
  %dotRows = tile.broadcast %dc : tensor<Mx1xf32> -> tensor<MxNxf32>)";
constexpr const char *addText = R"(
    %turned = tile.permute %ds16 [1, 0] : tensor<MxNxf16> -> tensor<NxMxf16>
    %part = tile.dot %turned, %tx, %parts : tensor<NxMxf16>, tensor<MxDxf16> -> tensor<NxDxf32>
    %aq = tile.access %sums, %start steps(%wide, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <NxDxf32>
    %before = tile.atomic_rmw fadd %aq, %part {order = 0 : i32} : !tile.access<NxDxf32>, tensor<NxDxf32> -> tensor<NxDxf32>)";
constexpr const char *maskText = R"(
    %offsets = tile.range 0 to N : tensor<Nxi32>
    %is = tile.splat %i : i32 -> tensor<Nxi32>
    %number = arith.addi %is, %offsets : tensor<Nxi32>
    %line = tile.expand_dims %number axis 0 : tensor<Nxi32> -> tensor<1xNxi32>
    %lines = tile.broadcast %line : tensor<1xNxi32> -> tensor<MxNxi32>
    %exists = arith.cmpi ORDER, %lines, %rowNumbers : tensor<MxNxi32>
    %p = arith.select %exists, %weights, %zeros : tensor<MxNxi1>, tensor<MxNxf32>)";

std::string program(const Backward &a) {
  std::string loop = with(loopText, "OTHER",
                          a.keys ? R"(
    %nextOther = tile.dot %p16, %ty2, %other : tensor<MxNxf16>, tensor<NxDxf16> -> tensor<MxDxf32>)"
                                 : "");
  loop = with(with(loop, "LOGS", a.keys ? linesText : ""), a.keys ? "@none" : "%nextOther", "%other");
  loop = with(loop, "ADD", a.once ? addText : "");
  auto number = [&](const std::string &text, const char *mark, bool masked) {
    std::string one = with(with(text, "@", mark), "MASK", masked ? maskText : "");
    return masked ? with(one, "ORDER", a.keys ? "sge" : "sle") : with(one, "%p,", "%weights,");
  };
  auto fix = [](std::string one) { return with(one, "truncf %p ", "truncf %weights "); };
  std::string loops;
  if (!a.causal)
    loops = with(with(fix(number(loop, "1", false)), "%from1", "%i0"), "%to1", "%length");
  else if (a.keys)
    loops = with(with(number(loop, "1", true), "%from1", "%row"), "%to1", "%end") +
            with(with(fix(number(loop, "2", false)), "%from2", "%end"), "%to2", "%length");
  else
    loops = with(with(fix(number(loop, "1", false)), "%from1", "%i0"), "%to1", "%row") +
            with(with(number(loop, "2", true), "%from2", "%row"), "%to2", "%end");
  loops = with(with(loops, "%sum2", "%a1"), "%other2", "%b1");
  std::string last = a.causal ? "2" : "1";
  std::string text = R"(
tile.kernel @k(%x: !tile.ptr<f16> ALIGNED, %x2: !tile.ptr<f16> ALIGNED, %y: !tile.ptr<f16> ALIGNED, %y2: !tile.ptr<f16> ALIGNED,
               %logs: !tile.ptr<f32> ALIGNED, %dots: !tile.ptr<f32> ALIGNED, %o: !tile.ptr<f16> ALIGNED, %o2: !tile.ptr<f16> ALIGNED,
               %length: i32 ALIGNED, %scale: f32, %sums: !tile.ptr<f32> ALIGNED) {
  %c1 = arith.constant 1 : i64
  %i0 = arith.constant 0 : i32
  %wide = arith.constant D : i64
  %steps = arith.constant N : i32
  %m = arith.constant M : i32
  %zeros = arith.constant dense<0.0> : tensor<MxNxf32>
  %sum1 = arith.constant dense<0.0> : tensor<MxDxf32>
  %other1 = arith.constant dense<0.0> : tensor<MxDxf32>
  %parts = arith.constant dense<0.0> : tensor<NxDxf32>
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
  %first = arith.muli %ahead, %wide overflow<nsw> : i64
  %ax = tile.access %x, %first steps(%wide, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <MxDxf16>
  %tx = tile.load %ax : !tile.access<MxDxf16> -> tensor<MxDxf16>
  %ax2 = tile.access %x2, %first steps(%wide, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <MxDxf16>
  %tx2 = tile.load %ax2 : !tile.access<MxDxf16> -> tensor<MxDxf16>
  %numbers = tile.range 0 to M : tensor<Mxi32>
  %ids = tile.splat %row : i32 -> tensor<Mxi32>
  %own = arith.addi %ids, %numbers : tensor<Mxi32>
  %ownColumn = tile.expand_dims %own axis 1 : tensor<Mxi32> -> tensor<Mx1xi32>
  %rowNumbers = tile.broadcast %ownColumn : tensor<Mx1xi32> -> tensor<MxNxi32>)" +
                     std::string(a.keys ? "" : columnsText) + loops + "  %h = arith.truncf %a" + last +
                     R"( : tensor<MxDxf32> to tensor<MxDxf16>
  %ao = tile.access %o, %first steps(%wide, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <MxDxf16>
  tile.store %ao, %h : !tile.access<MxDxf16>, tensor<MxDxf16>
)";
  if (a.keys)
    text += "  %h2 = arith.truncf %b" + last + R"( : tensor<MxDxf32> to tensor<MxDxf16>
  %ao2 = tile.access %o2, %first steps(%wide, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <MxDxf16>
  tile.store %ao2, %h2 : !tile.access<MxDxf16>, tensor<MxDxf16>
)";
  text = with(text + "  tile.return\n}", "ALIGNED", "{tile.divisibility = 16 : i64}");
  for (auto [mark, size] : {std::pair("M", a.m), {"N", a.step}, {"D", a.d}})
    for (const char *around : {"<_x", "x_x", "to _ ", "constant _ "})
      text = with(text, with(around, "_", mark), with(around, "_", std::to_string(size)));
  return text;
}

/// Random quarters from 0 to 2.
struct Quarters : Aligned<float> {
  Quarters(size_t count, unsigned seed) : Aligned(count) {
    std::mt19937 random(seed);
    for (size_t i = 0; i < count; ++i)
      data[i] = float(random() % 9) / 4;
  }
};

/// Exact sums, and what the rounding of their terms' first factors to f16 may change: 2^-11 of each, and a little for f32's.
struct Expected {
  std::vector<double> sums, errors;
  explicit Expected(size_t count) : sums(count), errors(count) {}
  void add(size_t at, double weight, double value) {
    sums[at] += weight * value;
    errors[at] += std::abs(weight * value) / 2000;
  }
  void check(const Aligned<uint16_t> &out) const {
    check([&](size_t i) { return valueOfHalf(out.data[i]); });
  }
  void check(llvm::function_ref<double(size_t)> out) const {
    double worst = -1;
    for (size_t i = 0; i < sums.size(); ++i)
      worst = std::max(worst, distance(out(i), sums[i]) - errors[i] - std::abs(sums[i]) / 2000);
    EXPECT_LE(worst, 0);
  }
};

class BlockAttentionBackward : public testing::TestWithParam<Backward> {};

TEST_P(BlockAttentionBackward, IsRight) {
  Backward a = GetParam();
  setenv("TILERY_SCHEDULE", a.schedule, 1);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(program(a), &context());
  ASSERT_TRUE(module) << program(a);
  auto kernel = emulator::Kernel::translate(*module, emulator::Path::Block, true, 0);
  unsetenv("TILERY_SCHEDULE");
  ASSERT_TRUE(kernel);
  size_t count = size_t(a.heads) * a.n * a.d;
  Numbers q(count, 1, true), k(count, 2, true), v(count, 3, true), dout(count, 4, true);
  Quarters logs(size_t(a.heads) * a.n, 5), dots(size_t(a.heads) * a.n, 6);
  Expected first(count), second(count), third(count); // dK and dV, or dQ; dQ of all programs
  constexpr float scale = 1.0f / 32;
  for (int h = 0; h < a.heads; ++h)
    for (int i = 0; i < a.n; ++i)
      for (int j = 0; j < (a.causal ? i + 1 : a.n); ++j) {
        size_t query = size_t(h) * a.n + i, key = size_t(h) * a.n + j;
        double s = 0, dp = 0;
        for (int x = 0; x < a.d; ++x) {
          s += q.values[query * a.d + x] * k.values[key * a.d + x];
          dp += dout.values[query * a.d + x] * v.values[key * a.d + x];
        }
        double p = std::exp2(s * scale - logs.data[query]), ds = p * (dp - dots.data[query]);
        for (int x = 0; x < a.d; ++x)
          if (a.keys) {
            first.add(key * a.d + x, ds, q.values[query * a.d + x]);
            second.add(key * a.d + x, p, dout.values[query * a.d + x]);
            third.add(query * a.d + x, ds, k.values[key * a.d + x]);
          } else {
            first.add(query * a.d + x, ds, k.values[key * a.d + x]);
          }
      }
  uint32_t grid[] = {uint32_t(a.n / a.m), uint32_t(a.heads), 1};
  for (Timing timing : {Timing::CopiesAtOnce, Timing::CopiesLate}) {
    Aligned<uint16_t> out(count, nanOfHalf), out2(count, nanOfHalf);
    auto slots = a.keys ? std::vector<uint64_t>{slot(k.data), slot(v.data), slot(q.data), slot(dout.data)}
                        : std::vector<uint64_t>{slot(q.data), slot(dout.data), slot(k.data), slot(v.data)};
    Aligned<float> sums(count);
    for (uint64_t each :
         {slot(logs.data), slot(dots.data), slot(out.data), slot(out2.data), slot(a.n), slot(scale), slot(sums.data)})
      slots.push_back(each);
    ASSERT_EQ(kernel->run(grid, slots.data(), timing), "");
    first.check(out);
    if (a.keys)
      second.check(out2);
    if (a.once)
      third.check([&](size_t i) { return sums.data[i]; });
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs, BlockAttentionBackward,
    testing::Values(Backward{true, 128, 64, 64, 256, 2, false}, Backward{true, 128, 64, 64, 256, 1, false, "overlap=0"},
                    Backward{true, 64, 32, 64, 128, 2, false, "spread=0"},
                    Backward{true, 128, 64, 64, 512, 3, false, "hold_operands=1 overlap=0"},
                    Backward{true, 64, 64, 64, 256, 3, false, "hold_operands=1 spread=0"},
                    Backward{false, 128, 64, 64, 512, 3, false, "hold_operands=1 overlap=0 spread=0"},
                    Backward{false, 128, 64, 64, 384, 2, true, "hold_operands=1"},
                    Backward{true, 64, 64, 64, 192, 1, false, "overlap=0 spread=0"}, Backward{true, 128, 32, 128, 256, 1, true},
                    Backward{true, 128, 64, 64, 384, 2, true}, Backward{false, 128, 64, 64, 256, 2, false},
                    Backward{false, 64, 32, 64, 192, 1, false, "overlap=0"}, Backward{false, 128, 64, 128, 256, 1, true},
                    Backward{false, 128, 32, 64, 384, 1, true, "spread=0"}, Backward{true, 128, 64, 128, 256, 2, false, "", true},
                    Backward{true, 128, 64, 64, 256, 2, false, "", true}, Backward{true, 128, 64, 64, 384, 2, true, "", true},
                    Backward{true, 64, 64, 64, 192, 1, true, "", true}, Backward{true, 128, 64, 128, 384, 1, true, "", true},
                    Backward{true, 128, 64, 64, 256, 1, false, "spread=0", true},
                    Backward{true, 128, 64, 128, 512, 1, false, "stages=2", true}));
} // namespace
