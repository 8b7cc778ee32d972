#pragma once
// Functions of f32 lanes as kernels of this processor.
#include "compiler/lower/emitter.h"
#include "compiler/targets/cpu/emit_object.h"
#include "compiler/targets/cpu/lowering.h"
#include "tilery/runtime.h"
#include <cmath>

namespace tilery::test {

/// out[i] = function(in[i]) for i in [0, end), in vectors of `lanes`.
inline KernelPtr compileFunction(llvm::function_ref<lower::Lanes(lower::Emitter &, lower::Lanes)> code, unsigned lanes) {
  const cpu::CpuTarget &host = cpu::hostTarget();
  cpu::CpuLowering target(host);
  lower::Options options{target};
  llvm::LLVMContext context;
  llvm::Module module("math", context);
  cpu::prepareModule(module, host);
  lower::Emitter e(module, options);
  auto &b = e.b;
  auto *pointer = b.getPtrTy();
  auto *function =
      llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), {pointer, b.getInt64Ty(), b.getInt64Ty(), pointer}, false),
                             llvm::Function::ExternalLinkage, "f", module);
  auto *entry = llvm::BasicBlock::Create(context, "", function), *loop = llvm::BasicBlock::Create(context, "", function),
       *done = llvm::BasicBlock::Create(context, "", function);
  b.SetInsertPoint(entry);
  llvm::Value *slots = b.CreateLoad(pointer, function->getArg(0));
  llvm::Value *in = b.CreateLoad(pointer, slots), *out = b.CreateLoad(pointer, b.CreateConstGEP1_64(b.getInt64Ty(), slots, 1));
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  auto *i = b.CreatePHI(b.getInt64Ty(), 2);
  i->addIncoming(b.getInt64(0), entry);
  llvm::Type *type = e.vectorOf(b.getFloatTy(), lanes);
  auto at = [&](llvm::Value *base) { return b.CreateGEP(b.getFloatTy(), base, i); };
  lower::Lanes y = code(e, b.CreateAlignedLoad(type, at(in), llvm::Align(4)));
  b.CreateAlignedStore(y, at(out), llvm::Align(4));
  auto *next = b.CreateAdd(i, b.getInt64(lanes));
  i->addIncoming(next, loop);
  b.CreateCondBr(b.CreateICmpULT(next, function->getArg(2)), loop, done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
  CodeImage image;
  image.object = cpu::emitObject(module, host, {});
  image.kernels.push_back({"f", 0, {{"in", DType::F32, true, false}, {"out", DType::F32, true, true}}});
  return load(image).front();
}

inline std::vector<float> evaluate(const KernelPtr &kernel, const std::vector<float> &in) {
  std::vector<float> out(in.size(), 12345.0f);
  uint64_t slots[] = {reinterpret_cast<uintptr_t>(in.data()), reinterpret_cast<uintptr_t>(out.data())};
  TileryLaunch launch{};
  launch.args = slots;
  kernel->entry()(&launch, 0, in.size(), nullptr);
  return out;
}

/// Distance in units of the last place of the exact result, denormals included.
inline double ulps(float got, long double exact) {
  if (std::isnan(exact) || std::isnan(got))
    return std::isnan(exact) == std::isnan(got) ? 0 : INFINITY;
  float rounded = float(exact);
  if (std::isinf(rounded) || std::isinf(got))
    return rounded == got ? 0 : std::isinf(got) && std::fabs(exact) > 3.4028e38L ? 0 : INFINITY;
  int exponent = std::max(exact == 0 ? -126 : std::ilogb(exact), -126);
  return double(std::fabs((long double)got - exact) / std::ldexp(1.0L, exponent - 23));
}

} // namespace tilery::test
