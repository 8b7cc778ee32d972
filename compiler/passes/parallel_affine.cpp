#include "compiler/passes/parallel_affine.h"
#include "compiler/analysis/integer_op.h"

using namespace mlir;
using namespace tilery;
using Kind = analysis::IntegerOp::Kind;

static Value constantI64(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
}

bool Affine::isUniform() const {
  return llvm::all_of(coefficients, [](int64_t c) { return c == 0; });
}

std::optional<unsigned> Affine::walks() const {
  std::optional<unsigned> var;
  for (auto [d, c] : llvm::enumerate(coefficients)) {
    if (c == 0)
      continue;
    if (c != 1 || var)
      return std::nullopt;
    var = d;
  }
  return var;
}

Value Affine::start(OpBuilder &b, Location loc) const {
  if (!base)
    return constantI64(b, loc, constant);
  if (constant == 0)
    return base;
  return arith::AddIOp::create(b, loc, base, constantI64(b, loc, constant), arith::IntegerOverflowFlags::nsw);
}

std::optional<Affine> AffineReader::read(Value value) {
  Affine result;
  result.coefficients.assign(loopVars.size(), 0);
  for (auto [d, var] : llvm::enumerate(loopVars))
    if (value == var) {
      result.coefficients[d] = 1;
      return result;
    }
  if (auto number = analysis::constantOf(value)) {
    result.constant = *number;
    return result;
  }
  if (Value outside = uniform(value)) {
    if (!outside.getType().isInteger(64))
      outside = arith::ExtSIOp::create(b, value.getLoc(), b.getI64Type(), outside);
    result.base = outside;
    return result;
  }
  return combine(value);
}

/// Whether no iteration wraps in `type`: known only where nothing but the loop variables enters.
bool AffineReader::fits(const Affine &value, Type type) const {
  if (value.base)
    return false;
  int64_t low = value.constant, high = value.constant;
  for (auto [c, n] : llvm::zip(value.coefficients, extents)) {
    int64_t span, &bound = c < 0 ? low : high;
    if (llvm::MulOverflow(c, n - 1, span) || llvm::AddOverflow(bound, span, bound))
      return false;
  }
  unsigned width = type.getIntOrFloatBitWidth();
  return llvm::isIntN(width, low) && llvm::isIntN(width, high);
}

std::optional<Affine> AffineReader::combine(Value value) {
  analysis::IntegerOp op = analysis::integerOpOf(value, analysis::Wrapping::any);
  if (op.kind == Kind::extend)
    return read(op.lhs);
  if (op.kind != Kind::add && op.kind != Kind::subtract && op.kind != Kind::multiply)
    return std::nullopt;
  auto lhs = read(op.lhs), rhs = read(op.rhs);
  if (!lhs || !rhs)
    return std::nullopt;
  constexpr auto nsw = arith::IntegerOverflowFlags::nsw;
  Location loc = value.getLoc();
  Affine result = *lhs;
  if (op.kind == Kind::multiply) {
    if (!lhs->isUniform() || lhs->base)
      std::swap(lhs, rhs);
    if (!lhs->isUniform() || lhs->base)
      return std::nullopt;
    result = *rhs;
    for (int64_t &c : result.coefficients)
      c *= lhs->constant;
    result.constant *= lhs->constant;
    if (result.base)
      result.base = arith::MulIOp::create(b, loc, result.base, constantI64(b, loc, lhs->constant), nsw);
  } else {
    int64_t sign = op.kind == Kind::add ? 1 : -1;
    for (auto [c, other] : llvm::zip(result.coefficients, rhs->coefficients))
      c += sign * other;
    result.constant += sign * rhs->constant;
    if (rhs->base) {
      Value base = result.base ? result.base : constantI64(b, loc, 0);
      result.base = sign > 0 && !result.base ? rhs->base
                    : sign > 0               ? arith::AddIOp::create(b, loc, base, rhs->base, nsw).getResult()
                                             : arith::SubIOp::create(b, loc, base, rhs->base, nsw).getResult();
    }
  }
  return op.exact || fits(result, value.getType()) ? std::optional(result) : std::nullopt;
}
