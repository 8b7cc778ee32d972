#include "compiler/targets/cuda/simt/simt_plan.h"
#include "compiler/block/ir/gpu.h"
#include "compiler/lower/emitter.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
SimtPlan planWith(tile::KernelOp kernel, const lower::Options &lanes, uint64_t tileBytes, unsigned stages, bool inResults,
                  int64_t rowElements) {
  SimtPlan result;
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
  shareElements(kernel, result, tileBytes - std::min(tileBytes, (result.stagingBytes + 63) / 64 * 64), rowElements);
  result.stagingBytes = 0; // less than was put by where a factor stays in registers
  for (auto &[op, product] : result.plan.products)
    if (const MmaPlan &own = result.product(op); !result.stagesInResult(own))
      result.stagingBytes = std::max<uint64_t>(result.stagingBytes, own.stages * own.stageBytes());
  return result;
}

// By tile: the nests that take it.
llvm::DenseMap<Value, unsigned> takersOf(const SimtPlan &block) {
  auto isStored = [&](Value value) { return !block.plan.isVirtual(value); };
  llvm::DenseMap<Value, unsigned> takers;
  for (auto [nest, map] : block.mapped) {
    llvm::SmallDenseSet<Value> taken;
    for (const lower::Sink &sink : nest->sinks)
      if (sink.kind != lower::Sink::Copy || sink.value)
        for (const auto &[value, reach] : lower::pullOf(sink, isStored).tiles)
          taken.insert(value);
    for (Value value : taken)
      ++takers[value];
  }
  for (auto [scan, map] : block.scans)
    for (Value operand : scan->getOperands()) {
      lower::Pull pull;
      pull.add(operand, isStored);
      for (const auto &[value, reach] : pull.tiles)
        ++takers[value];
    }
  return takers;
}

// What a thread has loaded is taken by several nests, or by the turns of a loop.
bool isHeld(tile::LoadOp load, unsigned takers) {
  auto inLoop = [&](Operation *user) {
    auto loop = user->getParentOfType<scf::ForOp>();
    return loop && !loop->isAncestor(load);
  };
  return takers > 1 || llvm::any_of(load->getUsers(), inLoop);
}

// The assembler knows no occupancy: it takes registers for a load or two more and leaves a multiprocessor with one block, whose threads
// load, then all compute, then all store.
unsigned residentBlocks(tile::KernelOp kernel, const SimtPlan &block) {
  if (!block.plan.products.empty() || block.mapped.empty())
    return 1;
  int64_t elements = 0;
  for (auto [nest, map] : block.mapped)
    elements = std::max(elements, map->chunks * map->width);
  // Registers of a thread: those of the largest tile, most of those of others that it holds from nest to nest or turn to turn, half as many
  // of each other tile, addresses, and what it computes with. With too few it waits for each result before the next.
  int64_t stored = 0, mostStored = 0, held = 0, loads = 0;
  for (auto [buffer, map] : block.inRegisters) {
    int64_t own = map ? map->chunks * map->width : elements;
    stored += own;
    mostStored = std::max(mostStored, own);
  }
  auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
  kernel.walk([&](scf::ForOp loop) { held += llvm::count_if(loop.getResultTypes(), isTile); });
  llvm::DenseMap<Block *, int64_t> inBlock;
  llvm::DenseMap<Value, unsigned> takers = takersOf(block);
  int64_t ofBlock = elements * block.threads * block.cluster;
  kernel.walk([&](tile::LoadOp load) {
    if (!isTile(load.getType()) || ShapedType::getNumElements(tile::shapeOf(load.getType())) * 8 < ofBlock)
      return;
    loads = std::max(loads, ++inBlock[load->getBlock()]);
    held += isHeld(load, takers.lookup(load.getResult()));
  });
  held = std::max<int64_t>(held, 1);
  int64_t registers = std::max<int64_t>(elements + elements / 4 + 16, 48) + (stored - mostStored) / 2;
  registers += 11 * (held - 1) * elements / 16; // they need not all be there at once
  registers += 16 * std::clamp<int64_t>(loads - held, 0, 2);
  constexpr unsigned mostBlocks = 32, mostThreads = 2048; // of a multiprocessor
  if (block.cluster > 1)                                  // each has so little of the row that there is room for two
    registers = std::min<int64_t>(registers, block::registersOfAll / 1024);
  return std::min<unsigned>(std::min<unsigned>(mostThreads, block::registersOfAll / registers) / block.threads, mostBlocks);
}
} // namespace

SimtPlan planSimt(tile::KernelOp kernel, const lower::Options &lanes, uint64_t tileBytes, int64_t rowElements) {
  for (unsigned stages = 8; stages; --stages) {
    SimtPlan result = planWith(kernel, lanes, tileBytes, stages, true, rowElements);
    if (result.plan.products.empty()) {
      result.residentBlocks = residentBlocks(kernel, result);
      uint64_t used = result.stagingOffset() + 2 * result.exchangeBytes;
      if (result.cluster == 1)
        planFetches(kernel, result, lanes.disjoint, tileBytes - std::min(tileBytes, used));
    }
    if (result.plan.products.empty() || !result.plan.workspaceBytes)
      return result;
  }
  // Results may lie outside shared memory, stages may not.
  SimtPlan result = planWith(kernel, lanes, tileBytes, 2, false, rowElements);
  if (result.stagingOffset() + result.stagingBytes + 2 * result.exchangeBytes <= tileBytes)
    return result;
  return planWith(kernel, lanes, tileBytes, 1, false, rowElements);
}

void SimtPlan::print(llvm::raw_ostream &stream, Operation *kernel) const {
  plan.print(stream, kernel);
  stream << "  threads " << threads;
  if (cluster > 1)
    stream << " in each of " << cluster << " blocks";
  const char *separator = ", in registers ";
  for (int buffer = 0, n = plan.buffers.size(); buffer < n; ++buffer)
    if (inRegisters.contains(buffer))
      stream << std::exchange(separator, " ") << "#" << buffer;
  stream << "\n";
  for (const FetchLoop &fetch : fetches)
    if (fetch.keeper)
      stream << "  runs backwards and begins with what the loop before has kept\n";
    else if (fetch.keeps)
      stream << "  fetches and keeps " << fetch.ring << " vectors a thread of turns of " << fetch.vectors() << "\n";
    else
      stream << "  fetches " << fetch.ring / fetch.vectors() << (fetch.ring == fetch.vectors() ? " turn of " : " turns of ")
             << fetch.turnBytes << " bytes ahead" << (fetch.fixed.empty() ? "" : ", keeps " + std::to_string(fetch.fixedBytes))
             << "\n";
  auto printMap = [&](const ThreadMap &map) {
    stream << "  tiles of";
    for (int64_t size : map.sizes)
      stream << " " << size;
    stream << ": " << map.chunks << " vectors of " << map.width << " a thread";
    if (map.crosses())
      stream << " along dimension " << map.inner;
    if (map.abreast > 1)
      stream << ", " << map.abreast << " side by side";
    stream << "\n";
  };
  for (const auto &[sizes, map] : maps)
    printMap(map);
  for (const auto &[sizes, map] : crossMaps)
    printMap(map);
}

} // namespace tilery::cuda
