// The text of a plan.
#include "compiler/lower/plan.h"
#include "compiler/explain/findings.h"
#include "mlir/IR/AsmState.h"

using namespace mlir;

namespace tilery::lower {

static void printStep(llvm::raw_ostream &stream, const Step &step, const Plan &plan, AsmState &names, unsigned indent) {
  auto name = [&](Value value) { value.printAsOperand(stream, names); };
  stream.indent(indent);
  if (step.op) {
    if (step.op->getNumResults()) {
      name(step.op->getResult(0));
      stream << " = ";
    }
    stream << step.op->getName();
    if (auto product = plan.products.find(step.op); product != plan.products.end()) {
      if (SmallVector<Value> live = liveExtents(step.op); !live.empty()) {
        stream << " rows < ";
        name(live[0]);
        stream << " columns < ";
        name(live[1]);
      }
      product->second->print(stream << ": ");
    }
    if (unsigned vectors = plan.elementLoops.lookup(step.op))
      stream << " for " << vectors << " vectors at a time";
    stream << (plan.straight.contains(step.op) ? " straight to memory\n" : "\n");
    return;
  }
  stream << "nest";
  for (int64_t size : step.nest.shape)
    stream << " " << size;
  if (std::string ways = explain::waysOf(&step.nest); !ways.empty())
    stream << ": " << ways;
  stream << "\n";
  for (const Sink &sink : step.nest.sinks) {
    static const char *kinds[] = {"store", "buffer_store", "update", "define", "copy", "reduce"};
    stream.indent(indent + 2) << kinds[sink.kind];
    if (sink.value) {
      stream << " ";
      name(sink.value);
    }
    for (Value result :
         sink.kind == Sink::Reduce ? sink.op->getResults() : ResultRange(sink.op->result_begin(), sink.op->result_begin())) {
      stream << " ";
      name(result);
    }
    for (int buffer : sink.buffers)
      stream << " -> #" << buffer;
    if (sink.source >= 0)
      stream << " from #" << sink.source;
    stream << "\n";
  }
}

void Plan::print(llvm::raw_ostream &stream, Operation *kernel) const {
  AsmState names(kernel);
  stream << "plan @" << cast<tile::KernelOp>(kernel).getSymName() << " arena " << arenaBytes << "\n";
  for (auto [index, buffer] : llvm::enumerate(buffers))
    stream << "  #" << index << ": " << buffer.elements << " x " << buffer.element << (buffer.outside ? " in the workspace" : "")
           << " at " << buffer.offset << " alive " << buffer.first << ".." << buffer.last << "\n";
  std::function<void(Block &, unsigned)> printBlock = [&](Block &block, unsigned indent) {
    for (auto *list : {&steps, &copies}) {
      auto found = list->find(&block);
      if (found == list->end())
        continue;
      for (const Step &step : found->second) {
        if (auto init = step.op && !elementLoops.contains(step.op) ? inits.find(step.op) : inits.end(); init != inits.end())
          for (const Step &part : init->second)
            printStep(stream, part, *this, names, indent);
        printStep(stream, step, *this, names, indent);
        if (step.op && !isa<tile::ReduceOp, tile::ScanOp>(step.op))
          for (Region &region : step.op->getRegions())
            for (Block &inner : region)
              printBlock(inner, indent + 2);
      }
    }
  };
  for (Block &block : cast<tile::KernelOp>(kernel).getBody())
    printBlock(block, 2);
}

} // namespace tilery::lower
