// Accesses on their way to the shadows of memory.
#include "block.h"

namespace tilery::emulator {

Viewers only(const Thread &thread) {
  Viewers viewers;
  viewers.add(thread.clock);
  return viewers;
}

uint32_t agentOf(Thread &thread, Thread::Engine &engine, const char *name) {
  if (!engine.agent && thread.home->cluster->watches)
    engine.agent = thread.home->cluster->races.newAgent([&thread, name] { return name + (" of " + nameOf(thread)); });
  return engine.agent;
}

/// "thread 3 (line 7)"
static std::string nameOf(const Races &races, const Access &access) {
  return races.nameOf(access.when.agent) + (access.line ? " (line " + std::to_string(access.line) + ")" : "");
}

static void complain(Thread &thread, uint32_t bytes, const std::string &where, const Access &access, const Conflict &conflict) {
  Cluster &cluster = *thread.home->cluster;
  std::string text = std::string(nameOf(access.act)) + " " + std::to_string(bytes) + " bytes" + where;
  if (access.line)
    text += " (line " + std::to_string(access.line) + ")";
  text += std::string(", which ") + nameOf(cluster.races, conflict.before) + " " + nameOf(conflict.before.act);
  cluster.fail(thread, text + (conflict.unshown ? " without a proxy fence" : ", and nothing orders the two"));
}

void touchShared(Thread &thread, Block &block, uint32_t place, uint32_t bytes, const Access &access, const Viewers &viewers) {
  if (!block.cluster->watches)
    return;
  if (auto conflict = block.shared.shadow.touch(place, bytes, access, viewers))
    complain(thread, bytes, " at " + std::to_string(place) + " of shared memory", access, *conflict);
}

void touch(Thread &thread, const char *pointer, uint32_t bytes, const Access &access) {
  Block &block = *thread.home;
  if (uint64_t place = uint64_t(pointer - block.shared.at(0)); place < block.shared.bytes())
    return touchShared(thread, block, uint32_t(place), bytes, access, only(thread));
  if (!block.cluster->watches)
    return;
  if (auto conflict = block.cluster->races.global.touch(reinterpret_cast<uint64_t>(pointer), bytes, access, only(thread)))
    complain(thread, bytes, " at " + std::to_string(reinterpret_cast<uint64_t>(pointer)), access, *conflict);
}

} // namespace tilery::emulator
