// 8-bit floats by the hardware's conversions of pairs.
#include "compiler/lower/emitter.h"
#include "compiler/targets/cuda/ptx/lowering.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

using namespace mlir;

namespace tilery::cuda {
using lower::Emitter;
using lower::Lanes;

namespace {
/// The largest finite number.
double largestOf(Type element) { return isa<Float8E4M3FNType>(element) ? 448 : 57344; }

std::optional<double> constantOf(llvm::Value *lanes) {
  auto *constant = llvm::dyn_cast<llvm::Constant>(lanes);
  auto *number = llvm::dyn_cast_or_null<llvm::ConstantFP>(
      constant && constant->getType()->isVectorTy() ? constant->getSplatValue() : constant);
  if (!number || !number->getType()->isFloatTy())
    return std::nullopt;
  return number->getValueAPF().convertToFloat();
}

/// A value whose conversion, which saturates, is that of `value`: without selections of -most below it and most above it.
Lanes withoutLimits(Lanes value, double most) {
  auto *select = llvm::dyn_cast<llvm::SelectInst>(value);
  auto *compare = select ? llvm::dyn_cast<llvm::FCmpInst>(select->getCondition()) : nullptr;
  std::optional<double> chosen = select ? constantOf(select->getTrueValue()) : std::nullopt;
  if (!compare || !chosen || std::abs(*chosen) != most || constantOf(compare->getOperand(1)) != chosen)
    return value;
  if (compare->getPredicate() != (*chosen < 0 ? llvm::CmpInst::FCMP_OLT : llvm::CmpInst::FCMP_OGT))
    return value;
  Lanes other = withoutLimits(select->getFalseValue(), most);
  return other == withoutLimits(compare->getOperand(0), most) ? other : value;
}

/// Between constants, by minima and maxima that a NaN loses.
bool isBetweenNumbers(Lanes value, double most) {
  using namespace llvm::PatternMatch;
  auto isNumber = [&](Lanes lanes) {
    std::optional<double> number = constantOf(lanes);
    return number && std::abs(*number) <= most;
  };
  llvm::Value *inner, *outerLimit, *x, *innerLimit;
  auto limits = [&](auto outer, auto within) {
    return match(value, outer) && match(inner, within) && isNumber(outerLimit) && isNumber(innerLimit);
  };
  using llvm::Intrinsic::maxnum, llvm::Intrinsic::minnum;
  return limits(m_Intrinsic<minnum>(m_Value(inner), m_Value(outerLimit)), m_Intrinsic<maxnum>(m_Value(x), m_Value(innerLimit))) ||
         limits(m_Intrinsic<maxnum>(m_Value(inner), m_Value(outerLimit)), m_Intrinsic<minnum>(m_Value(x), m_Value(innerLimit)));
}

/// A NaN that arithmetic makes has no particular sign.
bool givesNaNSign(Lanes value, unsigned depth = 0) {
  if (llvm::isa<llvm::BinaryOperator>(value))
    return false;
  if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(value))
    return !llvm::is_contained({llvm::Intrinsic::fma, llvm::Intrinsic::minnum, llvm::Intrinsic::maxnum, llvm::Intrinsic::sqrt},
                               call->getIntrinsicID());
  auto *select = llvm::dyn_cast<llvm::SelectInst>(value);
  auto isNumber = [](Lanes lanes) { return constantOf(lanes) == constantOf(lanes); }; // NaN is no number
  auto gives = [&](Lanes chosen) { return !(constantOf(chosen) && isNumber(chosen)) && givesNaNSign(chosen, depth + 1); };
  return !select || depth > 2 || gives(select->getTrueValue()) || gives(select->getFalseValue());
}

/// Without the sign that a NaN may have.
Lanes withoutNaNSign(Emitter &e, Lanes value) {
  return e.b.CreateSelect(e.b.CreateFCmpUNO(value, value), llvm::ConstantFP::getNaN(value->getType()), value);
}
} // namespace

// f16 of two bytes; the instruction drops the sign of NaNs.
llvm::Value *GpuLowering::halvesOf(Emitter &e, Lanes bytes, Type element) const {
  auto &b = e.b;
  if (!approximates)
    return b.CreateFPTrunc(withoutNaNSign(e, e.widenFloat8(bytes, element)), e.vectorOf(b.getHalfTy(), 2));
  auto convert =
      isa<Float8E4M3FNType>(element) ? llvm::Intrinsic::nvvm_e4m3x2_to_f16x2_rn : llvm::Intrinsic::nvvm_e5m2x2_to_f16x2_rn;
  return e.intrinsic(convert, {b.CreateBitCast(bytes, b.getInt16Ty())}, {});
}

// The instruction saturates, and drops the sign of NaNs.
llvm::Value *GpuLowering::bytesOf(Emitter &e, llvm::Value *low, llvm::Value *high, Type element) const {
  auto &b = e.b;
  if (approximates) {
    auto convert = isa<Float8E4M3FNType>(element) ? llvm::Intrinsic::nvvm_ff_to_e4m3x2_rn : llvm::Intrinsic::nvvm_ff_to_e5m2x2_rn;
    return b.CreateBitCast(e.intrinsic(convert, {high, low}, {}), e.vectorOf(b.getInt8Ty(), 2));
  }
  Lanes both = llvm::PoisonValue::get(e.vectorOf(b.getFloatTy(), 2));
  both = b.CreateInsertElement(b.CreateInsertElement(both, low, uint64_t(0)), high, 1);
  both = withoutNaNSign(e, both);
  for (double limit : {largestOf(element), -largestOf(element)}) {
    llvm::Constant *most = llvm::ConstantFP::get(both->getType(), limit);
    both = b.CreateSelect(limit > 0 ? b.CreateFCmpOGT(both, most) : b.CreateFCmpOLT(both, most), most, both);
  }
  return e.narrowFloat8(both, element);
}

Lanes GpuLowering::widenFloat8(Emitter &e, Lanes bits, Type element, bool keepsNaNSign) const {
  auto &b = e.b;
  unsigned lanes = e.lanesOf(bits);
  if (!convertsFloat8)
    return nullptr;
  llvm::Type *i32 = e.vectorOf(b.getInt32Ty(), lanes), *f32 = e.vectorOf(b.getFloatTy(), lanes);
  SmallVector<llvm::Value *> halves;
  for (unsigned i = 0; i < lanes; i += 2)
    halves.push_back(halvesOf(e, e.splat(e.slice(bits, i, std::min(lanes - i, 2u)), 2), element));
  Lanes wide = b.CreateFPExt(e.slice(llvm::concatenateVectors(b, halves), 0, lanes), f32);
  if (!keepsNaNSign)
    return wide;
  Lanes all = b.CreateBitCast(wide, i32);
  Lanes sign = b.CreateShl(b.CreateZExt(bits, i32), 24);
  return b.CreateBitCast(b.CreateOr(all, b.CreateAnd(sign, llvm::ConstantInt::get(i32, 0x80000000))), f32);
}

// Three instructions a pair: what f32 lies between takes seven a lane.
Lanes GpuLowering::float8ToHalf(Emitter &e, Lanes bits, Type element) const {
  auto &b = e.b;
  unsigned lanes = e.lanesOf(bits);
  if (!approximates || !convertsFloat8 || lanes % 4)
    return nullptr;
  constexpr uint32_t upper[] = {0x1404, 0x3424}; // of a word's bytes, each above a zero
  llvm::Type *i32 = b.getInt32Ty();
  SmallVector<llvm::Value *> pairs;
  for (unsigned i = 0; i < lanes; i += 2) {
    llvm::Value *half = halvesOf(e, e.slice(bits, i, 2), element);
    Lanes word = b.CreateBitCast(e.slice(bits, i / 4 * 4, 4), i32);
    Lanes high = e.intrinsic(llvm::Intrinsic::nvvm_prmt, {word, b.getInt32(0), b.getInt32(upper[i / 2 % 2])}, {});
    Lanes signs = b.CreateAnd(high, 0x80008000);
    pairs.push_back(b.CreateBitCast(b.CreateOr(b.CreateBitCast(half, i32), signs), e.vectorOf(b.getInt16Ty(), 2)));
  }
  return llvm::concatenateVectors(b, pairs);
}

// What becomes of numbers that are too large, and NaNs' signs, is put right only where there may be any.
Lanes GpuLowering::narrowFloat8(Emitter &e, Lanes value, Type element) const {
  auto &b = e.b;
  unsigned lanes = e.lanesOf(value);
  if (!convertsFloat8)
    return nullptr;
  bool isE4M3 = isa<Float8E4M3FNType>(element);
  Lanes free = withoutLimits(value, largestOf(element));
  bool numbers = isBetweenNumbers(free, largestOf(element)), isLimited = numbers || free != value;
  Lanes raw = value, magnitude = nullptr, isLarge = nullptr;
  // Halfway between the largest number and the next, which there is none of: e4m3fn's is even, e5m2's is odd.
  if (!isLimited) {
    magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
    llvm::Constant *most = llvm::ConstantFP::get(value->getType(), isE4M3 ? 464.0 : 61440.0);
    isLarge = isE4M3 ? b.CreateFCmpOGT(magnitude, most) : b.CreateFCmpOGE(magnitude, most);
    if (isE4M3)
      free = b.CreateSelect(isLarge, llvm::ConstantFP::getNaN(value->getType()), value);
  }
  SmallVector<llvm::Value *> pairs;
  for (unsigned i = 0; i < lanes; i += 2) {
    Lanes low = e.slice(free, i, 1), high = i + 1 < lanes ? e.slice(free, i + 1, 1) : low;
    pairs.push_back(bytesOf(e, low, high, element));
  }
  Lanes bytes = e.slice(llvm::concatenateVectors(b, pairs), 0, lanes);
  llvm::Type *i8 = e.vectorOf(b.getInt8Ty(), lanes), *i32 = e.vectorOf(b.getInt32Ty(), lanes);
  if (isLarge && !isE4M3)
    bytes = b.CreateSelect(isLarge, llvm::ConstantInt::get(i8, 0x7c), bytes);
  if (numbers || (isLimited && !givesNaNSign(free)))
    return bytes;
  Lanes signs = b.CreateAnd(b.CreateLShr(b.CreateBitCast(raw, i32), 24), llvm::ConstantInt::get(i32, 0x80));
  return b.CreateOr(bytes, b.CreateTrunc(signs, i8));
}

// Bytes and halves lie several in a word: where one condition decides for all lanes, whole words are chosen.
Lanes GpuLowering::select(Emitter &e, Lanes condition, Lanes x, Lanes y) const {
  auto &b = e.b;
  unsigned lanes = std::max(e.lanesOf(x), e.lanesOf(y));
  llvm::Type *type = x->getType()->getScalarType();
  unsigned bits = type->isIntegerTy() ? type->getIntegerBitWidth() : 0;
  constexpr unsigned wordBits = 32;
  if (!approximates || e.lanesOf(condition) > 1 || (bits != 8 && bits != 16) || lanes * bits % wordBits)
    return nullptr;
  llvm::Type *words = e.vectorOf(b.getInt32Ty(), lanes * bits / wordBits);
  auto asWords = [&](Lanes value) { return b.CreateBitCast(e.splat(value, lanes), words); };
  return b.CreateBitCast(b.CreateSelect(condition, asWords(x), asWords(y)), e.vectorOf(type, lanes));
}

} // namespace tilery::cuda
