#pragma once
// Idioms of f32 and f64 arithmetic on lanes, written out to the last rounding.
#include "compiler/lower/emitter.h"

namespace tilery::lower {

/// Over one IR builder, for scalars or for vectors of one length.
template <unsigned Width> struct Floats {
  Emitter &e;
  llvm::Type *type, *integer;
  /// `type`: of a float of that width, or of a vector of them.
  explicit Floats(Emitter &e, llvm::Type *type) : e(e), type(type), integer(type->getWithNewType(e.b.getIntNTy(Width))) {
    assert(type->getScalarSizeInBits() == Width);
  }

  Lanes number(double x) { return llvm::ConstantFP::get(type, x); }
  Lanes bits(uint64_t x) { return llvm::ConstantInt::get(integer, x); }
  Lanes fma(Lanes a, Lanes b, Lanes c) { return e.intrinsic(llvm::Intrinsic::fma, {a, b, c}, {type}); }
  Lanes abs(Lanes x) { return e.intrinsic(llvm::Intrinsic::fabs, {x}, {type}); }
  Lanes withSign(Lanes x, Lanes sign) { return e.intrinsic(llvm::Intrinsic::copysign, {x, sign}, {type}); }
  Lanes mul(Lanes a, Lanes b) { return plain(e.b.CreateFMul(a, b)); }
  Lanes add(Lanes a, Lanes b) { return plain(e.b.CreateFAdd(a, b)); }
  Lanes sub(Lanes a, Lanes b) { return plain(e.b.CreateFSub(a, b)); }
  Lanes div(Lanes a, Lanes b) { return plain(e.b.CreateFDiv(a, b)); }
  Lanes sqrt(Lanes x) { return e.intrinsic(llvm::Intrinsic::sqrt, {x}, {type}); }
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
using F32 = Floats<32>;
using F64 = Floats<64>;

/// Calls the internal function `name` of the module on arguments of one type, which `body` fills where there is none yet; `body` returns the
/// result, in whatever block it ended. So code with branches does not break up that of its callers.
Lanes callOwnFunction(Emitter &e, const llvm::Twine &name, llvm::ArrayRef<Lanes> operands,
                      llvm::function_ref<Lanes(llvm::ArrayRef<Lanes>)> body);
/// `usual`, and where any lane of `rare` is set, what libm's `name` gives for the operands.
Lanes unlessRare(Emitter &e, Lanes usual, Lanes rare, llvm::StringRef name, llvm::ArrayRef<Lanes> operands);

} // namespace tilery::lower
