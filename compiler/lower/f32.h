#pragma once
// Idioms of f32 arithmetic on lanes, written out to the last rounding.
#include "compiler/lower/emitter.h"

namespace tilery::lower {

/// Over one IR builder, for scalars or for vectors of one length.
struct F32 {
  Emitter &e;
  llvm::Type *type, *integer;
  explicit F32(Emitter &e, llvm::Type *type) : e(e), type(type), integer(type->getWithNewType(e.b.getInt32Ty())) {}

  Lanes number(double x) { return llvm::ConstantFP::get(type, x); }
  Lanes bits(uint32_t x) { return llvm::ConstantInt::get(integer, x); }
  Lanes fma(Lanes a, Lanes b, Lanes c) { return e.intrinsic(llvm::Intrinsic::fma, {a, b, c}, {type}); }
  Lanes abs(Lanes x) { return e.intrinsic(llvm::Intrinsic::fabs, {x}, {type}); }
  Lanes withSign(Lanes x, Lanes sign) { return e.intrinsic(llvm::Intrinsic::copysign, {x, sign}, {type}); }
  Lanes mul(Lanes a, Lanes b) { return plain(e.b.CreateFMul(a, b)); }
  Lanes add(Lanes a, Lanes b) { return plain(e.b.CreateFAdd(a, b)); }
  Lanes sub(Lanes a, Lanes b) { return plain(e.b.CreateFSub(a, b)); }
  Lanes div(Lanes a, Lanes b) { return plain(e.b.CreateFDiv(a, b)); }
  Lanes toBits(Lanes x) { return e.b.CreateBitCast(x, integer); }
  Lanes fromBits(Lanes x) { return e.b.CreateBitCast(x, type); }
  /// c[0] + c[1] x + ...
  Lanes polynomial(Lanes x, std::initializer_list<double> c) {
    const double *end = c.begin() + c.size();
    Lanes sum = number(*--end);
    while (end != c.begin())
      sum = fma(sum, x, number(*--end));
    return sum;
  }

private:
  // What stands here is written out to the last rounding: nothing may be fused or reordered.
  static Lanes plain(Lanes x) {
    if (auto *op = llvm::dyn_cast<llvm::Instruction>(x))
      op->copyFastMathFlags(llvm::FastMathFlags()); // setFastMathFlags only adds
    return x;
  }
};

} // namespace tilery::lower
