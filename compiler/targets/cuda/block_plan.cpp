#include "compiler/targets/cuda/block_plan.h"
#include "compiler/lower/emitter.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
BlockPlan planWith(tile::KernelOp kernel, const lower::Options &lanes, unsigned stages, bool inResults) {
  BlockPlan result;
  result.inResults = inResults;
  unsigned threads = mmaThreads(kernel), count = 0;
  kernel.walk([&](Operation *op) { count += isa<tile::DotOp, tile::ContractOp>(op); });
  kernel.walk([&](Operation *op) {
    if (isa<tile::DotOp, tile::ContractOp>(op)) {
      // What one product leaves goes into the next: from registers to registers, where warps have whole rows.
      const MmaPlan &product = result.products[op] = planMma(op, threads, stages, count > 1);
      if (!result.stagesInResult(product))
        result.stagingBytes = std::max<uint64_t>(result.stagingBytes, product.stages * product.stageBytes());
    }
  });
  lower::Options options = lanes;
  options.arenaLimit -= std::min(options.arenaLimit, (result.stagingBytes + 63) / 64 * 64);
  options.dotBytes = [&](Operation *op) -> int64_t {
    const MmaPlan &product = result.products[op];
    return result.stagesInResult(product) ? product.stages * product.stageBytes() : 0;
  };
  result.plan = lower::planKernel(kernel, options);
  shareElements(kernel, result, options);
  result.stagingBytes = 0; // less than was put by where a factor stays in registers
  for (auto &[op, product] : result.products) {
    result.plan.dots[op] = product.print();
    if (!result.stagesInResult(product))
      result.stagingBytes = std::max<uint64_t>(result.stagingBytes, product.stages * product.stageBytes());
  }
  return result;
}
} // namespace

BlockPlan planBlock(tile::KernelOp kernel, const lower::Options &lanes) {
  for (unsigned stages = 8; stages; --stages) {
    BlockPlan result = planWith(kernel, lanes, stages, true);
    if (result.products.empty() || !result.plan.workspaceBytes)
      return result;
  }
  // Results may lie outside shared memory, stages may not.
  BlockPlan result = planWith(kernel, lanes, 2, false);
  if (result.stagingOffset() + result.stagingBytes + 2 * result.exchangeBytes <= lanes.arenaLimit)
    return result;
  return planWith(kernel, lanes, 1, false);
}

void BlockPlan::print(llvm::raw_ostream &stream, Operation *kernel) const {
  plan.print(stream, kernel);
  stream << "  threads " << threads;
  const char *separator = ", in registers ";
  for (int buffer = 0, n = plan.buffers.size(); buffer < n; ++buffer)
    if (held.contains(buffer))
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
