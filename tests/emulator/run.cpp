#include "run.h"
#include <cstring>

namespace tilery::emulator {
namespace {
/// Makes the blocks of a cluster as a launch finds them.
void prepare(Cluster &cluster, const Launch &launch, uint32_t firstBlock) {
  cluster.blocks = std::vector<Block>(launch.cluster);
  uint32_t rank = 0;
  for (Block &block : cluster.blocks) {
    uint32_t number = firstBlock + rank;
    block.cluster = &cluster;
    block.rank = rank++;
    block.shared.make(launch.sharedBytes);
    block.threads.assign(launch.threads, launch.like);
    block.warpgroups.resize((launch.threads + 127) / 128);
    char *workspace = launch.like.workspace + number * launch.workspaceBytes;
    if (launch.workspaceBytes)
      std::memset(workspace, undefinedByte, launch.workspaceBytes);
    uint32_t thread = 0;
    for (Thread &each : block.threads) {
      each.number = thread++;
      each.block = number;
      each.rank = block.rank;
      each.shared = block.shared.at(0);
      each.workspace = workspace;
      each.functions = firstFunction();
      each.home = &block;
      each.registers = launch.registers;
    }
  }
}

/// What goes wrong in one cluster.
std::string runCluster(const Launch &launch, uint32_t firstBlock) {
  Cluster cluster;
  cluster.timing = launch.timing;
  prepare(cluster, launch, firstBlock);
  auto threadOf = [&](unsigned fiber) -> Thread & {
    return cluster.blocks[fiber / launch.threads].threads[fiber % launch.threads];
  };
  Fibers fibers(launch.cluster * launch.threads, [&](unsigned fiber) {
    launch.entry(&threadOf(fiber));
    finish(threadOf(fiber));
  });
  cluster.fibers = &fibers;
  std::string wrong = fibers.run([&] { return cluster.land(); }, [&] { return cluster.deadlock(); });
  if (wrong.empty() && !cluster.arrivals.empty())
    wrong = "the block ends while copies are on their way";
  for (const Block &one : cluster.blocks)
    if (wrong.empty() && one.shared.overrun())
      wrong = "a thread writes past the shared memory";
  return wrong;
}
} // namespace

CodeFacts factsOf(const ElfCode &code, const std::string &kernel) {
  CodeFacts facts{};
  if (auto tell = reinterpret_cast<void (*)(CodeFacts *)>(code.find(kernel + factsSuffix)))
    tell(&facts);
  return facts;
}

std::string run(const Launch &launch) {
  for (uint32_t block = launch.like.blocks; block > 0; block -= launch.cluster) // they come in any order
    if (std::string wrong = runCluster(launch, block - launch.cluster); !wrong.empty())
      return wrong;
  return "";
}

} // namespace tilery::emulator
