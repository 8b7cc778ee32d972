// Matmuls through the whole CPU pipeline: pointer program in, products out.
#include "../with.h"
#include "run_kernel.h"
#include <bit>
#include <chrono>
#include <random>

using namespace tilery;
using namespace tilery::test;

namespace {
struct Shape {
  int m, n, k, bm, bn, bk;
};

/// The seed's matmul (without the line that advances offs_k) for element types `in` -> `acc` -> `out`, row-major operands unless transposed.
std::string seed(const Shape &s, const std::string &in, const std::string &acc, bool transposeA = false,
                 bool transposeB = false) {
  auto tensor = [](int rows, int columns, const std::string &type) {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "x" + type + ">";
  };
  auto access = [](int rows, int columns, const std::string &type) {
    return "!tile.access<" + std::to_string(rows) + "x" + std::to_string(columns) + "x" + type + ">";
  };
  std::string text = R"(
tile.kernel @matmul(%a: !tile.ptr<IN>, %b: !tile.ptr<IN>, %c: !tile.ptr<ACC>, %M: i64, %N: i64, %K: i64, %lda: i64, %ldb: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %BM = arith.constant #BM : i64
  %BN = arith.constant #BN : i64
  %BK = arith.constant #BK : i64
  %zero = arith.constant dense<#ZERO> : TACC
  %id = tile.program_id 0
  %pid = arith.extsi %id : i32 to i64
  %mu = arith.addi %M, %BM overflow<nsw> : i64
  %md = arith.subi %mu, %c1 overflow<nsw> : i64
  %pm = tile.div trunc %md, %BM : i64
  %im = tile.rem trunc %pid, %pm : i64
  %in = tile.div trunc %pid, %pm : i64
  %m0 = arith.muli %im, %BM overflow<nsw> : i64
  %n0 = arith.muli %in, %BN overflow<nsw> : i64
  %m32 = arith.trunci %m0 : i64 to i32
  %n32 = arith.trunci %n0 : i64 to i32
  %M32 = arith.trunci %M : i64 to i32
  %N32 = arith.trunci %N : i64 to i32
  %rm = tile.range 0 to #BM : tensor<#BMxi32>
  %m0s = tile.splat %m32 : i32 -> tensor<#BMxi32>
  %om = arith.addi %m0s, %rm overflow<nsw> : tensor<#BMxi32>
  %Ms = tile.splat %M32 : i32 -> tensor<#BMxi32>
  %rows = tile.rem trunc %om, %Ms : tensor<#BMxi32>
  %rows64 = arith.extsi %rows : tensor<#BMxi32> to tensor<#BMxi64>
  %am = tile.splat #STEPAM : i64 -> tensor<#BMxi64>
  %ra = arith.muli %rows64, %am overflow<nsw> : tensor<#BMxi64>
  %rn = tile.range 0 to #BN : tensor<#BNxi32>
  %n0s = tile.splat %n32 : i32 -> tensor<#BNxi32>
  %on = arith.addi %n0s, %rn overflow<nsw> : tensor<#BNxi32>
  %Ns = tile.splat %N32 : i32 -> tensor<#BNxi32>
  %cols = tile.rem trunc %on, %Ns : tensor<#BNxi32>
  %cols64 = arith.extsi %cols : tensor<#BNxi32> to tensor<#BNxi64>
  %bn = tile.splat #STEPBN : i64 -> tensor<#BNxi64>
  %cb = arith.muli %cols64, %bn overflow<nsw> : tensor<#BNxi64>
  %ku = arith.addi %K, %BK overflow<nsw> : i64
  %kd = arith.subi %ku, %c1 overflow<nsw> : i64
  %trips = tile.div trunc %kd, %BK : i64
  %r = scf.for %k = %c0 to %trips step %c1 iter_args(%acc = %zero) -> (TACC) : i64 {
    %done = arith.muli %k, %BK overflow<nsw> : i64
    %left = arith.subi %K, %done overflow<nsw> : i64
    %oa = arith.muli %done, #STEPAK overflow<nsw> : i64
    %ob = arith.muli %done, #STEPBK overflow<nsw> : i64
    %pa = tile.access %a, %oa steps(%ra, #STEPAK) bounds [0, 1](%c0, %left) : <IN>, (tensor<#BMxi64>, i64), (i64, i64) -> AA
    %va = tile.load %pa : !tile.access#AA -> TA
    %pb = tile.access %b, %ob steps(#STEPBK, %cb) bounds [1, 0](%c0, %left) : <IN>, (i64, tensor<#BNxi64>), (i64, i64) -> BB
    %vb = tile.load %pb : !tile.access#BB -> TB
    %d = tile.dot %va, %vb, %acc : TA, TB -> TACC
    scf.yield %d : TACC
  }
  %oc = arith.muli %m0, %N overflow<nsw> : i64
  %ocn = arith.addi %oc, %n0 overflow<nsw> : i64
  %liveM = arith.subi %M, %m0 overflow<nsw> : i64
  %liveN = arith.subi %N, %n0 overflow<nsw> : i64
  %pc = tile.access %c, %ocn steps(%N, %c1) bounds [1, 1](%c0, %liveM, %c0, %liveN) : <ACC>, (i64, i64), (i64, i64, i64, i64) -> CC
  tile.store %pc, %r : !tile.access#CC, TACC
  tile.return
})";
  auto replace = [&](const std::string &from, const std::string &to) { text = with(std::move(text), from, to); };
  auto body = [&](int r, int c, const std::string &t) { return access(r, c, t).substr(12); };
  replace("!tile.access#AA", access(s.bm, s.bk, in));
  replace("!tile.access#BB", access(s.bk, s.bn, in));
  replace("!tile.access#CC", access(s.bm, s.bn, acc));
  replace("-> AA", "-> " + body(s.bm, s.bk, in));
  replace("-> BB", "-> " + body(s.bk, s.bn, in));
  replace("-> CC", "-> " + body(s.bm, s.bn, acc));
  replace("TACC", tensor(s.bm, s.bn, acc));
  replace("TA", tensor(s.bm, s.bk, in));
  replace("TB", tensor(s.bk, s.bn, in));
  replace("<IN>", "<" + in + ">");
  replace("<ACC>", "<" + acc + ">");
  replace("#BM", std::to_string(s.bm));
  replace("#BN", std::to_string(s.bn));
  replace("#BK", std::to_string(s.bk));
  replace("#ZERO", acc[0] == 'i' ? "0" : "0.0");
  replace("#STEPAM", transposeA ? "%c1" : "%lda");
  replace("#STEPAK", transposeA ? "%lda" : "%c1");
  replace("#STEPBK", transposeB ? "%c1" : "%ldb");
  replace("#STEPBN", transposeB ? "%ldb" : "%c1");
  return text;
}

int64_t programs(const Shape &s) { return int64_t((s.m + s.bm - 1) / s.bm) * ((s.n + s.bn - 1) / s.bn); }

cpu::Options disjoint(bool on) {
  cpu::Options options;
  options.disjoint = on;
  return options;
}

struct BF16 {
  uint16_t bits = 0;
  BF16() = default;
  explicit BF16(float value) : bits(std::bit_cast<uint32_t>(value) >> 16) {}
  operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
};

/// Memory as tensor libraries give it out.
template <typename T> struct AlignedAllocator : std::allocator<T> {
  template <typename U> struct rebind {
    using other = AlignedAllocator<U>;
  };
  T *allocate(size_t n) { return static_cast<T *>(::operator new(n * sizeof(T), std::align_val_t(64))); }
  void deallocate(T *p, size_t) { ::operator delete(p, std::align_val_t(64)); }
};
template <typename T> using Aligned = std::vector<T, AlignedAllocator<T>>;

template <typename In, typename Acc> struct Problem {
  Shape s;
  int lda, ldb;
  bool ta, tb;
  Aligned<In> a, b;
  Aligned<Acc> c;
  Problem(Shape s, bool ta, bool tb, unsigned seed, bool dense = false) : s(s), ta(ta), tb(tb) {
    lda = (ta ? s.m : s.k) + (dense ? 0 : 3);
    ldb = (tb ? s.k : s.n) + (dense ? 0 : 5);
    a.resize(size_t(lda) * (ta ? s.k : s.m) + 1);
    b.resize(size_t(ldb) * (tb ? s.n : s.k) + 1);
    c.assign(size_t(s.m) * s.n + 1, Acc(77));
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> real(-1, 1);
    for (Aligned<In> *v : {&a, &b})
      for (In &x : *v)
        x = std::is_floating_point_v<In> ? In(real(random)) : In(int(real(random) * 100));
  }
  void run(const Compiled &code, unsigned flags) {
    ASSERT_FALSE(code.kernels.empty()) << code.errors;
    uint64_t slots[] = {slot(a.data()), slot(b.data()), slot(c.data()), slot(s.m), slot(s.n), slot(s.k), slot(lda), slot(ldb)};
    int64_t grid[] = {programs(s), 1, 1};
    LaunchOptions options;
    options.flags = flags;
    launch(*code.kernels[0], grid, slots, options);
  }
  /// In any order of sums: K products, exact, and K sums are off by at most K + 1 units of 2^-24 of what is added up.
  void checkNear() {
    for (int i = 0; i < s.m; ++i)
      for (int j = 0; j < s.n; ++j) {
        double expected = 0, size = 0;
        for (int p = 0; p < s.k; ++p) {
          double product = double(a[ta ? size_t(p) * lda + i : size_t(i) * lda + p]) *
                           double(b[tb ? size_t(j) * ldb + p : size_t(p) * ldb + j]);
          expected += product, size += std::abs(product);
        }
        ASSERT_NEAR(c[size_t(i) * s.n + j], expected, (s.k + 1) * 0x1p-24 * size) << i << " " << j;
      }
    EXPECT_EQ(c.back(), Acc(77));
  }
  void check() {
    for (int i = 0; i < s.m; ++i)
      for (int j = 0; j < s.n; ++j) {
        Acc expected = 0;
        for (int p = 0; p < s.k; ++p) {
          Acc x = Acc(a[ta ? size_t(p) * lda + i : size_t(i) * lda + p]),
              y = Acc(b[tb ? size_t(j) * ldb + p : size_t(p) * ldb + j]);
          if constexpr (std::is_floating_point_v<Acc>)
            expected = std::fma(x, y, expected);
          else
            expected += x * y;
        }
        ASSERT_EQ(c[size_t(i) * s.n + j], expected) << i << " " << j;
      }
    EXPECT_EQ(c.back(), Acc(77));
  }
};

const Shape shapes[] = {{64, 64, 64, 32, 32, 16},    {37, 53, 29, 16, 32, 8},      {1, 1, 1, 16, 16, 16},
                        {100, 9, 70, 32, 8, 32},     {13, 40, 33, 7, 40, 5},       {5, 3, 0, 16, 16, 16},
                        {128, 64, 2500, 64, 64, 64}, {130, 259, 40, 128, 256, 16}, {45, 50, 19, 32, 32, 7},
                        {45, 50, 89, 32, 32, 31}, // steps of K that end within a word of AMX's tiles
                        {1, 70, 90, 16, 64, 32}};

/// check(shape, layout, shared) for each shape once, or for every combination; very long and very short K in one layout only.
void overShapes(bool all, llvm::function_ref<void(const Shape &, int, bool)> check) {
  for (const Shape &s : shapes)
    for (int layout = 0, turn = int(&s - shapes); layout < 4; ++layout)
      for (bool shared : {true, false}) {
        bool extreme = s.k > 1000 || s.k < 2;
        bool first = extreme ? layout == 0 && shared : layout == turn % 4 && shared == (turn < 4);
        if (!first && (extreme || !all))
          continue;
        SCOPED_TRACE(testing::Message() << s.m << "x" << s.n << "x" << s.k << " layout " << layout
                                        << (shared ? " shared" : " private"));
        check(s, layout, shared);
        if (testing::Test::HasFatalFailure())
          return;
      }
}

void floatOverShapes(bool all) {
  overShapes(all, [](const Shape &s, int layout, bool shared) {
    Compiled code = compileText(seed(s, "f32", "f32", layout & 1, layout & 2), disjoint(shared), true);
    Problem<float, float> problem(s, layout & 1, layout & 2, 5);
    problem.run(code, shared ? TILERY_DISJOINT : 0);
    problem.check();
  });
}

// The same bits by conversion and by pairs: products are added in increasing K, each with one rounding. AMX has an order of its own.
void bfloatOnEveryTarget(bool all) {
  for (const std::string &name : cpu::targetNames()) {
    cpu::Options options = disjoint(true);
    options.target = *cpu::findTarget(name);
    options.wantPlan = options.wantAsm = true;
    Shape dense{64, 64, 64, 32, 32, 16};
    Compiled code = compileText(seed(dense, "bf16", "f32"), options, true);
    EXPECT_EQ(code.code.plan.find("bf16 pairs") != std::string::npos, options.target.fastDotBF16) << code.code.plan;
    EXPECT_EQ(code.code.plan.find("tiles of bf16") != std::string::npos, options.target.amx) << code.code.plan;
    EXPECT_EQ(code.code.assembly.find("tdpbf16ps") != std::string::npos, options.target.amx) << name;
    EXPECT_EQ(code.code.assembly.find("vdpbf16ps") != std::string::npos, options.target.fastDotBF16) << name;
    options.wantPlan = options.wantAsm = false;
    if (!cpu::hostRuns(options.target))
      continue;
    SCOPED_TRACE(name);
    overShapes(all, [&](const Shape &s, int layout, bool shared) {
      options.disjoint = shared;
      Problem<BF16, float> problem(s, layout & 1, layout & 2, 6);
      problem.run(compileText(seed(s, "bf16", "f32", layout & 1, layout & 2), options, true), shared ? TILERY_DISJOINT : 0);
      options.target.amx ? problem.checkNear() : problem.check();
    });
  }
}

/// Bytes (any of them unsigned) and 16-bit integers, whose products are added up in pairs or in tiles.
void integersOnEveryTarget(bool all) {
  for (const std::string &name : cpu::targetNames()) {
    cpu::Options options = disjoint(true);
    options.target = *cpu::findTarget(name);
    if (!cpu::hostRuns(options.target))
      continue;
    SCOPED_TRACE(name);
    overShapes(all, [&](const Shape &s, int layout, bool shared) {
      options.disjoint = shared;
      int turn = int(&s - shapes) % 3;
      auto run = [&](auto element, const std::string &type, const std::string &attributes) {
        SCOPED_TRACE(type + attributes);
        Problem<decltype(element), int32_t> problem(s, layout & 1, layout & 2, 7);
        std::string text = seed(s, type, "i32", layout & 1, layout & 2);
        text.replace(text.find("%acc : "), 7, "%acc " + attributes + " : ");
        problem.run(compileText(text, options, true), shared ? TILERY_DISJOINT : 0);
        problem.check();
      };
      if (all || turn == 0)
        run(int8_t(), "i8", "");
      if (all || turn == 1)
        run(uint8_t(), "i8", "{a_unsigned, b_unsigned}");
      if (all || turn == 2)
        run(int16_t(), "i16", "");
    });
  }
}
} // namespace

TEST(Dot, EveryShape) { floatOverShapes(false); }
TEST(Dot, BFloatOnEveryTarget) { bfloatOnEveryTarget(false); }
TEST(Dot, IntegersOnEveryTarget) { integersOnEveryTarget(false); }
TEST(DotLong, IntegersOnEveryTarget) { integersOnEveryTarget(true); }
TEST(DotLong, EveryShapeAndLayout) { floatOverShapes(true); }
TEST(DotLong, BFloatOnEveryTarget) { bfloatOnEveryTarget(true); }

TEST(Dot, EveryType) {
  Shape s{37, 53, 29, 16, 32, 8};
  {
    Problem<double, double> p(s, false, false, 1);
    p.run(compileText(seed(s, "f64", "f64"), disjoint(true), true), TILERY_DISJOINT);
    p.check();
  }
  {
    Problem<int8_t, int32_t> p(s, false, true, 2);
    p.run(compileText(seed(s, "i8", "i32", false, true), disjoint(true), true), TILERY_DISJOINT);
    p.check();
  }
  {
    Problem<int32_t, int64_t> p(s, true, false, 3);
    p.run(compileText(seed(s, "i32", "i64", true, false), disjoint(false), true), 0);
    p.check();
  }
}

namespace {
/// c = expression of a (AxK tiles of f32), b (KxN) and c's own tile, each loaded whole.
std::string whole(const std::string &a, const std::string &b, const std::string &c, const std::string &body) {
  auto load = [](const std::string &name, const std::string &shape) {
    size_t x = shape.find('x'), y = shape.find('x', x + 1);
    bool batched = shape.find('x', y + 1) != std::string::npos;
    std::string n0 = shape.substr(0, x), n1 = shape.substr(x + 1, y - x - 1), type = shape.substr(shape.rfind('x') + 1);
    std::string n2 = batched ? shape.substr(y + 1, shape.rfind('x') - y - 1) : "";
    int64_t inner = std::stoi(batched ? n2 : n1), middle = inner * (batched ? std::stoi(n1) : 1);
    std::string text = "%" + name + "s = arith.constant " + std::to_string(inner) + " : i64\n";
    text += "%" + name + "ss = arith.constant " + std::to_string(middle) + " : i64\n";
    std::string steps = batched ? "%" + name + "ss, %" + name + "s, %c1" : "%" + name + "s, %c1";
    text += "%" + name + "p = tile.access %" + name + ", %c0 steps(" + steps + ") bounds " + (batched ? "[0, 0, 0]" : "[0, 0]") +
            "() : <" + type + ">, (" + (batched ? "i64, i64, i64" : "i64, i64") + "), () -> <" + shape + ">\n";
    return text + "%" + name + "v = tile.load %" + name + "p : !tile.access<" + shape + "> -> tensor<" + shape + ">\n";
  };
  auto type = [](const std::string &shape) { return shape.substr(shape.rfind('x') + 1); };
  return "tile.kernel @k(%a: !tile.ptr<" + type(a) + ">, %b: !tile.ptr<" + type(b) + ">, %c: !tile.ptr<" + type(c) +
         ">, %flag: i32) {\n%c0 = arith.constant 0 : i64\n%c1 = arith.constant 1 : i64\n%z = arith.constant 0 : i32\n" +
         load("a", a) + load("b", b) + load("c", c) + body + "tile.store %cp, %r : !tile.access<" + c + ">, tensor<" + c +
         ">\ntile.return\n}\n";
}
} // namespace

TEST(Dot, AccumulatesClearsAndComputesItsOperands) {
  // a is doubled where it is packed, b shifted by its own value.
  Compiled code = compileText(whole("9x7xf32", "7x21xf32", "9x21xf32", R"(
%clear = arith.cmpi ne, %flag, %z : i32
%a2 = arith.addf %av, %av : tensor<9x7xf32>
%b2 = arith.mulf %bv, %bv : tensor<7x21xf32>
%r = tile.dot %a2, %b2, %cv clear %clear : tensor<9x7xf32>, tensor<7x21xf32> -> tensor<9x21xf32>
)"));
  std::mt19937 random(4);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> a(63), b(147), start(189);
  for (auto *v : {&a, &b, &start})
    for (float &x : *v)
      x = uniform(random);
  for (int clear : {0, 1}) {
    std::vector<float> c = start;
    run(code, 1, a.data(), b.data(), c.data(), clear);
    for (int i = 0; i < 9; ++i)
      for (int j = 0; j < 21; ++j) {
        float expected = clear ? 0 : start[i * 21 + j];
        for (int k = 0; k < 7; ++k)
          expected = std::fma(2 * a[i * 7 + k], b[k * 21 + j] * b[k * 21 + j], expected);
        ASSERT_EQ(c[i * 21 + j], expected) << clear << " " << i << " " << j;
      }
  }
}

TEST(Dot, Batches) {
  for (bool shared : {true, false}) {
    Compiled code = compileText(whole("3x5x6xf32", "3x6x10xf32", "3x5x10xf32", R"(
%r = tile.dot %av, %bv, %cv : tensor<3x5x6xf32>, tensor<3x6x10xf32> -> tensor<3x5x10xf32>
)"),
                                disjoint(shared));
    std::vector<float> a(90), b(180), c(150);
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = float(int(i * 7 % 11) - 5);
    for (size_t i = 0; i < b.size(); ++i)
      b[i] = float(int(i * 5 % 13) - 6);
    for (size_t i = 0; i < c.size(); ++i)
      c[i] = float(i);
    std::vector<float> before = c;
    ASSERT_FALSE(code.kernels.empty()) << code.errors;
    uint64_t slots[] = {slot(a.data()), slot(b.data()), slot(c.data()), 0};
    int64_t grid[] = {1, 1, 1};
    LaunchOptions options;
    options.flags = shared ? TILERY_DISJOINT : 0;
    launch(*code.kernels[0], grid, slots, options);
    for (int n = 0; n < 3; ++n)
      for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 10; ++j) {
          float expected = before[(n * 5 + i) * 10 + j];
          for (int k = 0; k < 6; ++k)
            expected += a[(n * 5 + i) * 6 + k] * b[(n * 6 + k) * 10 + j];
          ASSERT_EQ(c[(n * 5 + i) * 10 + j], expected) << shared;
        }
  }
}

// An f16 accumulator is carried in f32 and rounded once: 2048 + 1 + 1 is 2050, though 2048 + 1 rounds to 2048 in f16.
TEST(Dot, HalfAccumulatorRoundsOnce) {
  Compiled code = compileText(whole("4x2xf16", "2x4xf16", "4x4xf16", R"(
%r = tile.dot %av, %bv, %cv : tensor<4x2xf16>, tensor<2x4xf16> -> tensor<4x4xf16>
)"));
  constexpr uint16_t one = 0x3c00, big = 0x6800, sum = 0x6801;
  std::vector<uint16_t> a(8, one), b(8, one), c(16, big);
  run(code, 1, a.data(), b.data(), c.data(), 0);
  EXPECT_EQ(c, std::vector<uint16_t>(16, sum));
}

// A chain as in attention: the second dot reads the first one's result, element by element changed, inside a loop.
TEST(Dot, ChainsInLoops) {
  Compiled code = compileText(whole("8x8xf32", "8x8xf32", "8x8xf32", R"(
%one = arith.constant 1 : i32
%two = arith.constant 2 : i32
%zero = arith.constant dense<0.0> : tensor<8x8xf32>
%half = arith.constant dense<0.5> : tensor<8x8xf32>
%r = scf.for %i = %z to %two step %one iter_args(%acc = %cv) -> (tensor<8x8xf32>) : i32 {
  %s = tile.dot %av, %bv, %zero : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %p = arith.mulf %s, %half : tensor<8x8xf32>
  %scaled = arith.mulf %acc, %half : tensor<8x8xf32>
  %next = tile.dot %p, %bv, %scaled : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  scf.yield %next : tensor<8x8xf32>
}
)"),
                              disjoint(true));
  std::vector<float> a(64), b(64), c(64), expected;
  for (int i = 0; i < 64; ++i)
    a[i] = float(i % 5 - 2), b[i] = float(i % 7 - 3), c[i] = float(i);
  expected = c;
  for (int round = 0; round < 2; ++round) {
    std::vector<float> s(64, 0.f), next(64);
    for (int i = 0; i < 64; ++i)
      for (int k = 0; k < 8; ++k)
        s[i] += a[i / 8 * 8 + k] * b[k * 8 + i % 8];
    for (int i = 0; i < 64; ++i) {
      next[i] = expected[i] * 0.5f;
      for (int k = 0; k < 8; ++k)
        next[i] += s[i / 8 * 8 + k] * 0.5f * b[k * 8 + i % 8];
    }
    expected = next;
  }
  run(code, 1, a.data(), b.data(), c.data(), 0);
  EXPECT_EQ(c, expected);
}

// The output is also an operand: nothing may be shared between programs, and the result is what one program after the other gives.
TEST(Dot, InPlaceOperandIsReadBeforeItIsWritten) {
  Compiled code = compileText(whole("8x8xf32", "8x8xf32", "8x8xf32", R"(
%r = tile.dot %cv, %bv, %cv : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
)"),
                              disjoint(true));
  std::vector<float> a(64), b(64), c(64), expected;
  for (int i = 0; i < 64; ++i)
    b[i] = float(i % 3 - 1), c[i] = float(i % 7 - 3);
  expected = c;
  for (int i = 0; i < 64; ++i)
    for (int k = 0; k < 8; ++k)
      expected[i] += c[i / 8 * 8 + k] * b[k * 8 + i % 8];
  run(code, 1, a.data(), b.data(), c.data(), 0);
  EXPECT_EQ(c, expected);
}

// The store may happen early only if nothing in between can be told from it: here an atomic decides who comes last.
TEST(Dot, StoresStayBehindAtomics) {
  Compiled code = compileText(whole("8x8xf32", "8x8xf32", "8x8xf32", R"(
%zero = arith.constant dense<0.0> : tensor<8x8xf32>
%r = tile.dot %av, %bv, %zero : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
%one = arith.constant 1.0 : f32
%place = tile.access %a, %c0 steps() bounds []() : <f32>, (), () -> <f32>
%old = tile.atomic_rmw fadd %place, %one : !tile.access<f32>, f32 -> f32
)"),
                              disjoint(true));
  std::vector<float> a(64, 1.f), b(64, 2.f), c(64, 5.f);
  run(code, 1, a.data(), b.data(), c.data(), 0);
  EXPECT_EQ(c, std::vector<float>(64, 16.f));
  EXPECT_EQ(a[0], 2.f);
}

// Rows and columns beyond the store's bounds are left out, in both kinds of panel; what is left gives the same bits.
TEST(Dot, DeadRowsAndColumnsAreLeftOut) {
  Shape s{33, 50, 70, 32, 48, 16};
  for (bool shared : {true, false})
    for (bool passes : {true, false}) {
      cpu::Options options = disjoint(shared);
      options.wantPlan = true;
      Compiled code = compileText(seed(s, "f32", "f32"), options, passes);
      bool found = code.code.plan.find("tile.contract rows < %") != std::string::npos;
      EXPECT_EQ(found, passes) << code.code.plan;
      Problem<float, float> problem(s, false, false, 3);
      problem.run(code, shared ? TILERY_DISJOINT : 0);
      problem.check();
    }
}

// Steps of K where both operands are filled with zeros are left out; where only one is, the other may hold what is no number.
TEST(Dot, FilledStepsOfKAreLeftOut) {
  for (bool bounded : {true, false})
    for (int64_t left : {-3, 0, 1, 5, 8, 11}) {
      std::string bound =
          bounded ? "bounds [1, 0](%z, %left) : <f32>, (i64, i64), (i64, i64)" : "bounds [0, 0]() : <f32>, (i64, i64), ()";
      Compiled code = compileText(R"(
tile.kernel @k(%a: !tile.ptr<f32>, %b: !tile.ptr<f32>, %c: !tile.ptr<f32>, %left: i64) {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %eight = arith.constant 8 : i64
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %pa = tile.access %a, %z steps(%eight, %one) bounds [0, 1](%z, %left) : <f32>, (i64, i64), (i64, i64) -> <8x8xf32>
  %va = tile.load %pa : !tile.access<8x8xf32> -> tensor<8x8xf32>
  %pb = tile.access %b, %z steps(%eight, %one) )" +
                                      bound + R"( -> <8x8xf32>
  %vb = tile.load %pb : !tile.access<8x8xf32> -> tensor<8x8xf32>
  %d = tile.dot %va, %vb, %zero : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %pc = tile.access %c, %z steps(%eight, %one) bounds [0, 0]() : <f32>, (i64, i64), () -> <8x8xf32>
  tile.store %pc, %d : !tile.access<8x8xf32>, tensor<8x8xf32>
  tile.return
}
)",
                                  disjoint(true), true);
      std::vector<float> a(64, 1.f), b(64, 2.f), c(64, 77.f);
      int64_t used = std::clamp<int64_t>(left, 0, 8);
      for (int64_t i = used * 8; i < 64; ++i)
        b[i] = std::numeric_limits<float>::quiet_NaN();
      uint64_t slots[] = {slot(a.data()), slot(b.data()), slot(c.data()), slot(left)};
      int64_t grid[] = {1, 1, 1};
      LaunchOptions options;
      options.flags = TILERY_DISJOINT;
      launch(*code.kernels.at(0), grid, slots, options);
      for (float value : c)
        if (bounded || used == 8)
          ASSERT_EQ(value, 2.f * float(used)) << left;
        else
          ASSERT_TRUE(std::isnan(value)) << left;
    }
}

TEST(Dot, SameBitsForAnyTileAndThreadCount) {
  Shape s{150, 170, 700, 32, 32, 16};
  Problem<float, float> first(s, false, false, 9), second(s, false, false, 9), third(s, false, false, 9);
  first.run(compileText(seed(s, "f32", "f32"), disjoint(true), true), TILERY_DISJOINT);
  second.s = {150, 170, 700, 64, 128, 32};
  Compiled larger = compileText(seed(second.s, "f32", "f32"), disjoint(true), true);
  second.run(larger, TILERY_DISJOINT);
  EXPECT_EQ(first.c, second.c);
  setNumThreads(1);
  third.s = second.s;
  third.run(larger, TILERY_DISJOINT);
  setNumThreads(0);
  EXPECT_EQ(first.c, third.c);
}

// Also where denormal numbers are flushed, and for tiles that end in half a pair. AMX adds up each step of K by itself.
TEST(Dot, SameBitsForAnyTileInBFloat) {
  for (const std::string &name : cpu::targetNames()) {
    cpu::Options options = disjoint(true);
    options.target = *cpu::findTarget(name);
    if (!cpu::hostRuns(options.target) || options.target.amx)
      continue;
    Shape s{45, 50, 330, 32, 32, 16};
    Problem<BF16, float> first(s, false, false, 8);
    for (size_t i = 0; i < first.a.size(); i += 3)
      first.a[i] = BF16(float(first.a[i]) * 0x1p-132f);
    first.run(compileText(seed(s, "bf16", "f32"), options, true), TILERY_DISJOINT);
    for (int k : {32, 15, 64}) {
      Problem<BF16, float> other = first;
      other.s.bm = 16, other.s.bn = 64, other.s.bk = k;
      std::fill(other.c.begin(), other.c.end() - 1, 5.f);
      other.run(compileText(seed(other.s, "bf16", "f32"), options, true), TILERY_DISJOINT);
      EXPECT_EQ(first.c, other.c) << name << " " << k;
    }
  }
}

namespace {
template <typename In> void timeDot(const cpu::Options &options, const Shape &s, const std::string &type) {
  Compiled code = compileText(seed(s, type, "f32"), options, true);
  Problem<In, float> problem(s, false, false, 1, /*dense=*/true);
  for (unsigned threads : {1u, 2u, 16u}) {
    setNumThreads(threads);
    double best = 1e9;
    for (int i = 0, runs = s.m == 512 ? 300 : s.m == 1024 ? 50 : 8; i < runs; ++i) {
      auto start = std::chrono::steady_clock::now();
      problem.run(code, TILERY_DISJOINT);
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::printf("%s: %s %d in %dx%dx%d, %u threads: %.1f GFLOP/s\n", options.target.name.c_str(), type.c_str(), s.m, s.bm, s.bn,
                s.bk, threads, 2e-9 * s.m * s.n * s.k / best);
  }
  setNumThreads(0);
}
} // namespace

// Run by name: --gtest_also_run_disabled_tests --gtest_filter='*Speed*'
TEST(Dot, DISABLED_Speed) {
  for (const std::string &name : cpu::targetNames()) {
    cpu::Options options = disjoint(true);
    options.target = *cpu::findTarget(name);
    if (cpu::hostRuns(options.target))
      for (int n : {512, 1024, 2048})
        for (Shape s : {Shape{n, n, n, 128, 256, 64}, Shape{n, n, n, 64, 64, 32}}) {
          timeDot<float>(options, s, "f32");
          timeDot<BF16>(options, s, "bf16");
        }
  }
}
