#include "compiler/oracle/memory.h"

namespace tilery::oracle {

Memory::Memory(const Options &options) : options(options) {
  if (!options.debug)
    return;
  for (const Allocation &allocation : options.allocations) {
    if (allocation.bytes == 0)
      continue;
    Block block{allocation, std::vector<int32_t>(allocation.bytes), {}};
    if (!allocation.initialised)
      block.written.resize(allocation.bytes);
    blocks.push_back(std::move(block));
  }
  // Two arguments may share memory: the larger comes first among those that start together, and holds the state of both.
  llvm::sort(blocks, [](const Block &a, const Block &b) {
    return std::pair(a.allocation.address, ~a.allocation.bytes) < std::pair(b.allocation.address, ~b.allocation.bytes);
  });
  std::vector<Block> merged;
  for (Block &block : blocks) {
    if (!merged.empty()) {
      Allocation &before = merged.back().allocation;
      uint64_t end = before.address + before.bytes;
      if (block.allocation.address < end) {
        uint64_t newEnd = std::max(end, block.allocation.address + block.allocation.bytes);
        before.bytes = newEnd - before.address;
        merged.back().writer.resize(before.bytes);
        merged.back().written.clear(); // overlapping arguments: one of them is an input
        continue;
      }
    }
    merged.push_back(std::move(block));
  }
  blocks = std::move(merged);
}

Memory::Block *Memory::find(uint64_t address, unsigned bytes) {
  auto holds = [&](const Block &block) {
    return address >= block.allocation.address && address + bytes <= block.allocation.address + block.allocation.bytes;
  };
  if (last && holds(*last))
    return last;
  auto next = llvm::upper_bound(blocks, address, [](uint64_t at, const Block &block) { return at < block.allocation.address; });
  if (next == blocks.begin() || !holds(*std::prev(next)))
    return nullptr;
  return last = &*std::prev(next);
}

std::string Memory::outside(uint64_t address, const char *what) const {
  const Allocation *nearest = nullptr;
  uint64_t distance = ~0ull;
  for (const Block &block : blocks) {
    uint64_t end = block.allocation.address + block.allocation.bytes;
    uint64_t away = address >= end ? address - end : address < block.allocation.address ? block.allocation.address - address : 0;
    if (away < distance) {
      distance = away;
      nearest = &block.allocation;
    }
  }
  std::string text = std::string(what) + " outside every argument";
  if (!nearest || distance > (1ull << 32))
    return text;
  int64_t element = int64_t(address - nearest->address) / int64_t(nearest->elementBytes);
  if (int64_t(address - nearest->address) < 0)
    element = -((int64_t(nearest->address - address) + nearest->elementBytes - 1) / nearest->elementBytes);
  return text + ": element " + std::to_string(element) + " of '" + nearest->name + "', whose elements are 0 to " +
         std::to_string(int64_t(nearest->bytes / nearest->elementBytes) - 1);
}

void Memory::load(Tile &to, int64_t lane, uint64_t address, mlir::Operation *op, std::string &problem) {
  if (options.debug) {
    Block *block = find(address, to.element.bytes());
    if (!block) {
      problem = outside(address, "reads");
      return;
    }
    if (!block->written.empty())
      for (unsigned i = 0; i < to.element.bytes(); ++i)
        if (!block->written[address - block->allocation.address + i])
          to.setUndefined(lane, op);
  }
  to.lanes[lane] = readElement(to.element, reinterpret_cast<const void *>(address));
  if (options.shadow)
    if (auto known = options.shadow->memory.find(address); known != options.shadow->memory.end())
      to.setRange(lane, to.element.isFloat() ? known->second : Interval{-__builtin_inf(), __builtin_inf()});
}

void Memory::store(uint64_t address, const Tile &value, int64_t lane, Kind kind, int64_t program, std::string &problem) {
  unsigned bytes = value.element.bytes();
  if (options.debug) {
    Block *block = find(address, bytes);
    if (!block) {
      problem = outside(address, "writes");
      return;
    }
    uint64_t first = address - block->allocation.address;
    if (kind == Kind::Plain)
      for (unsigned i = 0; i < bytes; ++i) {
        int32_t &writer = block->writer[first + i];
        if (writer && writer != program + 1 && problem.empty())
          problem = "writes element " + std::to_string(first / block->allocation.elementBytes) + " of '" +
                    block->allocation.name + "', which program " + std::to_string(writer - 1) +
                    " also writes: the result depends on which runs last";
        writer = int32_t(program + 1);
      }
    if (!block->written.empty())
      std::fill_n(block->written.begin() + first, bytes, 1);
  }
  writeElement(value.element, reinterpret_cast<void *>(address), value.lanes[lane]);
  if (options.shadow) {
    Interval range = value.range(lane);
    if (range.isExact())
      options.shadow->memory.erase(address);
    else
      options.shadow->memory[address] = range;
  }
}

} // namespace tilery::oracle
