#include "compiler/lower/explain_plan.h"
#include "compiler/explain/findings.h"

using namespace mlir;

namespace tilery::lower {

static std::string sizeText(uint64_t bytes) {
  return bytes < 1024 ? std::to_string(bytes) + " bytes" : std::to_string(bytes >> 10) + " KiB";
}

static std::string boxText(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text.empty() ? "1" : text;
}

void explainStorage(const Plan &plan, tile::KernelOp kernel, uint64_t bytes) {
  if (!explain::wanted())
    return;
  Operation *largest = nullptr;
  uint64_t most = 0;
  llvm::DenseSet<int> said;
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      auto found = plan.storage.find(result);
      if (found == plan.storage.end())
        continue;
      const ScratchBuffer &buffer = plan.buffers[found->second];
      if (buffer.bytes > most)
        most = buffer.bytes, largest = op;
      if (said.insert(found->second).second)
        explain::say(op, "keeps a tile of " + boxText(tile::shapeOf(result.getType())) +
                             " elements in memory: " + sizeText(buffer.bytes));
    }
  });
  if (!largest || (plan.arenaBytes <= bytes && !plan.workspaceBytes))
    return;
  explain::find(largest, "spill",
                "a program keeps tiles of " + sizeText(plan.arenaBytes + plan.workspaceBytes) + " in memory, " + sizeText(most) +
                    " here: more than the " + sizeText(bytes) + " that are near",
                "take smaller tiles, or a loop over pieces of them");
}

void explainThreads(Operation *access, ArrayRef<Index> point) {
  const Index *walked = llvm::find_if(point, [](const Index &index) { return index.ofThreads; });
  if (walked != point.end())
    explain::threadsApart(access, walked - point.begin());
}

void explainNest(const Nest &nest, const llvm::Twine &how) {
  if (!explain::wanted())
    return;
  SmallVector<StringRef> does;
  auto add = [&](StringRef what) {
    if (!llvm::is_contained(does, what))
      does.push_back(what);
  };
  for (const Sink &sink : nest.sinks)
    switch (sink.kind) {
    case Sink::Store:
      add("stores");
      break;
    case Sink::BufferStore:
      add("writes a buffer");
      break;
    case Sink::Update:
      add("updates memory");
      break;
    case Sink::Define:
    case Sink::Copy:
      add("fills a tile in memory");
      break;
    case Sink::Reduce:
      add("combines a dimension");
      break;
    }
  const Sink &first = nest.sinks[0];
  Operation *computed = first.kind == Sink::Copy && first.value ? first.value.getDefiningOp() : nullptr;
  if (first.op && computed && computed->hasTrait<OpTrait::ConstantLike>())
    computed = nullptr; // a constant has no place of its own
  explain::say(computed || !first.op ? computed : first.op,
               "loops over " + boxText(nest.shape) + " elements, " + how.str() + ": " + llvm::join(does, ", "));
}

void explainNarrow(const Nest &nest, const Plan &plan, int64_t extent, int64_t lanes) {
  SmallVector<Value> work;
  for (const Sink &sink : nest.sinks) {
    if (sink.kind == Sink::Store)
      explain::narrow(sink.op, extent, lanes);
    if (sink.kind == Sink::Reduce || sink.kind == Sink::Store)
      llvm::append_range(work, sink.op->getOperands());
    else if (sink.value)
      work.push_back(sink.value);
    if (auto load = sink.kind == Sink::Define ? sink.value.getDefiningOp<tile::LoadOp>() : nullptr)
      explain::narrow(load, extent, lanes, true);
  }
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !isa<RankedTensorType>(value.getType()) || !plan.isVirtual(value) || !seen.insert(op).second)
      continue;
    if (isa<tile::LoadOp>(op))
      explain::narrow(op, extent, lanes);
    llvm::append_range(work, op->getOperands());
  }
}

} // namespace tilery::lower
