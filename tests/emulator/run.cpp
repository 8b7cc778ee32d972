#include "run.h"
#include <cstring>
#include <list>
#include <utility>

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
      if (launch.watches)
        each.clock.agent = cluster.races.newAgent([&each] { return nameOf(each); });
    }
  }
}

/// A cluster under way.
class Running {
public:
  Running(const Launch &launch, uint32_t firstBlock) : launch(launch) {
    cluster.timing = launch.timing;
    cluster.watches = launch.watches;
    prepare(cluster, launch, firstBlock);
    cluster.fibers = &fibers;
  }
  Running(const Running &) = delete;

  /// Goes on for some time. True: it has ended, or something went wrong.
  bool go() {
    constexpr unsigned turns = 4096;
    return fibers.run(turns, [&] { return cluster.land(); }, [&] { return cluster.deadlock(); });
  }
  std::string wrong() const {
    if (!fibers.wrong().empty())
      return fibers.wrong();
    if (!cluster.arrivals.empty())
      return "the block ends while copies are on their way";
    for (const Block &block : cluster.blocks)
      if (block.shared.overrun())
        return "a thread writes past the shared memory";
    return "";
  }

private:
  void runThread(unsigned fiber) {
    Thread &thread = cluster.blocks[fiber / launch.threads].threads[fiber % launch.threads];
    launch.entry(&thread);
    finish(thread);
  }

  const Launch &launch;
  Cluster cluster;
  Fibers fibers{launch.cluster * launch.threads, [this](unsigned fiber) { runThread(fiber); }};
};
} // namespace

CodeFacts factsOf(const ElfCode &code, const std::string &kernel) {
  CodeFacts facts{};
  if (auto tell = reinterpret_cast<void (*)(CodeFacts *)>(code.find(kernel + factsSuffix)))
    tell(&facts);
  return facts;
}

// The last one first, since they may come in any order; but one that does not end may wait for what others do, and programs that do so rely on
// the first ones to begin first.
std::string run(const Launch &launch) {
  uint32_t first = 0, last = launch.like.blocks;
  std::list<Running> running;
  while (first < last || !running.empty()) {
    if (first < last && running.empty())
      running.emplace_back(launch, last -= launch.cluster);
    else if (first < last)
      running.emplace_back(launch, std::exchange(first, first + launch.cluster));
    for (auto one = running.begin(); one != running.end();) {
      if (!one->go()) {
        ++one;
        continue;
      }
      if (std::string wrong = one->wrong(); !wrong.empty())
        return wrong;
      one = running.erase(one);
    }
  }
  return "";
}

} // namespace tilery::emulator
