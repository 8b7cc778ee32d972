// Addresses are moved, offset, compared with nothing: what takes numbers refuses them and says whose they are.
#include "tilery/builder.h"
#include <gtest/gtest.h>

using namespace tilery;

namespace {

struct PointersTest : testing::Test {
  Builder b{Policy::Triton};
  std::vector<Value> params = b.beginKernel("k", {{"n", Type{DType::I64, {}, true}}, {"q", Type{DType::Bool, {}, true}}});
  Value n = params[0], q = params[1], lanes = b.arange(0, 16), tile = b.binary(BinaryOp::Add, n, lanes);
  Diagnostic refusalOf(const std::function<void()> &action) {
    try {
      action();
    } catch (const Error &error) {
      return error.diagnostic();
    }
    return {Diagnostic::Kind::Runtime, "nothing was refused", "", {}};
  }
};

TEST_F(PointersTest, OperatorsTakeOffsetsAlone) {
  for (int op = 0; op <= int(BinaryOp::MulHigh); ++op) {
    auto kind = BinaryOp(op);
    for (const Operand &other : {Operand(Literal(int64_t(50))), Operand(Literal(2.5)), Operand(lanes), Operand(n)}) {
      bool moves = (kind == BinaryOp::Add || kind == BinaryOp::Sub) && !std::holds_alternative<Value>(other) &&
                   std::holds_alternative<int64_t>(std::get<Literal>(other));
      moves |= (kind == BinaryOp::Add || kind == BinaryOp::Sub) && std::holds_alternative<Value>(other) &&
               !std::get<Value>(other).type.pointer;
      Diagnostic found = refusalOf([&] { b.binary(kind, n, other); });
      EXPECT_EQ(found.kind, moves ? Diagnostic::Kind::Runtime : Diagnostic::Kind::Type) << op << ": " << found.message;
    }
  }
  for (int op = 0; op <= int(UnaryOp::Pos); ++op)
    EXPECT_EQ(refusalOf([&] { b.unary(UnaryOp(op), tile); }).kind, Diagnostic::Kind::Type) << op;
}

TEST_F(PointersTest, EverythingElseTakesNumbers) {
  Value number = b.constant(Literal(int64_t(4)), DType::I64);
  std::vector<std::function<void()>> takers{
      [&] { b.cast(n, DType::I64); },
      [&] { b.cast(n, DType::Bool); },
      [&] { b.bitcast(n, DType::F64); },
      [&] { b.convert(n, Type{DType::I64, {}}); },
      [&] { b.math(MathOp::Exp, {n}); },
      [&] { b.math(MathOp::Fma, {number, number, n}); },
      [&] { b.select(n, number, number); },
      [&] { b.select(Literal(true), number, n); },
      [&] { b.load(tile, n, {}); },
      [&] { b.load(tile, Literal(true), n); },
      [&] { b.store(tile, n, {}); },
      [&] { b.intToPointer(n, DType::F32); },
      [&] { b.sort(tile, 0, false); },
      [&] { b.histogram(tile, 4, {}); },
      [&] { b.take(lanes, tile, 0); },
      [&] { b.take(tile, lanes, 0); },
      [&] { b.extract(lanes, {n}); },
      [&] { b.reduce(ReduceKind::Max, tile, 0, false); },
      [&] { b.reduce(ReduceKind::Sum, n, {}, false); },
      [&] { b.argReduce(true, tile, 0, false, true); },
      [&] { b.scan(ReduceKind::Sum, tile, 0, false); },
      [&] { b.beginFor(number, n, number, {}); },
      [&] { b.beginIf(q); },
      [&] { b.root(n, {n}, {number}); },
      [&] { b.root(n, {number}, {n}); },
      [&] { b.atomicRmw(RmwKind::Add, tile, n, {}, MemoryOrder::Relaxed, SyncScope::Gpu); },
      [&] { b.cat(tile, lanes, 0); },
  };
  for (size_t i = 0; i < takers.size(); ++i)
    EXPECT_EQ(refusalOf(takers[i]).kind, Diagnostic::Kind::Type) << i;
}

TEST_F(PointersTest, RefusalsNameTheArgument) {
  Diagnostic found = refusalOf([&] { b.binary(BinaryOp::Lt, lanes, n); });
  EXPECT_EQ(found.message, "operator < takes numbers, and `n` is the address of a tensor (pointer<int64>)");
  EXPECT_EQ(found.hint, "launch with the number, n[0], or read it in the kernel: load(n)");
  found = refusalOf([&] { b.binary(BinaryOp::Eq, b.expandDims(tile, 0), Literal(int64_t(0))); });
  EXPECT_EQ(found.message, "operator == takes numbers, and this is an address in `n` (pointer<int64>[1, 16])");
}

} // namespace
