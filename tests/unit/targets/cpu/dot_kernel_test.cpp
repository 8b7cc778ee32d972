#include "compiler/targets/cpu/dot_tiles.h"
#include "compiler/targets/cpu/emit_object.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include <bit>
#include <chrono>
#include <gtest/gtest.h>
#include <random>

using namespace tilery::cpu;

namespace {
/// One micro-kernel compiled for a target.
struct Compiled {
  std::string assembly, object;
  Compiled(const CpuTarget &target, const DotBlocking &blocking, bool isDouble, unsigned rows, unsigned columns,
           unsigned pitch = 0) {
    llvm::LLVMContext context;
    llvm::Module module("dot", context);
    prepareModule(module, target);
    bool isInteger = blocking.multiply != Multiply::single && blocking.multiply != Multiply::bf16Pairs &&
                     blocking.multiply != Multiply::bf16Tiles;
    llvm::Type *compute = isDouble ? llvm::Type::getDoubleTy(context) : llvm::Type::getFloatTy(context);
    llvm::Function *kernel =
        dotKernel(module, blocking, isInteger ? llvm::Type::getInt32Ty(context) : compute, rows, columns, pitch ? pitch : rows);
    if (inTiles(blocking.multiply)) {
      llvm::Function *inner = kernel;
      llvm::IRBuilder<> b(context);
      kernel = kernelFunction(b, module, "around");
      b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", kernel));
      configureTiles(b, blocking, rows, columns);
      b.CreateCall(inner, llvm::SmallVector<llvm::Value *>(llvm::make_pointer_range(kernel->args())));
      releaseTiles(b);
      b.CreateRetVoid();
    }
    kernel->setName("kernel");
    kernel->setLinkage(llvm::GlobalValue::ExternalLinkage);
    EmitOptions options;
    options.asmText = &assembly;
    object = emitObject(module, target, options);
  }
  /// The instructions of the K loop: the block that has the most of `multiply`.
  std::string loop(const char *multiply) const {
    std::string best;
    size_t most = 0;
    llvm::StringRef rest(assembly);
    while (!rest.empty()) {
      auto [block, tail] = rest.split("\n.L");
      size_t count = block.count(multiply);
      if (count > most) {
        most = count;
        best = block.str();
      }
      rest = tail;
    }
    return best;
  }
};

using Kernel = void (*)(const float *, const float *, int64_t, float *, int64_t, bool);

std::unique_ptr<llvm::orc::LLJIT> load(const std::string &object) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  auto jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  llvm::cantFail(jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object)));
  return jit;
}
} // namespace

TEST(DotKernel, CutsWithoutWaste) {
  const CpuTarget &avx2 = *findTarget("avx2");
  DotBlocking b = chooseBlocking(avx2, 128, 256, 64, 32);
  EXPECT_EQ(b.rows.slivers, 22u);
  EXPECT_EQ(b.rows.start(b.rows.slivers), 128u);
  EXPECT_EQ(b.columns.width, 16u);
  EXPECT_EQ(b.columns.slivers, 16u);
  EXPECT_EQ(b.unroll, 4u);
  b = chooseBlocking(avx2, 7, 40, 6, 32);
  EXPECT_EQ(b.rows.start(1), 4u);
  EXPECT_EQ(b.rows.start(2), 7u);
  EXPECT_EQ(b.columns.start(b.columns.slivers), 40u);
  EXPECT_EQ(b.unroll, 2u);
  b = chooseBlocking(avx2, 1, 3, 1, 32);
  EXPECT_EQ(b.columns.start(1), 8u);
}

TEST(DotKernel, RegistersOnly) {
  struct Case {
    const char *target;
    bool isDouble;
    Multiply multiply;
    unsigned m, n, fmas;
  };
  for (Case c :
       {Case{"avx2", false, Multiply::single, 6, 16, 12}, Case{"avx2", true, Multiply::single, 6, 8, 12},
        Case{"avx512", false, Multiply::single, 14, 32, 28}, Case{"avx512", true, Multiply::single, 14, 16, 28},
        Case{"avx512", false, Multiply::bf16Pairs, 14, 32, 28}, Case{"avx512", false, Multiply::int16Pairs, 14, 32, 28},
        Case{"avx512", false, Multiply::int8Quads, 13, 32, 27}, Case{"sapphirerapids", false, Multiply::bf16Tiles, 32, 32, 4},
        Case{"sapphirerapids", false, Multiply::bf16Tiles, 16, 64, 4},
        Case{"sapphirerapids", false, Multiply::int8Tiles, 20, 24, 4}}) {
    const CpuTarget &target = *findTarget(c.target);
    auto instruction = [](Multiply multiply) {
      switch (multiply) {
      case Multiply::single:
        return "vfmadd";
      case Multiply::bf16Pairs:
        return "vdpbf16ps";
      case Multiply::int16Pairs:
        return "vpdpwssd";
      case Multiply::int8Quads:
        return "vpdpbusd";
      case Multiply::bf16Tiles:
        return "tdpbf16ps";
      default:
        return "tdpbssd";
      }
    };
    const char *multiply = instruction(c.multiply);
    DotBlocking blocking = chooseBlocking(target, c.m, c.n, 64, c.isDouble ? 64 : 32, c.multiply);
    ASSERT_EQ(blocking.rows.slivers, 1u);
    ASSERT_EQ(blocking.columns.slivers, 1u);
    Compiled code(target, blocking, c.isDouble, c.m, c.n);
    std::string loop = code.loop(multiply);
    EXPECT_EQ(llvm::StringRef(loop).count(multiply), c.fmas * (blocking.rowDepth ? 1 : blocking.unroll)) << c.target;
    EXPECT_EQ(loop.find("%rsp"), std::string::npos) << loop;
    EXPECT_EQ(loop.find("%rbp"), std::string::npos) << loop;
  }
}

TEST(DotKernel, Computes) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const std::string &name : targetNames()) {
    const CpuTarget &target = *findTarget(name);
    if (!hostRuns(target))
      continue;
    for (auto [rows, columns, k] : {std::array{6u, 16u, 64u}, {5u, 16u, 4u}, {1u, 3u, 8u}, {6u, 11u, 12u}, {2u, 8u, 0u}}) {
      DotBlocking blocking = chooseBlocking(target, rows, columns, 4, 32);
      unsigned padded = blocking.columns.width, ldc = columns + 3;
      auto jit = load(Compiled(target, blocking, false, rows, columns).object);
      auto kernel = llvm::cantFail(jit->lookup("kernel")).toPtr<Kernel>();
      std::vector<float> a(rows * k + 1), b(padded * k + 1), c(rows * ldc), before;
      for (auto *v : {&a, &b, &c})
        for (float &x : *v)
          x = uniform(random);
      for (bool accumulate : {false, true}) {
        before = c;
        kernel(a.data(), b.data(), k, c.data(), ldc, accumulate);
        for (unsigned i = 0; i < rows; ++i)
          for (unsigned j = 0; j < ldc; ++j) {
            float expected = before[i * ldc + j];
            if (j < columns) {
              expected = accumulate ? expected : 0;
              for (unsigned p = 0; p < k; ++p)
                expected = std::fma(a[p * rows + i], b[p * padded + j], expected);
            }
            ASSERT_EQ(c[i * ldc + j], expected) << name << " " << i << " " << j;
          }
      }
    }
  }
}

// vdpbf16ps is two fused multiply-adds, that of the high halves first.
TEST(DotKernel, ComputesPairs) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> uniform(-1, 1);
  auto truncated = [&] { return std::bit_cast<float>(std::bit_cast<uint32_t>(uniform(random)) & 0xffff0000u); };
  for (const std::string &name : targetNames()) {
    const CpuTarget &target = *findTarget(name);
    if (!hostRuns(target) || !target.dotBF16)
      continue;
    unsigned rows = 13, columns = 32, pairs = 40;
    DotBlocking blocking = chooseBlocking(target, rows, columns, 4, 32, Multiply::bf16Pairs);
    auto jit = load(Compiled(target, blocking, false, rows, columns).object);
    auto kernel = llvm::cantFail(jit->lookup("kernel")).toPtr<Kernel>();
    std::vector<float> a(2 * pairs * rows), b(2 * pairs * columns), c(rows * columns); // a[k][row], b[k][column]
    for (auto *v : {&a, &b})
      for (float &x : *v)
        x = truncated();
    auto paired = [&](const std::vector<float> &plain, unsigned width) {
      std::vector<float> result(pairs * width);
      for (unsigned p = 0; p < pairs; ++p)
        for (unsigned i = 0; i < width; ++i)
          result[p * width + i] = std::bit_cast<float>(std::bit_cast<uint32_t>(plain[2 * p * width + i]) |
                                                       std::bit_cast<uint32_t>(plain[(2 * p + 1) * width + i]) >> 16);
      return result;
    };
    kernel(paired(a, rows).data(), paired(b, columns).data(), pairs, c.data(), columns, false);
    for (unsigned i = 0; i < rows; ++i)
      for (unsigned j = 0; j < columns; ++j) {
        float expected = 0;
        for (unsigned k = 0; k < 2 * pairs; ++k)
          expected = std::fma(a[k * rows + i], b[k * columns + j], expected);
        ASSERT_EQ(c[i * columns + j], expected) << name << " " << i << " " << j;
      }
  }
}

namespace {
/// Runs a kernel of words of integers and compares with their sums; `a` and `b`: element (k, position) of each sliver.
void computesIntegers(const CpuTarget &target, const DotBlocking &blocking, unsigned rows, unsigned columns, unsigned words,
                      llvm::function_ref<int(unsigned, unsigned)> a, llvm::function_ref<int(unsigned, unsigned)> b,
                      unsigned pitch = 0) {
  unsigned pack = packOf(blocking.multiply), bits = 32 / pack, deep = blocking.rowDepth, padded = blocking.columns.width;
  unsigned high = std::max(rows, pitch);
  auto word = [&](llvm::function_ref<int(unsigned, unsigned)> element, unsigned k, unsigned position) {
    uint32_t bytes = 0;
    for (unsigned i = 0; i < pack; ++i)
      bytes |= (uint32_t(element(k * pack + i, position)) & ((1u << bits) - 1)) << (i * bits);
    return bytes;
  };
  std::vector<uint32_t> left(high * llvm::alignTo(words, std::max(deep, 1u)), 0x7f7f7f7f), right(padded * words);
  for (unsigned k = 0; k < words; ++k) {
    for (unsigned i = 0; i < rows; ++i)
      left[deep ? k / deep * deep * high + i * deep + k % deep : k * high + i] = word(a, k, i);
    for (unsigned j = 0; j < columns; ++j)
      right[k * padded + j] = word(b, k, j) ^ (blocking.flipsB() ? 0x80808080 : 0);
  }
  auto jit = load(Compiled(target, blocking, false, rows, columns, pitch).object);
  auto kernel = llvm::cantFail(jit->lookup("kernel")).toPtr<void (*)(void *, void *, int64_t, int32_t *, int64_t, bool)>();
  unsigned ldc = columns + 3;
  std::vector<int32_t> c(rows * ldc, 7);
  for (bool accumulate : {false, true}) {
    kernel(left.data(), right.data(), words, c.data(), ldc, accumulate);
    for (unsigned i = 0; i < rows; ++i)
      for (unsigned j = 0; j < ldc; ++j) {
        uint32_t sum = 0;
        for (unsigned k = 0; k < words * pack; ++k)
          sum += uint32_t(a(k, i)) * uint32_t(j < columns ? b(k, j) : 0);
        ASSERT_EQ(c[i * ldc + j], j < columns ? int32_t(sum * (accumulate ? 2 : 1)) : 7)
            << target.name << " " << i << " " << j << " " << accumulate;
      }
  }
}
} // namespace

// All sixteen bits, where two products may be 2^31.
TEST(DotKernel, ComputesPairsOfIntegers) {
  for (const std::string &name : targetNames())
    if (const CpuTarget &target = *findTarget(name); hostRuns(target)) {
      auto extreme = [](unsigned k, unsigned i) { return (k * 7 + i * 3) % 5 == 0 ? 32767 - int(k) : -32768; };
      DotBlocking blocking = chooseBlocking(target, 5, 19, 12, 32, Multiply::int16Pairs);
      computesIntegers(target, blocking, 5, blocking.columns.width - 3, 12, extreme, extreme);
    }
}

// Rows of A along K; the last group may be used in part, and some rows of a sliver only.
TEST(DotKernel, ComputesRowsAlongK) {
  for (const std::string &name : targetNames())
    if (const CpuTarget &target = *findTarget(name); hostRuns(target))
      for (auto [rows, pitch, words] : {std::array{5u, 5u, 32u}, {1u, 6u, 12u}, {6u, 6u, 4u}, {3u, 3u, 20u}, {4u, 4u, 0u}}) {
        auto element = [](unsigned k, unsigned i) { return int(k * 977 + i * 31) % 65536 - 32768; };
        DotBlocking blocking = chooseBlocking(target, pitch, 19, 4, 32, Multiply::int16Pairs);
        layRows(blocking, target, 32);
        EXPECT_EQ(blocking.rowDepth, std::min(target.lanes(32), 16u)) << name;
        computesIntegers(target, blocking, rows, blocking.columns.width - 3, words, element, element, pitch);
      }
}

TEST(DotKernel, RowsAlongKWhereTheKernelReadsElements) {
  auto depth = [](const char *name, unsigned words, Multiply multiply = Multiply::single, unsigned bits = 32) {
    const CpuTarget &target = *findTarget(name);
    DotBlocking blocking = chooseBlocking(target, 64, 64, words, bits, multiply);
    layRows(blocking, target, words);
    return blocking.rowDepth;
  };
  EXPECT_EQ(depth("avx512", 64), 16u);
  EXPECT_EQ(depth("avx512", 24), 8u) << "groups end where steps of K do";
  EXPECT_EQ(depth("avx512", 64, Multiply::single, 64), 8u) << "a vector";
  EXPECT_EQ(depth("avx2", 64), 8u);
  EXPECT_EQ(depth("avx2", 6), 0u);
  EXPECT_EQ(depth("aarch64-neon", 64), 0u) << "lanes of a column";
  EXPECT_EQ(depth("avx512", 64, Multiply::int8Quads), 0u) << "columns of flipped bytes";
}

TEST(DotKernel, ComputesQuadsOfBytes) {
  const CpuTarget &target = *findTarget("avx512");
  if (!hostRuns(target))
    GTEST_SKIP() << "needs AVX-512 VNNI";
  for (bool aUnsigned : {false, true})
    for (bool bUnsigned : {false, true})
      for (auto [rows, columns, words, pitch] : {std::array{13u, 32u, 32u, 13u}, {12u, 20u, 7u, 12u}, {1u, 19u, 24u, 8u}}) {
        DotBlocking blocking = chooseBlocking(target, pitch, columns, words, 32, Multiply::int8Quads, aUnsigned, bUnsigned);
        auto byte = [](bool isUnsigned) {
          return [isUnsigned](unsigned k, unsigned i) {
            return (k + i) % 7 ? int((k * 37 + i * 91) % 256) - (isUnsigned ? 0 : 128) : isUnsigned ? 255 : -128;
          };
        };
        computesIntegers(target, blocking, rows, columns, words, byte(aUnsigned), byte(bUnsigned), pitch);
      }
}

TEST(DotKernel, ComputesTilesOfBytes) {
  const CpuTarget &target = *findTarget("sapphirerapids");
  if (!hostRuns(target))
    GTEST_SKIP() << "needs AMX";
  for (bool aUnsigned : {false, true})
    for (bool bUnsigned : {false, true})
      for (auto [rows, columns, words] :
           {std::array{32u, 32u, 32u}, {25u, 20u, 16u}, {1u, 3u, 24u}, {16u, 64u, 16u}, {17u, 16u, 0u}, {7u, 40u, 4u}}) {
        DotBlocking blocking = chooseBlocking(target, rows, columns, words, 32, Multiply::int8Tiles);
        blocking.aUnsigned = aUnsigned, blocking.bUnsigned = bUnsigned;
        auto byte = [](bool isUnsigned) {
          return [isUnsigned](unsigned k, unsigned i) { return int((k * 37 + i * 91) % 256) - (isUnsigned ? 0 : 128); };
        };
        computesIntegers(target, blocking, rows, std::min(columns, blocking.columns.width), words, byte(aUnsigned),
                         byte(bUnsigned));
      }
}

// Run by name: --gtest_also_run_disabled_tests --gtest_filter='*Speed*'
TEST(DotKernel, DISABLED_Speed) {
  const CpuTarget &target = hostTarget();
  unsigned k = 1024, rounds = 20000;
  DotBlocking blocking = chooseBlocking(target, target.avx512 ? 14 : 6, 2 * target.lanes(32), 64, 32);
  unsigned rows = blocking.rows.width, columns = blocking.columns.width;
  auto jit = load(Compiled(target, blocking, false, rows, columns).object);
  auto kernel = llvm::cantFail(jit->lookup("kernel")).toPtr<Kernel>();
  std::vector<float> a(rows * k, 1), b(columns * k, 1), c(rows * columns);
  double best = 1e9;
  for (int repeat = 0; repeat < 10; ++repeat) {
    auto start = std::chrono::steady_clock::now();
    for (unsigned i = 0; i < rounds / 10; ++i)
      kernel(a.data(), b.data(), k, c.data(), columns, false);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::printf("%ux%u: %.1f GFLOP/s\n", rows, columns, 2e-9 * rows * columns * k * (rounds / 10) / best);
}
