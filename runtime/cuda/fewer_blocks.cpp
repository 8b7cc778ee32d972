#include "runtime/cuda/fewer_blocks.h"
#include <algorithm>
#include <charconv>

namespace tilery::cuda {
namespace {
// Bytes of a thread. They go to memory where a multiprocessor's threads spill more than its cache holds, and are often more than the kernel has
// to move; half of the threads less is worth many of them.
constexpr uint64_t some = 48, many = 512;
constexpr size_t longCode = 1 << 20; // takes seconds to assemble: not several times
constexpr std::string_view least = ".minnctapersm ";

/// Changes the directives of the kernel that begins at `entry`.
bool change(std::string &ptx, size_t entry, uint64_t spilled) {
  size_t body = ptx.find("\n{", entry), end = std::min(ptx.find(".entry ", entry + 1), ptx.size());
  auto has = [&](std::string_view word, size_t until) { return ptx.find(word, entry) < until; };
  if (body >= end || has(".maxnreg", body) || has("setmaxnreg", end)) // registers are dealt otherwise
    return false;
  size_t found = ptx.find(least, entry);
  if (found >= body) {
    size_t threads = ptx.find("\n.maxntid ", entry);
    if (threads >= body)
      return false;
    ptx.insert(ptx.find('\n', threads + 1), "\n" + std::string(least) + "1");
    return true;
  }
  found += least.size();
  unsigned blocks = 0;
  auto [rest, error] = std::from_chars(ptx.data() + found, ptx.data() + body, blocks);
  if (error != std::errc() || blocks < 2 || (blocks == 2 && spilled <= many))
    return false;
  ptx.replace(found, size_t(rest - ptx.data()) - found, std::to_string(ptx.size() > longCode ? 1 : std::max(blocks * 3 / 4, 1u)));
  return true;
}
} // namespace

uint64_t spilledBytes(const std::vector<Spill> &spills) {
  uint64_t sum = 0;
  for (const Spill &spill : spills)
    sum += uint64_t(spill.storeBytes) + spill.loadBytes;
  return sum;
}

std::string withFewerBlocks(const std::string &ptx, const std::vector<Spill> &spills) {
  std::string text = ptx;
  bool changed = false;
  for (const Spill &spill : spills)
    if (uint64_t spilled = spilledBytes({spill}); spilled > some)
      if (size_t entry = text.find(".entry " + spill.kernel + "("); entry != std::string::npos)
        changed |= change(text, entry, spilled);
  return changed ? text : "";
}

} // namespace tilery::cuda
