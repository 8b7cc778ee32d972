#include "compiler/targets/cuda/polynomial.h"
#include "compiler/ir/Tile.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tilery;
using cuda::Polynomial;

namespace {
struct Kernel {
  explicit Kernel(const char *text) {
    context.loadDialect<tile::TileDialect, arith::ArithDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
  }
  tile::KernelOp op() { return *module->getOps<tile::KernelOp>().begin(); }
  Value result(unsigned number) { // of the body's number-th op
    return std::next(op().getBody().front().begin(), number)->getResult(0);
  }
  Value argument(unsigned number) { return op().getBody().getArgument(number); }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

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
    tile.return
  })";
} // namespace

TEST(Polynomial, SeparatesRowsFromColumns) {
  Kernel kernel(text);
  ASSERT_TRUE(kernel.module);
  Polynomial rest, offset = Polynomial::of(kernel.result(5));
  Polynomial rows = offset.divided(Polynomial::of(kernel.argument(0)), rest);
  EXPECT_EQ(rows, Polynomial::of(kernel.result(3))); // start * s + start
  EXPECT_EQ(rest, rows);
  EXPECT_EQ(rows.coefficient(kernel.result(0), rest).constant(), 64);
  EXPECT_TRUE(rest.isZero());
}

TEST(Polynomial, CancelsAndCompares) {
  Kernel kernel(text);
  EXPECT_EQ(Polynomial::of(kernel.result(7)), Polynomial::of(kernel.result(3)));
  EXPECT_TRUE((Polynomial(3) - Polynomial(3)).isZero());
  EXPECT_EQ((Polynomial(3) * Polynomial(5)).constant(), 15);
  EXPECT_EQ(Polynomial().constant(), 0);
  EXPECT_FALSE(Polynomial::of(kernel.argument(1)).constant());
  EXPECT_TRUE(Polynomial::of(kernel.result(4)).uses(kernel.argument(0)));
  EXPECT_FALSE(Polynomial::of(kernel.result(4)).uses(kernel.argument(1)));
}

TEST(Polynomial, KeepsWhatMayWrapWhole) {
  Kernel kernel(text);
  Polynomial wraps = Polynomial::of(kernel.result(6));
  ASSERT_EQ(wraps.terms.size(), 1u);
  EXPECT_TRUE(wraps.uses(kernel.result(6)));
}

TEST(Polynomial, DividesByNumbers) {
  Kernel kernel(text);
  Polynomial rest, start = Polynomial::of(kernel.result(3));
  EXPECT_EQ(start.divided(Polynomial(32), rest), Polynomial::of(kernel.result(0)) * Polynomial(2));
  EXPECT_TRUE(rest.isZero());
  EXPECT_TRUE(start.divided(Polynomial(48), rest).isZero());
  EXPECT_EQ(rest, start);
}
