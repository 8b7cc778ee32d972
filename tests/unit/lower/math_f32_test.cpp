// Every own f32 function against long double, over its whole range, with the special values. The bound is 2 ULP.
#include "compiler/targets/cpu/emit_object.h"
#include "compiler/lower/math.h"
#include "tilery/runtime.h"
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace tilery;
using namespace tilery::cpu;
using namespace tilery::lower;

namespace {

/// out[i] = function(in[i]) for i in [0, end), in vectors of `lanes`.
KernelPtr compileFunction(llvm::function_ref<Lanes(Emitter &, Lanes)> code, unsigned lanes) {
  Options options;
  llvm::LLVMContext context;
  llvm::Module module("math", context);
  prepareModule(module, options.target);
  Emitter e(module, options);
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
  Lanes y = code(e, b.CreateAlignedLoad(type, at(in), llvm::Align(4)));
  b.CreateAlignedStore(y, at(out), llvm::Align(4));
  auto *next = b.CreateAdd(i, b.getInt64(lanes));
  i->addIncoming(next, loop);
  b.CreateCondBr(b.CreateICmpULT(next, function->getArg(2)), loop, done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
  CodeImage image;
  image.object = emitObject(module, options.target, {});
  image.kernels.push_back({"f", 0, {{"in", DType::F32, true, false}, {"out", DType::F32, true, true}}});
  return load(image).front();
}

KernelPtr compileFunction(const std::string &name, unsigned lanes) {
  return compileFunction([&](Emitter &e, Lanes x) { return emitOwnMath(e, name, {x}); }, lanes);
}

std::vector<float> evaluate(const KernelPtr &kernel, const std::vector<float> &in) {
  std::vector<float> out(in.size(), 12345.0f);
  uint64_t slots[] = {reinterpret_cast<uintptr_t>(in.data()), reinterpret_cast<uintptr_t>(out.data())};
  TileryLaunch launch{};
  launch.args = slots;
  kernel->entry()(&launch, 0, in.size(), nullptr);
  return out;
}

/// Distance in units of the last place of the exact result, denormals included.
double ulps(float got, long double exact) {
  if (std::isnan(exact) || std::isnan(got))
    return std::isnan(exact) == std::isnan(got) ? 0 : INFINITY;
  float rounded = float(exact);
  if (std::isinf(rounded) || std::isinf(got))
    return rounded == got ? 0 : std::isinf(got) && std::fabs(exact) > 3.4028e38L ? 0 : INFINITY;
  int exponent = std::max(exact == 0 ? -126 : std::ilogb(exact), -126);
  return double(std::fabs((long double)got - exact) / std::ldexp(1.0L, exponent - 23));
}

struct Case {
  const char *name;
  long double (*exact)(long double);
};
class OwnMath : public testing::TestWithParam<Case> {};

TEST_P(OwnMath, IsWithinTwoUlps) {
  auto [name, exact] = GetParam();
  std::vector<float> in;
  for (uint32_t bits = 0; bits < 0x7F800000u; bits += 3571) // all magnitudes, both signs
    for (uint32_t sign : {0u, 0x80000000u})
      in.push_back(std::bit_cast<float>(bits | sign));
  for (int i = 0; i < 400000; ++i) // where the functions bend
    in.push_back(-110.0f + 0.00055f * i);
  for (float special : {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, std::numeric_limits<float>::denorm_min(),
                        std::numeric_limits<float>::max(), -std::numeric_limits<float>::max()})
    in.push_back(special);
  while (in.size() % 16)
    in.push_back(0.5f);
  for (unsigned lanes : {1u, 8u, 16u}) {
    auto out = evaluate(compileFunction(name, lanes), in);
    double worst = 0;
    float where = 0;
    for (size_t i = 0; i < in.size(); ++i)
      if (double error = ulps(out[i], exact(in[i])); error > worst)
        worst = error, where = in[i];
    EXPECT_LE(worst, 2.0) << name << "(" << where << ") in vectors of " << lanes;
    RecordProperty(std::string(name) + std::to_string(lanes), std::to_string(worst));
    if (lanes == 8)
      std::printf("%s: %.2f ulp at %g\n", name, worst, where);
  }
  auto zeros = evaluate(compileFunction(name, 1), {0.0f, -0.0f});
  if (exact(0.0L) == 0) // odd functions keep the sign of zero
    EXPECT_TRUE(!std::signbit(zeros[0]) && std::signbit(zeros[1]) == (exact(-0.5L) < 0)) << name;
}

/// out[i] = in[i] / divisor by divideNearly with one divisor for all lanes.
KernelPtr compileDivision(float divisor) {
  return compileFunction(
      [&](Emitter &e, Lanes x) { return divideNearly(e, x, llvm::ConstantFP::get(e.b.getFloatTy(), divisor)); }, 8);
}

TEST(DivideNearly, IsWithinTwoUlps) {
  std::vector<float> in = {0.0f,
                           -0.0f,
                           INFINITY,
                           -INFINITY,
                           NAN,
                           std::numeric_limits<float>::denorm_min(),
                           std::numeric_limits<float>::max(),
                           std::numeric_limits<float>::min()};
  for (uint32_t bits = 1; bits < 0x7F800000u; bits += 35711)
    in.push_back(std::bit_cast<float>(bits | (bits << 31)));
  while (in.size() % 8)
    in.push_back(0.5f);
  std::vector<float> divisors = {0.0f,      -0.0f,       INFINITY,        NAN,      1.0f,          3.0f,
                                 0x1p-149f, 0x1.8p-130f, 0x1.fffffep-65f, 0x1p-64f, 0x1.555554p0f, -0x1.2p64f,
                                 0x1p65f,   0x1.8p126f,  0x1.fffffep127f};
  for (uint32_t bits = 1; bits < 0x7F800000u; bits += 35711 * 997)
    divisors.push_back(std::bit_cast<float>(bits));
  for (float divisor : divisors) {
    auto out = evaluate(compileDivision(divisor), in);
    for (size_t i = 0; i < in.size(); ++i)
      ASSERT_LE(ulps(out[i], (long double)in[i] / divisor), 2.0) << in[i] << " / " << divisor << " gave " << out[i];
  }
}

INSTANTIATE_TEST_SUITE_P(All, OwnMath,
                         testing::Values(Case{"exp", [](long double x) { return std::exp(x); }},
                                         Case{"exp2", [](long double x) { return std::exp2(x); }},
                                         Case{"log", [](long double x) { return std::log(x); }},
                                         Case{"log2", [](long double x) { return std::log2(x); }},
                                         Case{"tanh", [](long double x) { return std::tanh(x); }},
                                         Case{"erf", [](long double x) { return std::erf(x); }},
                                         Case{"sin", [](long double x) { return std::sin(x); }},
                                         Case{"cos", [](long double x) { return std::cos(x); }}),
                         [](auto &info) { return info.param.name; });

} // namespace
