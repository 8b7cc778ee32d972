#include "compiler/lower/emitter.h"
#include "compiler/lower/debug_info.h"
#include <cmath>

using namespace mlir;

namespace tilery::lower {

Emitter::Emitter(llvm::Module &module, const Options &options) : module(module), b(module.getContext()), options(options) {
  llvm::FastMathFlags flags;
  flags.setAllowContract(options.fpContract);
  b.setFastMathFlags(flags);
}

llvm::Type *Emitter::valueType(Type element) {
  if (isa<tile::PtrType>(element))
    return b.getPtrTy();
  if (element.isF32())
    return b.getFloatTy();
  if (element.isF64())
    return b.getDoubleTy();
  if (isa<IndexType>(element))
    return b.getInt64Ty();
  return b.getIntNTy(element.getIntOrFloatBitWidth());
}
llvm::Type *Emitter::memoryType(Type element) { return element.isInteger(1) ? b.getInt8Ty() : valueType(element); }
llvm::Type *Emitter::vectorOf(llvm::Type *type, unsigned lanes) {
  return lanes == 1 ? type : llvm::FixedVectorType::get(type, lanes);
}

llvm::Constant *Emitter::constant(Attribute attr, Type element) {
  llvm::Type *type = valueType(element);
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    return llvm::ConstantInt::get(type, integer.getValue().sextOrTrunc(type->getIntegerBitWidth()));
  auto value = cast<FloatAttr>(attr).getValue();
  if (type->isIntegerTy())
    return llvm::ConstantInt::get(type, value.bitcastToAPInt());
  return llvm::ConstantFP::get(type, value);
}

unsigned Emitter::lanesOf(Lanes value) {
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return type ? type->getNumElements() : 1;
}
Lanes Emitter::splat(Lanes value, unsigned lanes) {
  return lanes == 1 || value->getType()->isVectorTy() ? value : b.CreateVectorSplat(lanes, value);
}
unsigned Emitter::unify(llvm::MutableArrayRef<Lanes> values) {
  unsigned lanes = 1;
  for (Lanes value : values)
    lanes = std::max(lanes, lanesOf(value));
  for (Lanes &value : values)
    value = splat(value, lanes);
  return lanes;
}
llvm::Constant *Emitter::iota(llvm::Type *integer, unsigned lanes) {
  llvm::SmallVector<llvm::Constant *> values;
  for (unsigned i = 0; i < lanes; ++i)
    values.push_back(llvm::ConstantInt::get(integer, i));
  return llvm::ConstantVector::get(values);
}
Lanes Emitter::band(Lanes x, Lanes y) {
  if (!x || !y)
    return x ? x : y;
  Lanes both[] = {x, y};
  unify(both);
  return b.CreateAnd(both[0], both[1]);
}
llvm::Value *Emitter::slice(llvm::Value *vector, unsigned from, unsigned count) {
  if (count == 1)
    return vector->getType()->isVectorTy() ? b.CreateExtractElement(vector, from) : vector;
  llvm::SmallVector<int> mask;
  for (unsigned i = 0; i < count; ++i)
    mask.push_back(from + i);
  return b.CreateShuffleVector(vector, mask);
}

Lanes Emitter::toMemory(Lanes value, Type element) {
  return element.isInteger(1) ? b.CreateZExt(value, vectorOf(b.getInt8Ty(), lanesOf(value))) : value;
}
Lanes Emitter::fromMemory(Lanes value, Type element) {
  return element.isInteger(1) ? b.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType())) : value;
}

namespace {
struct Float8 {
  int mantissaBits, bias;
  bool finite; // no infinities, one NaN
  explicit Float8(Type element)
      : mantissaBits(isa<Float8E4M3FNType>(element) ? 3 : 2), bias(mantissaBits == 3 ? 7 : 15), finite(mantissaBits == 3) {}
  uint32_t infinity() const { return finite ? 0x7f : 0x7c; } // or NaN: what large values become
  double smallestNormal() const { return std::ldexp(1.0, 1 - bias); }
  double step() const { return std::ldexp(1.0, 1 - bias - mantissaBits); } // of denormals
};
} // namespace

Lanes Emitter::widenFloat8(Lanes value, Type element) {
  Float8 format(element);
  unsigned lanes = lanesOf(value);
  llvm::Type *i32 = vectorOf(b.getInt32Ty(), lanes), *f32 = vectorOf(b.getFloatTy(), lanes);
  auto bits = [&](uint32_t x) { return llvm::ConstantInt::get(i32, x); };
  Lanes wide = b.CreateZExt(value, i32), magnitude = b.CreateAnd(wide, bits(0x7f));
  Lanes normal = b.CreateAdd(b.CreateShl(magnitude, 23 - format.mantissaBits), bits(uint32_t(127 - format.bias) << 23));
  Lanes denormal = b.CreateBitCast(b.CreateFMul(b.CreateUIToFP(magnitude, f32), llvm::ConstantFP::get(f32, format.step())), i32);
  Lanes result = b.CreateSelect(b.CreateICmpULT(magnitude, bits(1u << format.mantissaBits)), denormal, normal);
  Lanes special = b.CreateSelect(b.CreateICmpEQ(magnitude, bits(0x7c)), bits(0x7f800000), bits(0x7fc00000));
  result =
      b.CreateSelect(b.CreateICmpUGE(magnitude, bits(format.infinity())), format.finite ? bits(0x7fc00000) : special, result);
  return b.CreateBitCast(b.CreateOr(result, b.CreateShl(b.CreateAnd(wide, bits(0x80)), 24)), f32);
}

Lanes Emitter::narrowFloat8(Lanes value, Type element) {
  Float8 format(element);
  unsigned lanes = lanesOf(value), dropped = 23 - format.mantissaBits;
  llvm::Type *i32 = vectorOf(b.getInt32Ty(), lanes), *f32 = value->getType();
  auto bits = [&](uint32_t x) { return llvm::ConstantInt::get(i32, x); };
  Lanes raw = b.CreateBitCast(value, i32), magnitude = b.CreateAnd(raw, bits(0x7fffffff));
  Lanes odd = b.CreateAnd(b.CreateLShr(magnitude, dropped), bits(1));
  Lanes normal = b.CreateLShr(b.CreateAdd(b.CreateAdd(magnitude, odd), bits((1u << (dropped - 1)) - 1)), dropped);
  normal = b.CreateSub(normal, bits(uint32_t(127 - format.bias) << format.mantissaBits));
  normal = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, normal, bits(format.infinity()));
  // A number whose last place is the step of denormals: adding it rounds to them, and leaves their count in its low bits.
  llvm::Constant *magic = llvm::ConstantFP::get(f32, std::ldexp(format.step(), 23));
  auto *sum = llvm::cast<llvm::Instruction>(b.CreateFAdd(b.CreateBitCast(magnitude, f32), magic));
  sum->copyFastMathFlags(llvm::FastMathFlags());
  Lanes denormal = b.CreateSub(b.CreateBitCast(sum, i32), b.CreateBitCast(magic, i32));
  Lanes small = b.CreateFCmpOLT(b.CreateBitCast(magnitude, f32), llvm::ConstantFP::get(f32, format.smallestNormal()));
  Lanes result = b.CreateSelect(small, denormal, normal);
  result = b.CreateSelect(b.CreateFCmpUNO(value, value), bits(0x7f), result);
  result = b.CreateOr(result, b.CreateAnd(b.CreateLShr(raw, 24), bits(0x80)));
  return b.CreateTrunc(result, vectorOf(b.getInt8Ty(), lanes));
}

Lanes Emitter::widenFloat(Lanes value, Type element, bool keepsNaNSign) {
  unsigned lanes = lanesOf(value);
  if (element.getIntOrFloatBitWidth() == 8) {
    Lanes wide = options.target.widenFloat8(*this, value, element, keepsNaNSign);
    return wide ? wide : widenFloat8(value, element);
  }
  if (element.isBF16()) {
    if (Lanes wide = options.target.widenBF16(*this, value))
      return wide;
    Lanes wide = b.CreateZExt(value, vectorOf(b.getInt32Ty(), lanes));
    return b.CreateBitCast(b.CreateShl(wide, 16), vectorOf(b.getFloatTy(), lanes));
  }
  return b.CreateFPExt(b.CreateBitCast(value, vectorOf(b.getHalfTy(), lanes)), vectorOf(b.getFloatTy(), lanes));
}

Lanes Emitter::narrowFloat(Lanes value, Type element) {
  unsigned lanes = lanesOf(value);
  if (element.getIntOrFloatBitWidth() == 8) {
    Lanes narrow = options.target.narrowFloat8(*this, value, element);
    return narrow ? narrow : narrowFloat8(value, element);
  }
  llvm::Type *i16 = vectorOf(b.getInt16Ty(), lanes);
  if (element.isF16()) {
    // Not to be contracted with a rounding from f64 to f32 before it: that would round once, by a library call a lane.
    Lanes half = b.CreateFPTrunc(value, vectorOf(b.getHalfTy(), lanes));
    if (auto *instruction = llvm::dyn_cast<llvm::Instruction>(half))
      instruction->copyFastMathFlags(llvm::FastMathFlags());
    return b.CreateBitCast(half, i16);
  }
  if (Lanes narrow = options.target.narrowBF16(*this, value))
    return narrow;
  // LLVM's own f32 -> bf16 may be a library call, or an instruction that flushes denormals: integer arithmetic.
  llvm::Type *i32 = vectorOf(b.getInt32Ty(), lanes);
  Lanes bits = b.CreateBitCast(value, i32);
  Lanes upper = b.CreateLShr(bits, 16);
  Lanes odd = b.CreateAnd(upper, llvm::ConstantInt::get(i32, 1));
  Lanes rounded = b.CreateLShr(b.CreateAdd(bits, b.CreateAdd(odd, llvm::ConstantInt::get(i32, 0x7fff))), 16);
  Lanes quiet = b.CreateOr(upper, llvm::ConstantInt::get(i32, 0x40));
  return b.CreateTrunc(b.CreateSelect(b.CreateFCmpUNO(value, value), quiet, rounded), i16);
}

llvm::CallInst *Emitter::intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value *> args,
                                   llvm::ArrayRef<llvm::Type *> types) {
  return b.CreateIntrinsic(id, types, args);
}

void Emitter::at(Location location) {
  if (debug)
    b.SetCurrentDebugLocation(debug->line(location));
}

} // namespace tilery::lower
