// Nests whose vectors are computed side by side: every size, in place, with bounds, and reductions in the order of TileReduce.td.
#include "compiler/lower/interleave.h"
#include "tests/unit/targets/cpu/run_kernel.h"
#include "llvm/IR/Verifier.h"
#include <cmath>
#include <random>
#include <vector>

using namespace tilery;
using namespace tilery::test;

namespace {
std::string exponentials(int size, bool bounded) {
  std::string n = std::to_string(size), bounds = bounded ? "[1] (%z, %limit)" : "[0] ()", types = bounded ? "(i64, i64)" : "()";
  return "tile.kernel @k(%x: !tile.ptr<f32>, %n: i32) {\n  %z = arith.constant 0 : i64\n  %one = arith.constant 1 : i64\n"
         "  %limit = arith.extsi %n : i32 to i64\n  %a = tile.access %x, %z steps(%one) bounds " +
         bounds + " : !tile.ptr<f32>, (i64), " + types + " -> !tile.access<" + n + "xf32>\n  %v = tile.load %a : !tile.access<" +
         n + "xf32> -> tensor<" + n + "xf32>\n  %e = math.exp %v : tensor<" + n + "xf32>\n  tile.store %a, %e : !tile.access<" +
         n + "xf32>, tensor<" + n + "xf32>\n  tile.return\n}\n";
}
std::string sumOfExponentials(int size) {
  std::string n = std::to_string(size);
  return "tile.kernel @k(%x: !tile.ptr<f32>, %o: !tile.ptr<f32>) {\n  %z = arith.constant 0 : i64\n  %one = arith.constant 1 : "
         "i64\n"
         "  %a = tile.access %x, %z steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<" +
         n + "xf32>\n  %v = tile.load %a : !tile.access<" + n + "xf32> -> tensor<" + n + "xf32>\n  %e = math.exp %v : tensor<" +
         n +
         "xf32>\n  %s = tile.reduce %e axis 0 {\n  ^bb0(%l: f32, %r: f32):\n    %t = arith.addf %l, %r : f32\n"
         "    tile.yield %t : f32\n  } : tensor<" +
         n +
         "xf32> -> f32\n  %oa = tile.access %o, %z steps() bounds [] () : !tile.ptr<f32>, (), () -> !tile.access<f32>\n"
         "  tile.store %oa, %s : !tile.access<f32>, f32\n  tile.return\n}\n";
}
std::vector<float> inputs(int n) {
  std::mt19937 engine(n);
  std::uniform_real_distribution<float> distribution(-100, 20);
  std::vector<float> values(n);
  for (float &v : values)
    v = distribution(engine);
  return values;
}
/// exp of each, in a kernel of one element.
std::vector<float> oneByOne(const std::vector<float> &x) {
  Compiled k = compileText(exponentials(1, false));
  std::vector<float> result = x;
  for (float &v : result)
    run(k, 1, &v, 1);
  return result;
}
} // namespace

TEST(CpuInterleave, EverySizeHasTheSameBits) {
  for (int size : {1, 2, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 47, 64, 71, 100, 129}) {
    std::vector<float> x = inputs(size), expected = oneByOne(x);
    x.resize(size + 8, 7.0f);
    run(compileText(exponentials(size, false)), 1, x.data(), size);
    for (int i = 0; i < size + 8; ++i)
      ASSERT_EQ(x[i], i < size ? expected[i] : 7.0f) << i << " of " << size;
  }
}

TEST(CpuInterleave, BoundsAreKept) {
  Compiled k = compileText(exponentials(128, true));
  for (int n = 0; n <= 128; ++n) {
    std::vector<float> x = inputs(128), expected = oneByOne(std::vector<float>(x.begin(), x.begin() + n));
    expected.insert(expected.end(), x.begin() + n, x.end());
    run(k, 1, x.data(), n);
    ASSERT_EQ(x, expected) << n;
  }
}

TEST(CpuInterleave, SumsKeepTheirOrder) {
  for (int size : {1, 5, 8, 20, 63, 64, 65, 128, 200, 1000}) {
    std::vector<float> x = inputs(size), e = oneByOne(x), partial(std::min(size, 64), -0.0f);
    for (int i = 0; i < size; ++i)
      partial[i % 64] += e[i];
    for (int s = 32; s >= 1; s /= 2)
      for (int j = 0; j < s && j + s < int(partial.size()); ++j)
        partial[j] += partial[j + s];
    float sum = NAN;
    run(compileText(sumOfExponentials(size)), 1, x.data(), &sum);
    EXPECT_EQ(sum, partial[0]) << size;
  }
}

// Parts may take what an earlier one has computed for all of them, wherever it stands among that one's instructions.
TEST(CpuInterleave, WhatPartsShareComesBeforeThem) {
  llvm::LLVMContext context;
  llvm::Module module("m", context);
  llvm::Type *i32 = llvm::Type::getInt32Ty(context);
  auto *function =
      llvm::Function::Create(llvm::FunctionType::get(i32, {i32, i32}, false), llvm::Function::ExternalLinkage, "f", module);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "", function));
  llvm::Value *x = function->getArg(0), *shared = nullptr, *results[3];
  tilery::lower::emitInterleaved(b, 3, [&](unsigned part) {
    llvm::Value *own = x;
    for (unsigned i = 0; i < (part ? 1 : 4); ++i) // so that the shared value is late in the first part and early in the others
      own = b.CreateXor(own, function->getArg(1));
    if (!part)
      shared = b.CreateMul(own, own);
    results[part] = b.CreateAdd(shared, own);
  });
  b.CreateRet(b.CreateAdd(b.CreateAdd(results[0], results[1]), results[2]));
  EXPECT_FALSE(llvm::verifyFunction(*function, &llvm::errs()));
}
