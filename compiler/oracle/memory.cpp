#include "compiler/oracle/memory.h"
#include "compiler/oracle/argument_of.h"
#include "compiler/oracle/unwritten.h"

namespace tilery::oracle {

Memory::Memory(const Options &options) : options(options) {
  if (!options.debug)
    return;
  for (const Allocation &allocation : options.allocations) {
    if (allocation.bytes == 0)
      continue;
    Block block{allocation, std::max(1u, allocation.elementBytes), {}, {}};
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
        merged.back().step = std::min(merged.back().step, block.step);
        merged.back().written.clear(); // overlapping arguments: one of them is an input
        continue;
      }
    }
    merged.push_back(std::move(block));
  }
  blocks = std::move(merged);
  for (Block &block : blocks)
    eachUnwritten(block.allocation.address, block.allocation.bytes, [&block](uint64_t begin, uint64_t end) {
      if (block.written.empty())
        block.written.assign(block.allocation.bytes, 1);
      std::fill(block.written.begin() + begin, block.written.begin() + end, 0);
    });
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

std::string Memory::nameOf(uint64_t address, mlir::Operation *op) const {
  llvm::SmallVector<const Allocation *> found;
  for (const Allocation &allocation : options.allocations)
    if (address >= allocation.address && address < allocation.address + allocation.bytes)
      found.push_back(&allocation);
  if (found.size() > 1 && op)
    std::stable_partition(found.begin(), found.end(),
                          [own = argumentOf(op)](const Allocation *allocation) { return allocation->name == own; });
  std::string text;
  for (auto [number, allocation] : llvm::enumerate(found))
    text += (number == 0   ? ""
             : number == 1 ? " (in the same memory: "
                           : ", ") +
            ("element " + std::to_string((address - allocation->address) / allocation->elementBytes) + " of '" +
             allocation->name + "'");
  return found.size() > 1 ? text + ")" : text;
}

std::string Memory::argumentAt(uint64_t address) const {
  for (const Allocation &allocation : options.allocations)
    if (address >= allocation.address && address < allocation.address + std::max<uint64_t>(allocation.bytes, 1))
      return allocation.name;
  return "?";
}

/// The cells of an element. An access that is narrower than a cell, or lies across, makes cells of the block single bytes.
llvm::MutableArrayRef<Cell> Memory::cellsOf(Block &block, uint64_t first, unsigned bytes) {
  if (block.cells.empty())
    block.cells.resize((block.allocation.bytes + block.step - 1) / block.step);
  if (first % block.step || bytes % block.step) {
    std::vector<Cell> single(block.allocation.bytes);
    for (uint64_t i = 0; i < single.size(); ++i)
      single[i] = block.cells[i / block.step];
    block.cells = std::move(single);
    block.step = 1;
  }
  return llvm::MutableArrayRef(block.cells).slice(first / block.step, bytes / block.step);
}

static const char *ordering =
    "let one program do both, order the two by atomics (acquire, release), or keep what is read and what "
    "is written in different memory";

void Memory::load(Tile &to, int64_t lane, uint64_t address, mlir::Operation *op, AccessKind kind, int64_t program,
                  Problem &problem) {
  unsigned bytes = to.element.bytes();
  if (options.debug) {
    Block *block = find(address, bytes);
    if (!block) {
      problem = {outside(address, "reads"), {}};
      return;
    }
    uint64_t first = address - block->allocation.address;
    if (!block->written.empty() && llvm::is_contained(llvm::ArrayRef(block->written).slice(first, bytes), 0))
      to.setUndefined(lane, {op, address});
    for (Cell &cell : cellsOf(*block, first, bytes)) {
      if (int64_t writer = races.writerBesideRead(cell, program, kind); writer >= 0 && problem.text.empty())
        problem = {"reads " + nameOf(address, op) + ", which program " + std::to_string(writer) +
                       " writes: the result depends on which runs first",
                   ordering};
      races.read(cell, program, kind);
    }
  }
  to.lanes[lane] = readElement(to.element, reinterpret_cast<const void *>(address));
  if (options.shadow)
    if (auto known = options.shadow->memory.find(address); known != options.shadow->memory.end())
      to.setRange(lane, to.element.isFloat() ? known->second : Interval{-__builtin_inf(), __builtin_inf()});
}

bool Memory::store(uint64_t address, const Tile &value, int64_t lane, mlir::Operation *op, AccessKind kind, int64_t program,
                   Problem &problem) {
  unsigned bytes = value.element.bytes();
  uint64_t before = 0;
  auto *bits = reinterpret_cast<void *>(address);
  Block *block = nullptr;
  if (options.debug) {
    block = find(address, bytes);
    if (!block) {
      problem = {outside(address, "writes"), {}};
      return false;
    }
    std::memcpy(&before, bits, bytes);
  }
  writeElement(value.element, bits, value.lanes[lane]);
  bool changes = block && std::memcmp(&before, bits, bytes) != 0;
  if (block) {
    uint64_t first = address - block->allocation.address;
    for (Cell &cell : cellsOf(*block, first, bytes)) {
      int64_t writer = races.writerBesideWrite(cell, program, kind, changes);
      int64_t reader = writer >= 0 ? -1 : races.readerBesideWrite(cell, program, kind, changes);
      if ((writer >= 0 || reader >= 0) && problem.text.empty())
        problem = {"writes " + nameOf(address, op) + ", which program " + std::to_string(writer >= 0 ? writer : reader) +
                       (writer >= 0 ? " also writes: the result depends on which runs last"
                                    : " reads: the result depends on which runs first"),
                   ordering};
      races.write(cell, program, kind, changes);
    }
    if (!block->written.empty())
      std::fill_n(block->written.begin() + first, bytes, 1);
  }
  if (options.shadow) {
    Interval range = value.range(lane);
    if (range.isExact())
      options.shadow->memory.erase(address);
    else
      options.shadow->memory[address] = range;
  }
  return changes;
}

void Memory::acquire(uint64_t address, int64_t program) {
  if (!options.debug)
    return;
  Block *block = find(address, 1);
  bool touched = block && !block->cells.empty();
  races.acquire(address, program, touched ? &block->cells[(address - block->allocation.address) / block->step] : nullptr);
}

void Memory::release(uint64_t address, int64_t program) {
  if (options.debug)
    races.release(address, program);
}

} // namespace tilery::oracle
