#include "compiler/cpu/emitter.h"
#include "compiler/cpu/debug_info.h"

using namespace mlir;

namespace tilery::cpu {

Emitter::Emitter(llvm::Module &module, const Options &options) : module(module), b(module.getContext()), options(options) {
  llvm::FastMathFlags flags;
  flags.setAllowContract(options.fpContract);
  b.setFastMathFlags(flags);
}

unsigned elementBytes(Type element) {
  if (isa<tile::PtrType>(element))
    return 8;
  return (element.getIntOrFloatBitWidth() + 7) / 8;
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

Lanes Emitter::widenFloat(Lanes value, Type element) {
  unsigned lanes = lanesOf(value);
  if (element.isBF16()) {
    Lanes wide = b.CreateZExt(value, vectorOf(b.getInt32Ty(), lanes));
    return b.CreateBitCast(b.CreateShl(wide, 16), vectorOf(b.getFloatTy(), lanes));
  }
  return b.CreateFPExt(b.CreateBitCast(value, vectorOf(b.getHalfTy(), lanes)), vectorOf(b.getFloatTy(), lanes));
}

Lanes Emitter::narrowFloat(Lanes value, Type element) {
  unsigned lanes = lanesOf(value);
  llvm::Type *i16 = vectorOf(b.getInt16Ty(), lanes);
  if (element.isF16())
    return b.CreateBitCast(b.CreateFPTrunc(value, vectorOf(b.getHalfTy(), lanes)), i16);
  if (options.target.narrowsBF16)
    return b.CreateBitCast(b.CreateFPTrunc(value, vectorOf(b.getBFloatTy(), lanes)), i16);
  // LLVM's own f32 -> bf16 is a library call without avx512bf16, and that instruction flushes denormals: integer arithmetic everywhere.
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

} // namespace tilery::cpu
