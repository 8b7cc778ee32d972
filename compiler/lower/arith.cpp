// Elementwise ops on LLVM scalars and vectors: arith, tile arithmetic, pointers. Every op is total.
#include "compiler/analysis/interval.h"
#include "compiler/analysis/nan_signs.h"
#include "compiler/explain/findings.h"
#include "compiler/lower/branch.h"
#include "compiler/lower/floats.h"
#include "compiler/lower/math.h"
#include "compiler/lower/quotient.h"
#include "llvm/Analysis/VectorUtils.h"

using namespace mlir;

namespace tilery::lower {
namespace {

// f64 to a small float with one rounding: to f32 by rounding to odd first, which keeps what the second rounding needs.
Lanes narrowDouble(Emitter &e, Lanes value, Type to) {
  auto &b = e.b;
  unsigned lanes = e.lanesOf(value);
  llvm::Type *f64 = value->getType(), *f32 = e.vectorOf(b.getFloatTy(), lanes), *i32 = e.vectorOf(b.getInt32Ty(), lanes);
  Lanes nearest = b.CreateFPTrunc(value, f32);
  Lanes back = b.CreateFPExt(nearest, f64);
  Lanes away =
      b.CreateFCmpOGT(e.intrinsic(llvm::Intrinsic::fabs, {back}, {f64}), e.intrinsic(llvm::Intrinsic::fabs, {value}, {f64}));
  Lanes bits = b.CreateSub(b.CreateBitCast(nearest, i32), b.CreateZExt(away, i32));
  bits = b.CreateOr(bits, b.CreateZExt(b.CreateFCmpONE(back, value), i32));
  return e.narrowFloat(b.CreateBitCast(bits, f32), to);
}

Lanes convertFloat(Emitter &e, Lanes value, Type from, Type to, bool keepsNaNSign = true) {
  auto &b = e.b;
  if (from == to)
    return value;
  if (from.getIntOrFloatBitWidth() == 8 && to.isF16())
    if (Lanes half = e.options.target.float8ToHalf(e, value, from))
      return half;
  if (isSmallFloat(from)) {
    value = e.widenFloat(value, from, keepsNaNSign);
    from = Float32Type::get(from.getContext());
  }
  if (isSmallFloat(to))
    return from.isF64() ? narrowDouble(e, value, to) : e.narrowFloat(value, to);
  return b.CreateFPCast(value, e.vectorOf(e.valueType(to), e.lanesOf(value)));
}

// The number of `to` next to `value` on the side of zero, of the one that is nearest to it: one less in its bits where that is larger.
Lanes towardZero(Emitter &e, Lanes value, Lanes nearest, Type from, Type to) {
  auto &b = e.b;
  Lanes near = nearest;
  if (isSmallFloat(to))
    near = e.widenFloat(near, to);
  if (isSmallFloat(from))
    value = e.widenFloat(value, from);
  llvm::Type *compute = value->getType();
  near = b.CreateFPCast(near, compute);
  Lanes away = b.CreateFCmpOGT(e.intrinsic(llvm::Intrinsic::fabs, {near}, {compute}),
                               e.intrinsic(llvm::Intrinsic::fabs, {value}, {compute}));
  llvm::Type *bits = e.vectorOf(b.getIntNTy(to.getIntOrFloatBitWidth()), e.lanesOf(value));
  Lanes less = b.CreateSub(b.CreateBitCast(nearest, bits), b.CreateZExt(away, bits));
  return b.CreateBitCast(less, nearest->getType());
}

/// Whether f32 has all these numbers, or rounds those that it has not to what `to` has no number for either, so that `to` rounds once.
bool fitsF32(Value integers, bool isSigned, Type to) {
  constexpr int64_t most = 1 << 24;
  if (llvm::APFloat::semanticsMaxExponent(cast<FloatType>(to).getFloatSemantics()) < 24)
    return true;
  if (getElementTypeOrSelf(integers.getType()).getIntOrFloatBitWidth() <= 24)
    return true;
  auto range = isSigned ? analysis::intervalOf(integers) : std::nullopt;
  return range && range->least >= -most && range->greatest <= most;
}

/// Numbers of a narrow range, where the target has the float of `name` of what they are more than the least by fewer instructions: it gives
/// `bias` more than that. Null: they are not, or it has not.
Lanes fewToFloat(Emitter &e, Lanes value, Value integers, StringRef name, int64_t bias) {
  auto range = analysis::intervalOf(integers);
  if (!range || range->least < -bias || range->greatest > bias || range->greatest - range->least >= bias)
    return nullptr;
  auto &b = e.b;
  Lanes above = b.CreateSub(value, llvm::ConstantInt::getSigned(value->getType(), range->least));
  Lanes biased = e.options.target.function(e, name, {above});
  if (!biased)
    return nullptr;
  Lanes number = b.CreateFSub(biased, llvm::ConstantFP::get(biased->getType(), double(bias - range->least)));
  return name.starts_with("f16") ? b.CreateBitCast(number, e.vectorOf(b.getInt16Ty(), e.lanesOf(number))) : number;
}

/// All numbers of 8 bits, where the target has the float of `name` of one without a sign by fewer instructions: it gives `bias` more.
Lanes byteToFloat(Emitter &e, Lanes value, StringRef name, int64_t bias, bool isSigned) {
  auto &b = e.b;
  Lanes above = isSigned ? b.CreateXor(value, llvm::ConstantInt::get(value->getType(), 0x80)) : value; // more by 128
  Lanes biased = e.options.target.function(e, name, {above});
  return biased ? b.CreateFSub(biased, llvm::ConstantFP::get(biased->getType(), double(bias + (isSigned ? 128 : 0)))) : nullptr;
}

/// 64-bit integers that f64 has, and that round to a float of few bits as the others do: of those beyond 2^53 the last 11 bits become one,
/// which says whether any is set.
Lanes withinF64(Emitter &e, Lanes value, bool isSigned) {
  auto &b = e.b;
  auto number = [&](uint64_t n) { return llvm::ConstantInt::get(value->getType(), n); };
  constexpr uint64_t exact = uint64_t(1) << 53, cut = 1 << 11;
  llvm::Value *isLarge =
      isSigned ? b.CreateICmpUGT(b.CreateAdd(value, number(exact)), number(2 * exact)) : b.CreateICmpUGT(value, number(exact));
  llvm::Value *lost = b.CreateICmpNE(b.CreateAnd(value, number(cut - 1)), number(0));
  llvm::Value *odd = b.CreateShl(b.CreateZExt(lost, value->getType()), number(11));
  return b.CreateSelect(isLarge, b.CreateOr(b.CreateAnd(value, number(~(cut - 1))), odd), value);
}

Lanes intToFloat(Emitter &e, Lanes value, Value integers, Type to, bool isSigned) {
  auto &b = e.b;
  unsigned bits = value->getType()->getScalarSizeInBits();
  bool isWord = isSigned && bits == 32, isByte = bits == 8;
  if (Lanes few = isWord && to.isF16() ? fewToFloat(e, value, integers, "f16 of few", 1 << 10) : nullptr)
    return few;
  if (Lanes half = isByte && to.isF16() ? byteToFloat(e, value, "f16 of a byte", 1 << 10, isSigned) : nullptr)
    return b.CreateBitCast(half, e.vectorOf(b.getInt16Ty(), e.lanesOf(half)));
  Type compute = to;
  if (isSmallFloat(to)) // else through f64, exact for 32-bit integers, so that only one rounding is left
    compute = fitsF32(integers, isSigned, to) ? Type(Float32Type::get(to.getContext())) : Type(Float64Type::get(to.getContext()));
  if (isSmallFloat(to) && compute.isF64() && bits == 64)
    value = withinF64(e, value, isSigned);
  llvm::Type *type = e.vectorOf(e.valueType(compute), e.lanesOf(value));
  Lanes result = isWord && compute.isF32() ? fewToFloat(e, value, integers, "f32 of few", 1 << 23) : nullptr;
  if (isByte && compute.isF32())
    result = byteToFloat(e, value, "f32 of a byte", 1 << 23, isSigned);
  if (!result)
    result = isSigned ? b.CreateSIToFP(value, type) : b.CreateUIToFP(value, type);
  return convertFloat(e, result, compute, to);
}

/// Lanes of f32 or f64 to integers, saturated, NaN as 0. What LLVM makes of such conversions goes lane by lane.
Lanes lanesToInt(Emitter &e, Lanes value, unsigned bits, bool isUnsigned) {
  auto &b = e.b;
  unsigned lanes = e.lanesOf(value), computed = std::max(bits, 32u), exponent = isUnsigned ? bits : bits - 1;
  auto number = [&](double x) { return llvm::ConstantFP::get(value->getType(), x); };
  auto type = [&](unsigned width) { return e.vectorOf(b.getIntNTy(width), lanes); };
  auto integer = [&](const llvm::APInt &x) { return llvm::ConstantInt::get(type(computed), x.sextOrTrunc(computed)); };
  auto *above = b.CreateFCmpOGE(value, number(std::ldexp(1, exponent))),
       *notBelow = b.CreateFCmpOGE(value, number(isUnsigned ? 0 : -std::ldexp(1, exponent))); // false for NaN
  Lanes inside = b.CreateSelect(b.CreateAnd(notBelow, b.CreateNot(above)), value, number(0));
  Lanes result = isUnsigned && computed == bits ? b.CreateFPToUI(inside, type(computed)) : b.CreateFPToSI(inside, type(computed));
  llvm::APInt most = isUnsigned ? llvm::APInt::getMaxValue(bits) : llvm::APInt::getSignedMaxValue(bits);
  result = b.CreateSelect(above, integer(most), result);
  if (!isUnsigned) {
    auto *below = b.CreateFCmpOLT(value, number(-std::ldexp(1, exponent)));
    result = b.CreateSelect(below, integer(llvm::APInt::getSignedMinValue(bits)), result);
  }
  return b.CreateTrunc(result, type(bits));
}

Lanes floatToInt(Emitter &e, Lanes value, Type from, Type to, bool isUnsigned) {
  if (isSmallFloat(from))
    value = e.widenFloat(value, from);
  llvm::Type *result = e.vectorOf(e.valueType(to), e.lanesOf(value));
  if (to.isInteger(1)) // LLVM saturates one bit wrongly for some targets
    return isUnsigned ? e.b.CreateFCmpOGE(value, llvm::ConstantFP::get(value->getType(), 1))
                      : e.b.CreateFCmpOLE(value, llvm::ConstantFP::get(value->getType(), -1));
  // Narrower vectors are what a thread of a GPU has side by side: it converts and saturates each lane by one instruction.
  constexpr unsigned registers = 256;
  if (e.lanesOf(value) > 1 && e.options.target.machine.vectorBits >= registers)
    return lanesToInt(e, value, to.getIntOrFloatBitWidth(), isUnsigned);
  return e.intrinsic(isUnsigned ? llvm::Intrinsic::fptoui_sat : llvm::Intrinsic::fptosi_sat, {value}, {result, value->getType()});
}

// Of 64 bits that are mostly indices: where all lanes of both fit into 31, as those of 32 bits.
Lanes quotientOfIndices(Emitter &e, Lanes x, Lanes y, bool isUnsigned) {
  auto &b = e.b;
  unsigned lanes = e.lanesOf(x);
  auto number = [&](uint64_t value) { return llvm::ConstantInt::get(x->getType(), value); };
  auto *bias = number(isUnsigned ? 0 : 1 << 30);
  Lanes high = b.CreateLShr(b.CreateOr(b.CreateAdd(x, bias), b.CreateAdd(y, bias)), number(isUnsigned ? 30 : 31));
  llvm::Type *narrow = e.vectorOf(b.getInt32Ty(), lanes), *real = e.vectorOf(b.getDoubleTy(), lanes);
  auto exact = [&](Lanes v) { return b.CreateSIToFP(b.CreateTrunc(v, narrow), real); };
  auto ofIndices = [&] { return Values{b.CreateSExt(b.CreateFPToSI(b.CreateFDiv(exact(x), exact(y)), narrow), x->getType())}; };
  auto ofNumbers = [&] { return Values{isUnsigned ? b.CreateUDiv(x, y) : b.CreateSDiv(x, y)}; };
  return emitEither(b, b.CreateICmpEQ(b.CreateOrReduce(high), b.getInt64(0)), ofIndices, ofNumbers)[0];
}

// Hardly a machine divides vectors of integers, and LLVM divides lane by lane. In double, n / d of 32-bit integers has the right integer
// part: it is at least 1 / d away from the next integer that it is not, which is more than 2^-53 of it.
Lanes quotientOf(Emitter &e, Lanes x, Lanes y, bool isUnsigned) {
  auto &b = e.b;
  unsigned lanes = e.lanesOf(x), bits = x->getType()->getScalarSizeInBits();
  constexpr unsigned registers = 256; // a GPU's threads have narrower vectors
  if (lanes > 1 && bits == 64 && e.options.target.machine.vectorBits >= registers && !llvm::isa<llvm::Constant>(y))
    return callOwnFunction(e, isUnsigned ? "udiv" : "sdiv", {x, y},
                           [&](llvm::ArrayRef<Lanes> of) { return quotientOfIndices(e, of[0], of[1], isUnsigned); });
  bool byLanes = e.options.target.machine.vectorBits < registers; // whose divisions are code, of integers less than of f64
  if (byLanes || lanes == 1 || bits > 32 || (isUnsigned && bits == 32 && !e.options.target.machine.unsignedVectors) ||
      llvm::isa<llvm::Constant>(y))
    return isUnsigned ? b.CreateUDiv(x, y) : b.CreateSDiv(x, y);
  llvm::Type *real = e.vectorOf(b.getDoubleTy(), lanes);
  if (isUnsigned)
    return b.CreateFPToUI(b.CreateFDiv(b.CreateUIToFP(x, real), b.CreateUIToFP(y, real)), x->getType());
  return b.CreateFPToSI(b.CreateFDiv(b.CreateSIToFP(x, real), b.CreateSIToFP(y, real)), x->getType());
}

/// What all lanes are divided by, if that is known and neither 0 nor -1: then every quotient exists.
bool dividesAll(Lanes y) {
  auto *constant = llvm::dyn_cast<llvm::Constant>(y);
  auto *number = constant && constant->getType()->isVectorTy() ? constant->getSplatValue() : constant;
  auto *by = llvm::dyn_cast_or_null<llvm::ConstantInt>(number);
  return by && !by->isZero() && !by->isMinusOne();
}

Lanes divide(Emitter &e, Lanes x, Lanes y, tile::IntDivMode mode, bool remainder) {
  auto &b = e.b;
  llvm::Type *type = x->getType();
  unsigned bits = type->getScalarSizeInBits();
  auto *zero = llvm::Constant::getNullValue(type), *one = llvm::ConstantInt::get(type, 1);
  Lanes byZero = b.CreateICmpEQ(y, zero), safe = y;
  bool isUnsigned = mode == tile::IntDivMode::unsigned_;
  llvm::Value *only = oneDivisor(e, x, y, isUnsigned);
  if (!only && !dividesAll(y)) {
    Lanes bad = byZero;
    if (!isUnsigned)
      bad = b.CreateOr(bad, b.CreateAnd(b.CreateICmpEQ(y, llvm::Constant::getAllOnesValue(type)),
                                        b.CreateICmpEQ(x, llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(bits)))));
    safe = b.CreateSelect(bad, one, y);
  }
  Lanes quotient = only ? quotientByOne(e, x, only, isUnsigned) : quotientOf(e, x, safe, isUnsigned);
  Lanes rest = nullptr;
  if (remainder || mode == tile::IntDivMode::floor)
    rest = b.CreateSub(x, b.CreateMul(quotient, safe));
  if (mode == tile::IntDivMode::floor) {
    Lanes adjust = b.CreateAnd(b.CreateICmpNE(rest, zero), b.CreateICmpSLT(b.CreateXor(rest, safe), zero));
    quotient = b.CreateSub(quotient, b.CreateZExt(adjust, type));
    rest = b.CreateAdd(rest, b.CreateSelect(adjust, safe, zero));
  }
  return b.CreateSelect(byZero, zero, remainder ? rest : quotient);
}

// Numbers that are not negative are divided without signs: by a power of two that is one instruction. Vectors of 32-bit integers are divided
// by constants with a multiplication; of 64-bit ones LLVM takes a lane after the other.
Lanes divided(Emitter &e, Operation *op, ArrayRef<Lanes> v, tile::IntDivMode mode, bool remainder) {
  auto &b = e.b;
  if (e.lanesOf(v[0]) == 1 || !dividesAll(v[1]))
    return divide(e, v[0], v[1], mode, remainder);
  auto x = analysis::intervalOf(op->getOperand(0)), y = analysis::intervalOf(op->getOperand(1));
  if (!x || !y || x->least < 0 || x->greatest > INT32_MAX || y->least < 1 || y->greatest > INT32_MAX)
    return divide(e, v[0], v[1], mode, remainder);
  bool narrows = v[0]->getType()->getScalarSizeInBits() > 32;
  llvm::Type *type = narrows ? e.vectorOf(b.getInt32Ty(), e.lanesOf(v[0])) : v[0]->getType();
  llvm::Value *of = b.CreateZExtOrTrunc(v[0], type), *by = b.CreateZExtOrTrunc(v[1], type);
  return b.CreateZExtOrTrunc(remainder ? b.CreateURem(of, by) : b.CreateUDiv(of, by), v[0]->getType());
}

Lanes shift(Emitter &e, Lanes x, Lanes amount, tile::ShiftMode mode) {
  auto &b = e.b;
  llvm::Type *type = x->getType();
  unsigned bits = type->getScalarSizeInBits();
  Lanes fits = b.CreateICmpULT(amount, llvm::ConstantInt::get(type, bits));
  if (mode == tile::ShiftMode::right_signed)
    return b.CreateAShr(x, b.CreateSelect(fits, amount, llvm::ConstantInt::get(type, bits - 1)));
  Lanes safe = b.CreateSelect(fits, amount, llvm::Constant::getNullValue(type));
  Lanes result = mode == tile::ShiftMode::left ? b.CreateShl(x, safe) : b.CreateLShr(x, safe);
  return b.CreateSelect(fits, result, llvm::Constant::getNullValue(type));
}

Lanes mulHigh(Emitter &e, Lanes x, Lanes y, bool isUnsigned) {
  auto &b = e.b;
  llvm::Type *type = x->getType();
  unsigned bits = type->getScalarSizeInBits();
  llvm::Type *wide = e.vectorOf(b.getIntNTy(bits * 2), e.lanesOf(x));
  auto extend = [&](Lanes v) { return isUnsigned ? b.CreateZExt(v, wide) : b.CreateSExt(v, wide); };
  return b.CreateTrunc(b.CreateLShr(b.CreateMul(extend(x), extend(y)), bits), type);
}

// One instruction that gives y if either is a NaN, and a check of x. Which of two zeros comes out does not matter.
Lanes extremum(Emitter &e, Lanes x, Lanes y, bool isMax, bool nanWins) {
  using namespace llvm::Intrinsic;
  llvm::CallInst *result = e.intrinsic(nanWins ? (isMax ? maximum : minimum) : (isMax ? maxnum : minnum), {x, y}, {x->getType()});
  result->setHasNoSignedZeros(true);
  return result;
}

// Ops on floats of one type: widened operands in, result not narrowed.
Lanes floatOp(Emitter &e, Operation *op, ArrayRef<Lanes> v) {
  auto &b = e.b;
  return llvm::TypeSwitch<Operation *, Lanes>(op)
      .Case([&](arith::AddFOp) { return b.CreateFAdd(v[0], v[1]); })
      .Case([&](arith::SubFOp) { return b.CreateFSub(v[0], v[1]); })
      .Case([&](arith::MulFOp) { return b.CreateFMul(v[0], v[1]); })
      .Case([&](arith::DivFOp) { return b.CreateFDiv(v[0], v[1]); })
      .Case([&](arith::RemFOp) -> Lanes {
        Lanes own = emitOwnMath(e, "fmod", v);
        return own ? own : callLibm(e, "fmod", v); // LLVM has x - y * trunc(x / y) for it on a GPU
      })
      .Case([&](arith::NegFOp) { return b.CreateFNeg(v[0]); })
      .Case([&](arith::MaximumFOp) { return extremum(e, v[0], v[1], true, true); })
      .Case([&](arith::MinimumFOp) { return extremum(e, v[0], v[1], false, true); })
      .Case([&](arith::MaxNumFOp) { return extremum(e, v[0], v[1], true, false); })
      .Case([&](arith::MinNumFOp) { return extremum(e, v[0], v[1], false, false); })
      .Default([&](Operation *) { return emitMath(e, op, v); });
}

Lanes integerOp(Emitter &e, Operation *op, ArrayRef<Lanes> v) {
  auto &b = e.b;
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp, arith::RemSIOp, arith::RemUIOp, tile::DivOp, tile::RemOp>(op) &&
      e.lanesOf(v[0]) > 1 && !dividesAll(v[1]))
    explain::division(op);
  auto minMax = [&](llvm::CmpInst::Predicate p) { return b.CreateSelect(b.CreateICmp(p, v[0], v[1]), v[0], v[1]); };
  return llvm::TypeSwitch<Operation *, Lanes>(op)
      .Case([&](arith::AddIOp) { return b.CreateAdd(v[0], v[1]); })
      .Case([&](arith::SubIOp) { return b.CreateSub(v[0], v[1]); })
      .Case([&](arith::MulIOp) { return b.CreateMul(v[0], v[1]); })
      .Case([&](arith::AndIOp) { return b.CreateAnd(v[0], v[1]); })
      .Case([&](arith::OrIOp) { return b.CreateOr(v[0], v[1]); })
      .Case([&](arith::XOrIOp) { return b.CreateXor(v[0], v[1]); })
      .Case([&](arith::MaxSIOp) { return minMax(llvm::CmpInst::ICMP_SGT); })
      .Case([&](arith::MaxUIOp) { return minMax(llvm::CmpInst::ICMP_UGT); })
      .Case([&](arith::MinSIOp) { return minMax(llvm::CmpInst::ICMP_SLT); })
      .Case([&](arith::MinUIOp) { return minMax(llvm::CmpInst::ICMP_ULT); })
      .Case([&](arith::ShLIOp) { return shift(e, v[0], v[1], tile::ShiftMode::left); })
      .Case([&](arith::ShRSIOp) { return shift(e, v[0], v[1], tile::ShiftMode::right_signed); })
      .Case([&](arith::ShRUIOp) { return shift(e, v[0], v[1], tile::ShiftMode::right_unsigned); })
      .Case([&](arith::DivSIOp) { return divide(e, v[0], v[1], tile::IntDivMode::trunc, false); })
      .Case([&](arith::DivUIOp) { return divide(e, v[0], v[1], tile::IntDivMode::unsigned_, false); })
      .Case([&](arith::FloorDivSIOp) { return divide(e, v[0], v[1], tile::IntDivMode::floor, false); })
      .Case([&](arith::RemSIOp) { return divide(e, v[0], v[1], tile::IntDivMode::trunc, true); })
      .Case([&](arith::RemUIOp) { return divide(e, v[0], v[1], tile::IntDivMode::unsigned_, true); })
      .Case([&](tile::DivOp op) { return divided(e, op, v, op.getMode(), false); })
      .Case([&](tile::RemOp op) { return divided(e, op, v, op.getMode(), true); })
      .Case([&](tile::ShiftOp op) { return shift(e, v[0], v[1], op.getMode()); })
      .Case([&](tile::MulHighOp op) { return mulHigh(e, v[0], v[1], op.getIsUnsigned()); })
      .Default([&](Operation *) { return emitMath(e, op, v); });
}

llvm::CmpInst::Predicate predicateOf(arith::CmpIPredicate p) {
  using P = arith::CmpIPredicate;
  switch (p) {
  case P::eq:
    return llvm::CmpInst::ICMP_EQ;
  case P::ne:
    return llvm::CmpInst::ICMP_NE;
  case P::slt:
    return llvm::CmpInst::ICMP_SLT;
  case P::sle:
    return llvm::CmpInst::ICMP_SLE;
  case P::sgt:
    return llvm::CmpInst::ICMP_SGT;
  case P::sge:
    return llvm::CmpInst::ICMP_SGE;
  case P::ult:
    return llvm::CmpInst::ICMP_ULT;
  case P::ule:
    return llvm::CmpInst::ICMP_ULE;
  case P::ugt:
    return llvm::CmpInst::ICMP_UGT;
  case P::uge:
    return llvm::CmpInst::ICMP_UGE;
  }
  llvm_unreachable("predicate");
}
llvm::CmpInst::Predicate predicateOf(arith::CmpFPredicate p) {
  // Both enumerate false, oeq, ogt, oge, olt, ole, one, ord, ueq, ..., true; LLVM orders the same sixteen as bit sets.
  static constexpr llvm::CmpInst::Predicate table[] = {
      llvm::CmpInst::FCMP_FALSE, llvm::CmpInst::FCMP_OEQ, llvm::CmpInst::FCMP_OGT, llvm::CmpInst::FCMP_OGE,
      llvm::CmpInst::FCMP_OLT,   llvm::CmpInst::FCMP_OLE, llvm::CmpInst::FCMP_ONE, llvm::CmpInst::FCMP_ORD,
      llvm::CmpInst::FCMP_UEQ,   llvm::CmpInst::FCMP_UGT, llvm::CmpInst::FCMP_UGE, llvm::CmpInst::FCMP_ULT,
      llvm::CmpInst::FCMP_ULE,   llvm::CmpInst::FCMP_UNE, llvm::CmpInst::FCMP_UNO, llvm::CmpInst::FCMP_TRUE};
  return table[unsigned(p)];
}

Lanes emitCast(Emitter &e, Operation *op, Lanes value, Type from, Type to) {
  auto &b = e.b;
  if (e.lanesOf(value) > 1 && !llvm::isa<llvm::Constant>(value))
    explain::conversion(op, from, to);
  llvm::Type *type = e.vectorOf(e.valueType(to), e.lanesOf(value));
  return llvm::TypeSwitch<Operation *, Lanes>(op)
      .Case<arith::ExtSIOp>([&](auto) { return b.CreateSExt(value, type); })
      .Case<arith::ExtUIOp>([&](auto) { return b.CreateZExt(value, type); })
      .Case<arith::TruncIOp>([&](auto) { return b.CreateTrunc(value, type); })
      .Case<arith::IndexCastOp>([&](auto) { return b.CreateSExtOrTrunc(value, type); })
      .Case<arith::IndexCastUIOp>([&](auto) { return b.CreateZExtOrTrunc(value, type); })
      .Case<arith::ExtFOp>([&](auto op) { return convertFloat(e, value, from, to, analysis::tellsNaNSign(op.getResult())); })
      .Case<arith::TruncFOp>([&](arith::TruncFOp op) {
        Lanes nearest = convertFloat(e, value, from, to);
        bool chops = op.getRoundingmode() == arith::RoundingMode::toward_zero;
        return chops ? towardZero(e, value, nearest, from, to) : nearest;
      })
      .Case<arith::SIToFPOp>([&](auto op) { return intToFloat(e, value, op.getIn(), to, true); })
      .Case<arith::UIToFPOp>([&](auto op) { return intToFloat(e, value, op.getIn(), to, false); })
      .Case<arith::FPToSIOp>([&](auto) { return floatToInt(e, value, from, to, false); })
      .Case<arith::FPToUIOp>([&](auto) { return floatToInt(e, value, from, to, true); })
      .Case<tile::FpToIntOp>([&](tile::FpToIntOp op) { return floatToInt(e, value, from, to, op.getIsUnsigned()); })
      .Case<arith::BitcastOp, tile::PtrCastOp>([&](auto) { return b.CreateBitCast(value, type); })
      .Case<tile::PtrToIntOp>([&](auto) { return b.CreatePtrToInt(value, type); })
      .Case<tile::IntToPtrOp>([&](auto) { return b.CreateIntToPtr(value, type); })
      .Default([](Operation *) -> Lanes { return nullptr; });
}
} // namespace

bool isElementwise(Operation *op) {
  if (isa<arith::ConstantOp, ub::PoisonOp>(op))
    return false;
  if (isa<tile::TileDialect>(op->getDialect()))
    return isa<tile::DivOp, tile::RemOp, tile::ShiftOp, tile::FpToIntOp, tile::MulHighOp, tile::AddPtrOp, tile::PtrCastOp,
               tile::PtrToIntOp, tile::IntToPtrOp>(op);
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) && op->getNumResults() == 1;
}

namespace {
/// Lanes that are one number plus a constant each.
struct Spread {
  llvm::Value *number; // null: 0
  llvm::Constant *constants;
};
std::optional<Spread> spreadOf(Emitter &e, Lanes lanes) {
  auto &b = e.b;
  if (auto *constants = llvm::dyn_cast<llvm::Constant>(lanes))
    return Spread{nullptr, constants};
  if (llvm::Value *number = llvm::getSplatValue(lanes))
    return Spread{number, llvm::Constant::getNullValue(lanes->getType())};
  auto *sum = llvm::dyn_cast<llvm::BinaryOperator>(lanes);
  if (!sum || sum->getOpcode() != llvm::Instruction::Add)
    return std::nullopt;
  std::optional<Spread> x = spreadOf(e, sum->getOperand(0)), y = spreadOf(e, sum->getOperand(1));
  if (!x || !y)
    return std::nullopt;
  llvm::Value *number = x->number && y->number ? b.CreateAdd(x->number, y->number) : x->number ? x->number : y->number;
  return Spread{number, llvm::ConstantExpr::getAdd(x->constants, y->constants)};
}

/// A number that none of the lanes is, next to the first.
llvm::Constant *noneOf(llvm::Constant *lanes) {
  llvm::Constant *first = lanes->getAggregateElement(0u);
  llvm::Constant *none = llvm::ConstantExpr::getAdd(first, llvm::Constant::getAllOnesValue(first->getType()));
  for (unsigned i = 0; llvm::Constant *lane = lanes->getAggregateElement(i); ++i)
    if (lane == none)
      return nullptr;
  return none;
}
} // namespace

// Whether lanes are one number, as that of an index and a target: whether it fits what they were extended from is asked once, not in each
// lane, and so is where the first of them is.
static Lanes equalityInFewerBits(Emitter &e, arith::CmpIOp compare, ArrayRef<Lanes> v) {
  auto &b = e.b;
  arith::CmpIPredicate predicate = compare.getPredicate();
  if (predicate != arith::CmpIPredicate::eq && predicate != arith::CmpIPredicate::ne)
    return nullptr;
  bool same = predicate == arith::CmpIPredicate::eq;
  for (auto [all, other] : {std::pair(v[0], v[1]), std::pair(v[1], v[0])}) {
    unsigned count = e.lanesOf(all);
    auto *extension = llvm::dyn_cast<llvm::SExtInst>(all);
    llvm::Value *number = e.lanesOf(other) == 1 ? other : llvm::getSplatValue(other);
    if (!number || count == 1 || llvm::isa<llvm::Constant>(number))
      continue;
    llvm::Value *lanes = extension ? extension->getOperand(0) : all;
    std::optional<Spread> spread = spreadOf(e, lanes);
    llvm::Constant *none = spread && spread->number ? noneOf(spread->constants) : nullptr;
    if (!extension && !none)
      continue;
    llvm::Value *cut = b.CreateTrunc(number, lanes->getType()->getScalarType());
    llvm::Value *fits = extension ? b.CreateICmpEQ(b.CreateSExt(cut, number->getType()), number) : b.getTrue();
    if (none) {
      llvm::Value *wanted = b.CreateSelect(fits, b.CreateSub(cut, spread->number), none);
      return b.CreateICmp(predicateOf(predicate), spread->constants, e.splat(wanted, count));
    }
    Lanes equal = b.CreateICmp(predicateOf(predicate), lanes, e.splat(cut, count));
    return same ? b.CreateAnd(equal, e.splat(fits, count)) : b.CreateOr(equal, e.splat(b.CreateNot(fits), count));
  }
  return nullptr;
}

Lanes emitElementwise(Emitter &e, Operation *op, ArrayRef<Lanes> operands) {
  auto &b = e.b;
  SmallVector<Lanes> v(operands);
  if (auto division = dyn_cast<arith::DivFOp>(op); division && v[0]->getType()->getScalarType()->isFloatTy()) {
    bool approximately = bitEnumContainsAll(division.getFastmath(), arith::FastMathFlags::arcp);
    if (Lanes quotient = e.options.target.divide(e, v[0], v[1], approximately))
      return quotient;
  }
  if (isa<arith::SelectOp>(op))
    if (Lanes chosen = e.options.target.select(e, v[0], v[1], v[2]))
      return chosen;
  e.unify(v);
  Type from = elementOf(op->getOperand(0)), to = elementOf(op->getResult(0));
  Lanes result = nullptr;
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    result = b.CreateSelect(v[0], v[1], v[2]);
  } else if (auto add = dyn_cast<tile::AddPtrOp>(op)) {
    llvm::Type *i64 = e.vectorOf(b.getInt64Ty(), e.lanesOf(v[1]));
    result = b.CreateGEP(e.memoryType(cast<tile::PtrType>(from).getPointee()), v[0], b.CreateSExtOrTrunc(v[1], i64));
  } else if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    result = equalityInFewerBits(e, compare, v);
    if (!result)
      result = b.CreateICmp(predicateOf(compare.getPredicate()), v[0], v[1]);
  } else if (auto cast = v.size() == 1 ? emitCast(e, op, v[0], from, to) : nullptr) {
    result = cast;
  } else if (isa<FloatType>(from)) {
    bool small = isSmallFloat(from);
    if (small)
      for (auto [lanes, operand] : llvm::zip(v, op->getOperands()))
        if (isSmallFloat(elementOf(operand)))
          lanes = e.widenFloat(lanes, from);
    if (auto compare = dyn_cast<arith::CmpFOp>(op))
      return b.CreateFCmp(predicateOf(compare.getPredicate()), v[0], v[1]);
    result = floatOp(e, op, v);
    if (result && small && isSmallFloat(to))
      result = e.narrowFloat(result, to);
  } else {
    result = integerOp(e, op, v);
  }
  return result;
}

bool emitCombine(Emitter &e, Region &region, ArrayRef<Lanes> left, ArrayRef<Lanes> right, SmallVectorImpl<Lanes> &result,
                 llvm::function_ref<Lanes(Value)> outside) {
  Block &block = region.front();
  llvm::DenseMap<Value, Lanes> values;
  SmallVector<Lanes> inputs(left);
  inputs.append(right.begin(), right.end());
  for (auto [argument, lanes] : llvm::zip(block.getArguments(), inputs))
    values[argument] = lanes;
  auto get = [&](Value value) {
    auto found = values.find(value);
    return found != values.end() ? found->second : outside(value);
  };
  for (Operation &op : block.without_terminator()) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      values[constant.getResult()] = e.constant(constant.getValue(), constant.getType());
      continue;
    }
    if (!isElementwise(&op)) {
      op.emitError("a reduction or scan may only combine its values by arithmetic");
      return false;
    }
    SmallVector<Lanes> operands;
    for (Value operand : op.getOperands())
      operands.push_back(get(operand));
    Lanes lanes = emitElementwise(e, &op, operands);
    if (!lanes)
      return false;
    values[op.getResult(0)] = lanes;
  }
  for (Value yielded : block.getTerminator()->getOperands())
    result.push_back(get(yielded));
  return true;
}

} // namespace tilery::lower
