#include "compiler/analysis/index_polynomial.h"
#include "tests/unit/analysis/kernel.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace tilery;
using analysis::DefinedBefore, analysis::IndexPolynomial, analysis::polynomialOf, analysis::Wrapping;

namespace {
constexpr const char *text = R"(
  tile.kernel @k(%s: i64, %m: i32) {
    %id = tile.program_id 0
    %c = arith.constant 64 : i64
    %wide = arith.extsi %id : i32 to i64
    %start = arith.muli %wide, %c overflow<nsw> : i64
    %row = arith.muli %start, %s overflow<nsw> : i64
    %offset = arith.addi %row, %start overflow<nsw> : i64
    %wraps = arith.addi %row, %start : i64
    %back = arith.subi %offset, %row overflow<nsw> : i64
    %tile = tile.splat %offset : i64 -> tensor<8xi64>
    %numbers = tile.range 0 to 8 : tensor<8xi32>
    %lanes = arith.extsi %numbers : tensor<8xi32> to tensor<8xi64>
    %both = arith.addi %tile, %lanes overflow<nsw> : tensor<8xi64>
    tile.return
  })";

/// Random scalar arithmetic, with the value that each of its integers has: an op is marked as exact only if it is.
class RandomCode {
public:
  explicit RandomCode(unsigned seed) : random(seed) {
    text = "tile.kernel @k(";
    for (unsigned i = 0; i < 4; ++i) {
      bool wide = i % 2;
      values.push_back({"%a" + std::to_string(i), wide,
                        pick(0, 2) ? pick(-50, 50)
                        : wide     ? pick(-(1ll << 40), 1ll << 40)
                                   : pick(INT32_MIN, INT32_MAX)});
      text += (i ? ", " : "") + values.back().name + ": " + type(wide);
    }
    text += ") {\n";
    for (unsigned i = 0; i < 12; ++i)
      statement();
    text += "  tile.return\n}\n";
  }
  struct Number {
    std::string name;
    bool wide;
    int64_t value;
  };
  std::string text;
  std::vector<Number> values; // the arguments, then the body's ops in order

private:
  static std::string type(bool wide) { return wide ? "i64" : "i32"; }
  int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }
  void statement() {
    std::string name = "%v" + std::to_string(values.size());
    Number x = values[pick(0, values.size() - 1)], y = values[pick(0, values.size() - 1)];
    int64_t kind = pick(0, 8);
    if (kind == 0) {
      values.push_back({name, bool(pick(0, 1)), pick(-9, 9)});
      text += name + " = arith.constant " + std::to_string(values.back().value) + " : " + type(values.back().wide) + "\n";
      return;
    }
    if (kind <= 2 && !x.wide) {
      values.push_back({name, true, x.value});
      text += name + " = arith.extsi " + x.name + " : i32 to i64\n";
      return;
    }
    for (int tries = 0; y.wide != x.wide && tries < 20; ++tries)
      y = values[pick(0, values.size() - 1)];
    if (y.wide != x.wide)
      y = x;
    const char *ops[] = {"arith.addi", "arith.subi", "arith.muli", "arith.xori"};
    unsigned op = kind % 4;
    int64_t value = 0;
    bool overflows = op == 0   ? __builtin_add_overflow(x.value, y.value, &value)
                     : op == 1 ? __builtin_sub_overflow(x.value, y.value, &value)
                     : op == 2 ? __builtin_mul_overflow(x.value, y.value, &value)
                               : (value = x.value ^ y.value, false);
    if (!x.wide && value != int32_t(value))
      value = int32_t(value), overflows = true;
    const char *mark = op < 3 && !overflows && pick(0, 9) ? " overflow<nsw>" : "";
    values.push_back({name, x.wide, value});
    text += name + " = " + ops[op] + " " + x.name + ", " + y.name + mark + " : " + type(x.wide) + "\n";
  }
  std::mt19937 random;
};
} // namespace

TEST(IndexPolynomial, SeparatesRowsFromColumns) {
  Kernel kernel(text);
  ASSERT_TRUE(kernel.module);
  IndexPolynomial rest, offset = polynomialOf(kernel.result(5));
  IndexPolynomial rows = offset.divided(polynomialOf(kernel.argument(0)), rest);
  EXPECT_EQ(rows, polynomialOf(kernel.result(3))); // start * s + start
  EXPECT_EQ(rest, rows);
  EXPECT_EQ(rows.coefficient(kernel.result(0), rest).constant(), 64);
  EXPECT_TRUE(rest.isZero());
}

TEST(IndexPolynomial, CancelsAndCompares) {
  Kernel kernel(text);
  EXPECT_EQ(polynomialOf(kernel.result(7)), polynomialOf(kernel.result(3)));
  EXPECT_FALSE(polynomialOf(kernel.argument(1)).constant());
  EXPECT_TRUE(polynomialOf(kernel.result(4)).uses(kernel.argument(0)));
  EXPECT_FALSE(polynomialOf(kernel.result(4)).uses(kernel.argument(1)));
}

TEST(IndexPolynomial, KeepsWhatMayWrapWhole) {
  Kernel kernel(text);
  EXPECT_EQ(polynomialOf(kernel.result(6)), IndexPolynomial::of(kernel.result(6)));
  EXPECT_EQ(polynomialOf(kernel.result(6), Wrapping::address), polynomialOf(kernel.result(5)));
}

TEST(IndexPolynomial, DividesByNumbers) {
  Kernel kernel(text);
  IndexPolynomial rest, start = polynomialOf(kernel.result(3));
  EXPECT_EQ(start.divided(IndexPolynomial(32), rest), polynomialOf(kernel.result(0)) * IndexPolynomial(2));
  EXPECT_TRUE(rest.isZero());
  EXPECT_TRUE(start.divided(IndexPolynomial(48), rest).isZero());
  EXPECT_EQ(rest, start);
}

TEST(IndexPolynomial, TilesLaneByLane) {
  Kernel kernel(text);
  IndexPolynomial rest, both = polynomialOf(kernel.result(11));
  EXPECT_EQ(both.coefficient(kernel.result(9), rest).constant(), 1);
  EXPECT_EQ(rest, polynomialOf(kernel.result(5)));
}

TEST(IndexPolynomial, IsWorthWhatTheCodeComputes) {
  unsigned lookedInto = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    RandomCode code(seed);
    Kernel kernel(code.text);
    ASSERT_TRUE(kernel.module) << code.text;
    llvm::DenseMap<Value, int64_t> known;
    for (auto [i, number] : llvm::enumerate(code.values))
      known[i < 4 ? kernel.argument(i) : kernel.result(i - 4)] = number.value;
    for (auto [value, expected] : known)
      for (Wrapping wrapping : {Wrapping::none, Wrapping::address}) {
        IndexPolynomial p = polynomialOf(value, wrapping);
        uint64_t sum = 0;
        for (auto &[monomial, coefficient] : p.terms()) {
          uint64_t product = coefficient;
          for (Value atom : monomial)
            product *= uint64_t(known.lookup(atom));
          sum += product;
        }
        EXPECT_EQ(sum, uint64_t(expected)) << code.text;
        lookedInto += !(p == IndexPolynomial::of(value));
      }
  }
  EXPECT_GT(lookedInto, 2000u);
}

TEST(IndexPolynomial, AtomsAreInTheOrderOfTheText) {
  Kernel kernel(R"(
    tile.kernel @k(%n: i32, %m: i32) {
      %a = tile.program_id 0
      %r = scf.for %i = %n to %m step %a iter_args(%x = %a) -> (i32) : i32 {
        %b = arith.xori %i, %x : i32
        %c = arith.cmpi slt, %b, %n : i32
        %s = scf.if %c -> i32 {
          %d = arith.xori %b, %n : i32
          scf.yield %d : i32
        } else {
          %e = arith.xori %b, %m : i32
          scf.yield %e : i32
        }
        %f = arith.xori %s, %b : i32
        scf.yield %f : i32
      }
      %g = arith.xori %r, %n : i32
      tile.return
    })");
  ASSERT_TRUE(kernel.module);
  std::vector<Value> order(kernel.body().args_begin(), kernel.body().args_end());
  kernel.body().walk<WalkOrder::PreOrder>([&](Operation *op) {
    order.insert(order.end(), op->result_begin(), op->result_end());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        order.insert(order.end(), block.args_begin(), block.args_end());
  });
  ASSERT_EQ(order.size(), 13u);
  for (size_t i = 0; i < order.size(); ++i)
    for (size_t j = 0; j < order.size(); ++j)
      EXPECT_EQ(DefinedBefore()(order[i], order[j]), i < j) << i << " " << j;
}
