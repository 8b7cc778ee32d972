// Lowered block IR on the CPU: the lit test's own program, roles as fibers, boxes early or late.
#include "tests/unit/targets/cpu/run_kernel.h"
#include "compiler/targets/cuda/block/block_emitter.h"
#include "tests/emulator/emulator.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>

using namespace tilery;
using namespace tilery::test;
using emulator::Timing;

namespace {
/// A program of the lit tests.
mlir::OwningOpRef<mlir::ModuleOp> lowered(const char *file) {
  context().loadDialect<block::BlockDialect>();
  std::string here = __FILE__, up = here.substr(0, here.find("tests/unit"));
  auto text = llvm::MemoryBuffer::getFile(up + "tests/ir/block/" + file);
  return text ? mlir::parseSourceString<mlir::ModuleOp>((*text)->getBuffer(), &context()) : nullptr;
}

uint16_t bf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
float number(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

TEST(EmitBlock, RunsTheLoweredProduct) {
  auto module = lowered("gemm_lowered.mlir");
  ASSERT_TRUE(module);
  auto kernel = emulator::Kernel::translate(*module, emulator::Path::Block, true, 0);
  ASSERT_TRUE(kernel);
  constexpr int64_t rows = 250, columns = 504, depth = 200;
  std::vector<uint16_t> a(rows * depth + 64), b(depth * columns + 64);
  auto start = [](std::vector<uint16_t> &of) {
    return reinterpret_cast<uint16_t *>((reinterpret_cast<uintptr_t>(of.data()) + 15) / 16 * 16);
  };
  auto valueA = [](int64_t i, int64_t k) { return float((i * 7 + k * 3) % 5 - 2); };
  auto valueB = [](int64_t k, int64_t j) { return float((k * 5 + j * 2) % 7 % 5 - 2); };
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < depth; ++k)
      start(a)[i * depth + k] = bf16(valueA(i, k));
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t j = 0; j < columns; ++j)
      start(b)[k * columns + j] = bf16(valueB(k, j));
  uint32_t grid[] = {2, 2, 1};
  for (Timing timing : {Timing::CopiesAtOnce, Timing::CopiesLate}) {
    std::vector<uint16_t> c(rows * columns + 64);
    std::vector<uint64_t> slots = {slot(start(a)), slot(start(b)), slot(start(c)), slot(rows),   slot(columns),
                                   slot(depth),    slot(depth),    slot(columns),  slot(columns)};
    ASSERT_EQ(kernel->run(grid, slots.data(), timing), "");
    for (int64_t i = 0; i < rows; i += 3)
      for (int64_t j = 0; j < columns; j += 5) {
        float expected = 0;
        for (int64_t k = 0; k < depth; ++k)
          expected += valueA(i, k) * valueB(k, j);
        ASSERT_EQ(number(start(c)[i * columns + j]), number(bf16(expected))) << i << ", " << j;
      }
  }
}

TEST(EmitBlock, RunsAttentionFromRegisters) {
  auto module = lowered("attention_lowered.mlir");
  ASSERT_TRUE(module);
  auto kernel = emulator::Kernel::translate(*module, emulator::Path::Block, true, 0);
  ASSERT_TRUE(kernel);
  constexpr int64_t rows = 192, keys = 320, width = 64;
  constexpr float scale = 0.18f;
  std::vector<uint16_t> memory(2 * rows * width + 2 * keys * width + 64);
  uint16_t *q = reinterpret_cast<uint16_t *>((reinterpret_cast<uintptr_t>(memory.data()) + 15) / 16 * 16);
  uint16_t *k = q + rows * width, *v = k + keys * width, *o = v + keys * width;
  for (int64_t i = 0; i < rows * width; ++i)
    q[i] = bf16(float((i * 37 + i / 64 * 11) % 17 - 8) / 8);
  for (int64_t i = 0; i < keys * width; ++i) {
    k[i] = bf16(float((i * 29 + i / 64 * 7) % 19 - 9) / 8);
    v[i] = bf16(float((i * 23 + i / 64 * 5) % 13 - 6) / 4);
  }
  uint32_t grid[] = {rows / 64, 1, 1};
  for (Timing timing : {Timing::CopiesAtOnce, Timing::CopiesLate}) {
    std::fill(o, o + rows * width, uint16_t(0x5555));
    std::vector<uint64_t> slots = {slot(q), slot(k), slot(v), slot(o), slot(rows), slot(keys), slot(scale)};
    ASSERT_EQ(kernel->run(grid, slots.data(), timing), "");
    for (int64_t i = 0; i < rows; i += 5) {
      std::vector<double> weights(keys);
      double most = -1e30, sum = 0;
      for (int64_t j = 0; j < keys; ++j) {
        for (int64_t d = 0; d < width; ++d)
          weights[j] += double(number(q[i * width + d])) * number(k[j * width + d]);
        most = std::max(most, weights[j] * scale);
      }
      for (double &weight : weights)
        sum += weight = std::exp2(weight * scale - most);
      for (int64_t d = 0; d < width; d += 3) {
        double expected = 0, absolute = 0;
        for (int64_t j = 0; j < keys; ++j) {
          expected += weights[j] * number(v[j * width + d]) / sum;
          absolute += weights[j] * std::abs(number(v[j * width + d])) / sum;
        }
        // Probabilities are rounded to bf16, and so is the result; all else to f32.
        double bound = absolute * 0x1p-8 + std::abs(expected) * 0x1p-8 + absolute * keys * 0x1p-22;
        ASSERT_NEAR(number(o[i * width + d]), expected, bound) << i << ", " << d;
      }
    }
  }
}

// The step before is awaited while this one runs; behind the loop, nothing else does.
TEST(EmitBlock, CountsWhatWasStartedSince) {
  auto module = lowered("gemm_lowered.mlir");
  ASSERT_TRUE(module);
  unsigned waits = 0;
  module->walk([&](block::MmaSettleOp settle) {
    EXPECT_EQ(cuda::startedSince(settle, settle.getProduct()), 1u);
    ++waits;
  });
  module->walk([&](block::MmaWaitOp wait) {
    EXPECT_EQ(cuda::startedSince(wait, wait.getProduct()), 0u);
    ++waits;
  });
  EXPECT_EQ(waits, 2u);
}
} // namespace
