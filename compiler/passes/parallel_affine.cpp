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

Affine AffineReader::position(unsigned d) const {
  Affine result;
  result.coefficients.assign(extents.size(), 0);
  result.coefficients[d] = 1;
  return withFixed(result);
}

Affine AffineReader::withFixed(Affine value) const {
  for (auto [d, position] : fixed) {
    value.constant += value.coefficients[d] * position;
    value.coefficients[d] = 0;
  }
  return value;
}

std::optional<Affine> AffineReader::read(Value value) {
  Affine result;
  if (auto found = known.find(value); found != known.end()) {
    result = found->second;
    result.coefficients.resize(extents.size(), 0);
    return withFixed(result);
  }
  result.coefficients.assign(extents.size(), 0);
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

std::optional<Division> tilery::divisionOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() != 2)
    return std::nullopt;
  auto by = analysis::constantOf(op->getOperand(1));
  bool quotient = isa<tile::DivOp>(op);
  if (auto shift = dyn_cast<tile::ShiftOp>(op); shift && by && shift.getMode() != tile::ShiftMode::left && *by >= 0 && *by < 31)
    quotient = true, by = int64_t(1) << *by;
  else if (auto bits = dyn_cast<arith::AndIOp>(op); bits && by && *by > 0 && llvm::isPowerOf2_64(*by + 1))
    by = *by + 1;
  else if (!isa<tile::DivOp, tile::RemOp>(op))
    return std::nullopt;
  return by && *by > 0 ? std::optional(Division{op->getOperand(0), *by, quotient}) : std::nullopt;
}

/// Quotient and remainder by a constant of what is never negative, where each dimension is part of one of them only.
std::optional<Affine> AffineReader::divide(Value value) {
  std::optional<Division> division = divisionOf(value);
  if (!division)
    return std::nullopt;
  auto [number, by, quotient] = *division;
  auto whole = read(number);
  if (!whole || whole->base || whole->constant < 0 || llvm::any_of(whole->coefficients, [](int64_t c) { return c < 0; }))
    return std::nullopt;
  Affine high = *whole, low = *whole;
  int64_t rest = low.constant = whole->constant % by;
  high.constant = whole->constant / by;
  for (auto [h, l, n] : llvm::zip(high.coefficients, low.coefficients, extents)) {
    if (h % by == 0) {
      h /= by, l = 0;
      continue;
    }
    h = 0;
    int64_t most; // of this dimension's part
    if (llvm::MulOverflow(l, n - 1, most) || llvm::AddOverflow(rest, most, rest))
      return std::nullopt;
  }
  if (rest >= by)
    return std::nullopt;
  return quotient ? high : low;
}

std::optional<Affine> AffineReader::combine(Value value) {
  if (auto divided = divide(value))
    return divided;
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
