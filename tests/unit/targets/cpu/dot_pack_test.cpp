// Operands whose elements lie at steps that are numbers: slivers row by row, words from where they lie.
#include "../with.h"
#include "run_kernel.h"

using namespace tilery;
using namespace tilery::test;

namespace {
constexpr int M = 20, K = 37;

/// c = a b for one program of 20 x `columns`, K = 37 in steps of 16: a row-major, b row-major or (`turned`) with k in one piece.
std::string product(const std::string &type, int columns, bool turned) {
  std::string text = R"(
tile.kernel @k(%x: !tile.ptr<TYPE>, %y: !tile.ptr<TYPE>, %o: !tile.ptr<SUM>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %K = arith.constant 37 : i64
  %N = arith.constant COLUMNS : i64
  %step = arith.constant 16 : i64
  %none = arith.constant dense<NOTHING> : tensor<20xCOLUMNSxSUM>
  %r = scf.for %k = %zero to %K step %step iter_args(%acc = %none) -> (tensor<20xCOLUMNSxSUM>) : i64 {
    %left = arith.subi %K, %k overflow<nsw> : i64
    %below = arith.muli %k, %STEP overflow<nsw> : i64
    %ax = tile.access %x, %k steps(%K, %one) bounds [0, 1] (%zero, %left) : <TYPE>, (i64, i64), (i64, i64) -> <20x16xTYPE>
    %a = tile.load %ax : !tile.access<20x16xTYPE> -> tensor<20x16xTYPE>
    %ay = tile.access %y, %below steps(STEPS) bounds [1, 0] (%zero, %left) : <TYPE>, (i64, i64), (i64, i64) -> <16xCOLUMNSxTYPE>
    %b = tile.load %ay : !tile.access<16xCOLUMNSxTYPE> -> tensor<16xCOLUMNSxTYPE>
    %d = tile.dot %a, %b, %acc : tensor<20x16xTYPE>, tensor<16xCOLUMNSxTYPE> -> tensor<20xCOLUMNSxSUM>
    scf.yield %d : tensor<20xCOLUMNSxSUM>
  }
  %ao = tile.access %o, %zero steps(%N, %one) bounds [0, 0] () : <SUM>, (i64, i64), () -> <20xCOLUMNSxSUM>
  tile.store %ao, %r : !tile.access<20xCOLUMNSxSUM>, tensor<20xCOLUMNSxSUM>
  tile.return
}
)";
  bool isInteger = type[0] == 'i';
  return with(std::move(text), {{"COLUMNS", std::to_string(columns)},
                                {"TYPE", type},
                                {"SUM", isInteger ? "i32" : "f32"},
                                {"NOTHING", isInteger ? "0" : "0.0"},
                                {"STEPS", turned ? "%one, %K" : "%N, %one"},
                                {"STEP", turned ? "one" : "N"}});
}

template <typename Element, typename Sum> void computes(const std::string &type, Element (*make)(int)) {
  for (const std::string &name : cpu::targetNames())
    for (int columns : {96, 70})
      for (bool turned : {false, true})
        for (bool disjoint : {true, false}) {
          cpu::Options options;
          options.target = *cpu::findTarget(name);
          options.disjoint = disjoint;
          if (!cpu::hostRuns(options.target))
            continue;
          SCOPED_TRACE(name + " " + type + " " + std::to_string(columns) + (turned ? " turned" : ""));
          Compiled code = compileText(product(type, columns, turned), options, true);
          ASSERT_FALSE(code.kernels.empty()) << code.errors;
          auto number = [](int i) { return i * 7 % 15 - 7; };
          std::vector<Element> a(M * K), b(K * columns);
          for (size_t i = 0; i < a.size(); ++i)
            a[i] = make(number(int(i)));
          for (size_t i = 0; i < b.size(); ++i)
            b[i] = make(number(int(i) + 3));
          std::vector<Sum> c(M * columns, Sum(99));
          uint64_t slots[] = {slot(a.data()), slot(b.data()), slot(c.data())};
          int64_t grid[] = {1, 1, 1};
          LaunchOptions launched;
          launched.flags = disjoint ? TILERY_DISJOINT : 0;
          launch(*code.kernels[0], grid, slots, launched);
          for (int i = 0; i < M; ++i)
            for (int j = 0; j < columns; ++j) {
              int expected = 0;
              for (int k = 0; k < K; ++k)
                expected += number(i * K + k) * number((turned ? j * K + k : k * columns + j) + 3);
              ASSERT_EQ(c[i * columns + j], Sum(expected)) << i << " " << j;
            }
        }
}
} // namespace

// Small integers are exact in every type.
TEST(DotPack, Floats) {
  computes<float, float>("f32", [](int x) { return float(x); });
}
TEST(DotPack, BFloats) {
  computes<uint16_t, float>("bf16", [](int x) {
    float wide = float(x);
    uint32_t bits;
    std::memcpy(&bits, &wide, 4);
    return uint16_t(bits >> 16);
  });
}
TEST(DotPack, Bytes) {
  computes<int8_t, int32_t>("i8", [](int x) { return int8_t(x); });
}
TEST(DotPack, Words) {
  computes<int16_t, int32_t>("i16", [](int x) { return int16_t(x); });
}

// Rows that lie in memory as words are wanted are loaded where they are transposed, not put side by side before.
TEST(DotPack, WordsAreTransposedFromWhereTheyLie) {
  cpu::Options options;
  options.disjoint = options.wantLLVM = true;
  auto packs = [&](const std::string &type, const char *target, const char *function) {
    options.target = *cpu::findTarget(target);
    return compileText(product(type, 64, true), options, true).code.llvm.find(function) != std::string::npos;
  };
  EXPECT_TRUE(packs("bf16", "sapphirerapids", "@tilery.pack.float.bf16"));
  EXPECT_TRUE(packs("i16", "avx512", "@tilery.pack.i32.i16"));
  EXPECT_FALSE(packs("i8", "avx512", "@tilery.pack.i32.i8")) << "bytes become pairs of 16 bits";
}
