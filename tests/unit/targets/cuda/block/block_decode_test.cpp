// Attention of a few heads' queries to many keys, from tile IR through block IR to code, on the CPU: fewer rows than the tensor cores take,
// lengths that are loaded, keys that threads copy from where tables say.
#include "tests/unit/targets/cpu/run_kernel.h"
#include "tests/unit/targets/with.h"
#include "tests/unit/targets/cuda/numbers.h"
#include "tests/emulator/emulator.h"
#include <random>

using namespace tilery;
using namespace tilery::test;
using emulator::Timing;

namespace {
enum class Keys { InOrder, Pages, Table };
struct Decode {
  Keys keys;
  int rows, heads; // of a program's tile; of these, what exists
  bool keysFirst;  // the tile of keys is loaded with its rows first, then exchanged
  int d = 64;
  bool latent = false;  // the values are the keys
  bool twice = false;   // scores are the sum of two products
  bool returns = false; // programs of sequences without keys return early
};
std::ostream &operator<<(std::ostream &out, const Decode &d) {
  return out << (d.keys == Keys::InOrder ? "keys in order"
                 : d.keys == Keys::Pages ? "pages"
                                         : "a table")
             << ", " << d.heads << " heads of " << d.rows << (d.keysFirst ? ", keys first" : "")
             << (d.latent ? ", latent, " : ", ") << (d.twice ? "two products, " : "") << (d.returns ? "early returns, " : "")
             << d.d << " wide";
}

constexpr int n = 256, page = 64, batches = 3, groups = 2; // 2 groups of heads share a sequence's rows of keys

// A program: a sequence's group of heads. MxN scores, MxD sums.
constexpr const char *text = R"(
tile.kernel @k(%q: !tile.ptr<f16> ALIGNED, %k: !tile.ptr<f16> ALIGNED, %v: !tile.ptr<f16> ALIGNED, %o: !tile.ptr<f32> ALIGNED,
               %logs: !tile.ptr<f32> ALIGNED, %lengths: !tile.ptr<i32> ALIGNED, %table: !tile.ptr<i32> ALIGNED, %scale: f32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %two = arith.constant 2 : i64
  %d = arith.constant WIDTH : i64
  %wide = arith.constant WIDE : i64
  %n = arith.constant 256 : i64
  %heads = arith.constant HEADS : i64
  %i0 = arith.constant 0 : i32
  %keys = arith.constant 64 : i32
  %zeros = arith.constant dense<0.0> : tensor<MxDxf32>
  %noScores = arith.constant dense<0.0> : tensor<Mx64xf32>
  %zero = arith.constant dense<0.0> : tensor<Mxf32>
  %least = arith.constant dense<0xFF800000> : tensor<Mxf32>
  %nothing = arith.constant dense<0xFF800000> : tensor<Mx64xf32>
  %scales = tile.splat %scale : f32 -> tensor<Mx64xf32>
  %batch32 = tile.program_id 0
  %group32 = tile.program_id 1
  %batch = arith.extsi %batch32 : i32 to i64
  %group = arith.extsi %group32 : i32 to i64
  %b2 = arith.muli %batch, %two overflow<nsw> : i64
  %bg = arith.addi %b2, %group overflow<nsw> : i64
  %head = arith.muli %bg, %heads overflow<nsw> : i64
  %qAt = arith.muli %head, %d overflow<nsw> : i64
  %al = tile.access %lengths, %batch steps() bounds []() : <i32>, (), () -> <i32>
  %length = tile.load %al : !tile.access<i32> -> i32
  BRANCH
  %aq = tile.access %q, %qAt steps(%d, %c1) bounds [1, 0](%c0, %heads) : <f16>, (i64, i64), (i64, i64) -> <MxDxf16>
  %tq = tile.load %aq : !tile.access<MxDxf16> -> tensor<MxDxf16>
  %lengthWide = arith.extsi %length : i32 to i64
  %first = arith.muli %batch, %n overflow<nsw> : i64
  %column = arith.muli %group, %d overflow<nsw> : i64
  %offsets = tile.range 0 to 64 : tensor<64xi32>
  %sum, %total, %top = scf.for %i = %i0 to %length step %keys iter_args(%acc = %zeros, %old = %zero, %most = %least) -> (tensor<MxDxf32>, tensor<Mxf32>, tensor<Mxf32>) : i32 {
    %w = arith.extsi %i : i32 to i64
    %left = arith.subi %lengthWide, %w overflow<nsw> : i64
    PLACE
    KEYS
    FIRST%s = tile.dot %tq, %kt, SUMS : tensor<MxDxf16>, tensor<Dx64xf16> -> tensor<Mx64xf32>
    %scaled = arith.mulf %s, %scales : tensor<Mx64xf32>
    %is = tile.splat %i : i32 -> tensor<64xi32>
    %number = arith.addi %is, %offsets : tensor<64xi32>
    %line = tile.expand_dims %number axis 0 : tensor<64xi32> -> tensor<1x64xi32>
    %end = tile.splat %length : i32 -> tensor<1x64xi32>
    %inside = arith.cmpi slt, %line, %end : tensor<1x64xi32>
    %exists = tile.broadcast %inside : tensor<1x64xi1> -> tensor<Mx64xi1>
    %seen = arith.select %exists, %scaled, %nothing : tensor<Mx64xi1>, tensor<Mx64xf32>
    %rows = tile.reduce %seen axis 1 {
    ^bb0(%a: f32, %b: f32):
      %x = arith.maxnumf %a, %b : f32
      tile.yield %x : f32
    } : tensor<Mx64xf32> -> tensor<Mxf32>
    %new = arith.maxnumf %most, %rows : tensor<Mxf32>
    %newColumn = tile.expand_dims %new axis 1 : tensor<Mxf32> -> tensor<Mx1xf32>
    %tops = tile.broadcast %newColumn : tensor<Mx1xf32> -> tensor<Mx64xf32>
    %below = arith.subf %seen, %tops : tensor<Mx64xf32>
    %p = math.exp2 %below : tensor<Mx64xf32>
    %less = arith.subf %most, %new : tensor<Mxf32>
    %keep = math.exp2 %less : tensor<Mxf32>
    %kc = tile.expand_dims %keep axis 1 : tensor<Mxf32> -> tensor<Mx1xf32>
    %kb = tile.broadcast %kc : tensor<Mx1xf32> -> tensor<MxDxf32>
    %kept = arith.mulf %acc, %kb : tensor<MxDxf32>
    %h = arith.truncf %p : tensor<Mx64xf32> to tensor<Mx64xf16>
    VALUES
    %product = tile.dot %h, %tv, %zeros : tensor<Mx64xf16>, tensor<64xDxf16> -> tensor<MxDxf32>
    %next = arith.addf %kept, %product : tensor<MxDxf32>
    %part = tile.reduce %p axis 1 {
    ^bb0(%a: f32, %b: f32):
      %x = arith.addf %a, %b : f32
      tile.yield %x : f32
    } : tensor<Mx64xf32> -> tensor<Mxf32>
    %before = arith.mulf %old, %keep : tensor<Mxf32>
    %all = arith.addf %before, %part : tensor<Mxf32>
    scf.yield %next, %all, %new : tensor<MxDxf32>, tensor<Mxf32>, tensor<Mxf32>
  }
  %totals = tile.expand_dims %total axis 1 : tensor<Mxf32> -> tensor<Mx1xf32>
  %divisors = tile.broadcast %totals : tensor<Mx1xf32> -> tensor<MxDxf32>
  %quotient = arith.divf %sum, %divisors : tensor<MxDxf32>
  %ao = tile.access %o, %qAt steps(%d, %c1) bounds [1, 0](%c0, %heads) : <f32>, (i64, i64), (i64, i64) -> <MxDxf32>
  tile.store %ao, %quotient : !tile.access<MxDxf32>, tensor<MxDxf32>
  %log = math.log2 %total : tensor<Mxf32>
  %logSum = arith.addf %log, %top : tensor<Mxf32>
  %as = tile.access %logs, %head steps(%c1) bounds [1](%c0, %heads) : <f32>, (i64), (i64, i64) -> <Mxf32>
  tile.store %as, %logSum : !tile.access<Mxf32>, tensor<Mxf32>
  REST
  tile.return
})";
constexpr const char *inOrder = R"(%row = arith.addi %first, %w overflow<nsw> : i64
    %rowAt = arith.muli %row, %wide overflow<nsw> : i64
    %at = arith.addi %rowAt, %column overflow<nsw> : i64)";
constexpr const char *pages = R"(%perPage = arith.constant 4 : i64
    %bp = arith.muli %batch, %perPage overflow<nsw> : i64
    %which = arith.divsi %w, %c64 : i64
    %entry = arith.addi %bp, %which overflow<nsw> : i64
    %ap = tile.access %table, %entry steps() bounds []() : <i32>, (), () -> <i32>
    %number32 = tile.load %ap : !tile.access<i32> -> i32
    %pageNumber = arith.extsi %number32 : i32 to i64
    %row = arith.muli %pageNumber, %c64 overflow<nsw> : i64
    %rowAt = arith.muli %row, %wide overflow<nsw> : i64
    %at = arith.addi %rowAt, %column overflow<nsw> : i64)";
constexpr const char *tabled = R"(%entry = arith.addi %first, %w overflow<nsw> : i64
    %ap = tile.access %table, %entry steps(%c1) bounds [1](%c0, %left) : <i32>, (i64), (i64, i64) -> <64xi32>
    %numbers = tile.load %ap : !tile.access<64xi32> -> tensor<64xi32>
    %numbersWide = arith.extsi %numbers : tensor<64xi32> to tensor<64xi64>
    %wides = tile.splat %wide : i64 -> tensor<64xi64>
    %steps = arith.muli %numbersWide, %wides overflow<nsw> : tensor<64xi64>)";

std::string program(const Decode &one) {
  bool table = one.keys == Keys::Table;
  std::string keys =
      one.keysFirst
          ? R"(%ak = tile.access %k, OFFSET steps(STEP, %c1) bounds [1, 0](%c0, %left) : <f16>, (TYPE, i64), (i64, i64) -> <64xDxf16>
    %tk = tile.load %ak : !tile.access<64xDxf16> -> tensor<64xDxf16>
    %kt = tile.permute %tk [1, 0] : tensor<64xDxf16> -> tensor<Dx64xf16>)"
          : R"(%ak = tile.access %k, OFFSET steps(%c1, STEP) bounds [0, 1](%c0, %left) : <f16>, (i64, TYPE), (i64, i64) -> <Dx64xf16>
    %kt = tile.load %ak : !tile.access<Dx64xf16> -> tensor<Dx64xf16>)";
  std::string values =
      one.latent
          ? "%tv = tile.permute %kt [1, 0] : tensor<Dx64xf16> -> tensor<64xDxf16>"
          : R"(%av = tile.access %v, OFFSET steps(STEP, %c1) bounds [1, 0](%c0, %left) : <f16>, (TYPE, i64), (i64, i64) -> <64xDxf16>
    %tv = tile.load %av : !tile.access<64xDxf16> -> tensor<64xDxf16>)";
  std::string result = with(with(text, "KEYS", keys), "VALUES", values);
  result = with(result, "PLACE", table ? tabled : one.keys == Keys::Pages ? pages : inOrder);
  result = with(with(with(result, "OFFSET", table ? "%column" : "%at"), "STEP", table ? "%steps" : "%wide"), "TYPE",
                table ? "tensor<64xi64>" : "i64");
  result = with(with(result, "HEADS", std::to_string(one.heads)), "ALIGNED", "{tile.divisibility = 16 : i64}");
  std::string first = "%half = tile.dot %tq, %kt, %noScores : tensor<MxDxf16>, tensor<Dx64xf16> -> tensor<Mx64xf32>\n    ";
  result = with(with(result, "FIRST", one.twice ? first : ""), "SUMS", one.twice ? "%half" : "%noScores");
  result = with(result, "BRANCH", one.returns ? "%none = arith.cmpi sle, %length, %i0 : i32\n  scf.if %none { } else {" : "");
  result = with(result, "REST", one.returns ? "}" : "");
  result = with(with(result, "WIDTH", std::to_string(one.d)), "WIDE", std::to_string(groups * one.d));
  result = with(with(result, "xDx", "x" + std::to_string(one.d) + "x"), "<Dx", "<" + std::to_string(one.d) + "x");
  return with(result, "<Mx", "<" + std::to_string(one.rows) + "x");
}

class BlockDecode : public testing::TestWithParam<Decode> {
protected:
  int lengths[batches] = {256, 100, 1};
  std::vector<int> table; // of each key's row

  /// What the kernel's table holds.
  std::vector<int32_t> makeTable(const Decode &one) {
    int each = one.keys == Keys::Pages ? page : 1;
    std::vector<int32_t> numbers(batches * n / each);
    std::iota(numbers.begin(), numbers.end(), 0);
    if (one.keys != Keys::InOrder)
      std::shuffle(numbers.begin(), numbers.end(), std::mt19937(5));
    for (int row = 0; row < batches * n; ++row)
      table.push_back(numbers[row / each] * each + row % each);
    return numbers;
  }

  /// Exact results of one head, and the logarithm of its sum behind them.
  std::vector<double> expected(const Decode &one, int head, const Numbers &q, const Numbers &k, const Numbers &v) {
    int batch = head / (groups * one.heads), group = head / one.heads % groups, d = one.d;
    const Numbers &values = one.latent ? k : v;
    std::vector<double> result(d + 1);
    for (int key = 0; key < lengths[batch]; ++key) {
      int at = table[batch * n + key] * groups * d + group * d;
      double score = 0;
      for (int x = 0; x < d; ++x)
        score += double(q.values[head * d + x]) * k.values[at + x];
      double weight = std::exp2(score / 8);
      for (int x = 0; x < d; ++x)
        result[x] += weight * values.values[at + x];
      result[d] += weight;
    }
    for (int x = 0; x < d; ++x)
      result[x] /= result[d];
    result[d] = std::log2(result[d]);
    return result;
  }
};

TEST_P(BlockDecode, IsRight) {
  Decode one = GetParam();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(program(one), &context());
  ASSERT_TRUE(module) << program(one);
  auto kernel = emulator::Kernel::translate(*module, emulator::Path::Block, true, 0);
  ASSERT_TRUE(kernel);
  int heads = batches * groups * one.heads, d = one.d;
  size_t count = size_t(batches) * n * groups * d;
  Numbers q(size_t(heads) * d, 1, true), k(count, 2, true), v(count, 3, true);
  std::vector<int32_t> numbers = makeTable(one);
  if (one.returns)
    lengths[1] = 0;
  uint32_t grid[] = {batches, groups, 1};
  for (Timing timing : {Timing::CopiesAtOnce, Timing::CopiesLate}) {
    Aligned<float> result(size_t(heads) * d, NAN);
    std::vector<float> logs(heads + 1, NAN);
    const float *out = result.data;
    std::vector<uint64_t> slots = {slot(q.data),   slot(k.data),  slot(v.data),         slot(out),
                                   slot(&logs[0]), slot(lengths), slot(numbers.data()), slot(one.twice ? 0.0625f : 0.125f)};
    ASSERT_EQ(kernel->run(grid, slots.data(), timing), "");
    double worst = 0, worstLog = 0;
    for (int head = 0; head < heads; ++head) {
      if (lengths[head / (groups * one.heads)] == 0) {
        EXPECT_TRUE(std::isnan(out[head * d]) && std::isnan(out[head * d + d - 1]) && std::isnan(logs[head]));
        continue;
      }
      std::vector<double> exact = expected(one, head, q, k, v);
      for (int x = 0; x < d; ++x)
        worst = std::max(worst, distance(out[head * d + x], exact[x]));
      worstLog = std::max(worstLog, distance(logs[head], exact[d]));
    }
    // Weights are rounded to f16, values are at most 2: 2^-11 of that, and f32's errors, a thousandth of it.
    EXPECT_LE(worst, 2 * 2.0 / 2048);
    EXPECT_LE(worstLog, 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, BlockDecode,
                         testing::Values(Decode{Keys::InOrder, 16, 4, false}, Decode{Keys::InOrder, 64, 64, true},
                                         Decode{Keys::Pages, 16, 16, true}, Decode{Keys::Table, 16, 5, false},
                                         Decode{Keys::Table, 32, 20, true}, Decode{Keys::Table, 64, 20, false, 512, true},
                                         Decode{Keys::InOrder, 16, 16, true, 512, true},
                                         Decode{Keys::Pages, 16, 8, true, 64, false, true},
                                         Decode{Keys::InOrder, 64, 64, true, 64, false, false, true},
                                         Decode{Keys::Pages, 16, 8, false, 64, false, false, true},
                                         Decode{Keys::Table, 64, 64, false, 512, true, true}));
} // namespace
