#include "compiler/targets/cuda/block_plan.h"
#include "compiler/lower/emitter.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
BlockPlan planWith(tile::KernelOp kernel, const lower::Options &lanes, uint64_t tileBytes, unsigned stages, bool inResults) {
  BlockPlan result;
  result.inResults = inResults;
  result.plan = lower::planKernel(kernel, lanes);
  unsigned threads = mmaThreads(kernel), count = 0;
  kernel.walk([&](Operation *op) { count += lower::isProduct(op); });
  kernel.walk([&](Operation *op) {
    if (!lower::isProduct(op))
      return;
    // What one product leaves goes into the next: from registers to registers, where warps have whole rows.
    auto product = std::make_unique<MmaPlan>(planMma(op, threads, stages, count > 1));
    uint64_t bytes = product->stages * product->stageBytes();
    if (result.stagesInResult(*product)) {
      lower::ScratchBuffer &buffer = result.plan.buffers[result.plan.storage[op->getResult(0)]];
      buffer.bytes = std::max<uint64_t>(buffer.bytes, llvm::alignTo(bytes, 64));
    } else {
      result.stagingBytes = std::max(result.stagingBytes, bytes);
    }
    result.plan.products[op] = std::move(product);
  });
  shareElements(kernel, result, tileBytes - std::min(tileBytes, (result.stagingBytes + 63) / 64 * 64));
  result.stagingBytes = 0; // less than was put by where a factor stays in registers
  for (auto &[op, product] : result.plan.products)
    if (const MmaPlan &own = result.product(op); !result.stagesInResult(own))
      result.stagingBytes = std::max<uint64_t>(result.stagingBytes, own.stages * own.stageBytes());
  return result;
}
} // namespace

BlockPlan planBlock(tile::KernelOp kernel, const lower::Options &lanes, uint64_t tileBytes) {
  for (unsigned stages = 8; stages; --stages) {
    BlockPlan result = planWith(kernel, lanes, tileBytes, stages, true);
    if (result.plan.products.empty() || !result.plan.workspaceBytes)
      return result;
  }
  // Results may lie outside shared memory, stages may not.
  BlockPlan result = planWith(kernel, lanes, tileBytes, 2, false);
  if (result.stagingOffset() + result.stagingBytes + 2 * result.exchangeBytes <= tileBytes)
    return result;
  return planWith(kernel, lanes, tileBytes, 1, false);
}

void BlockPlan::print(llvm::raw_ostream &stream, Operation *kernel) const {
  plan.print(stream, kernel);
  stream << "  threads " << threads;
  const char *separator = ", in registers ";
  for (int buffer = 0, n = plan.buffers.size(); buffer < n; ++buffer)
    if (inRegisters.contains(buffer))
      stream << std::exchange(separator, " ") << "#" << buffer;
  stream << "\n";
  for (const auto &[sizes, map] : maps) {
    stream << "  tiles of";
    for (int64_t size : sizes)
      stream << " " << size;
    stream << ": " << map.chunks << " vectors of " << map.width << " a thread\n";
  }
}

} // namespace tilery::cuda
