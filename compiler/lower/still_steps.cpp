// A library's kernel for any operands reads `x[i * stride0 + j * stride1]` with strides of the launch; of a column or a number that is
// broadcast along a row the last one is 0. By vectors that is a gather of one element, or as many loads as lanes.
#include "compiler/lower/still_steps.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/lower/emitter.h"
#include "compiler/lower/steady.h"
#include <set>

using namespace mlir;

namespace tilery::lower {
namespace {
constexpr size_t mostSteps = 4, mostValues = 64; // of a nest that is emitted twice

class StepFinder {
public:
  StepFinder(const Plan &plan, unsigned dim) : plan(plan), dim(int(dim)) {}
  llvm::SetVector<Value> steps;
  std::set<std::pair<Operation *, SmallVector<int>>> seen;

  void place(Value place, ArrayRef<int> loops) {
    auto access = place.getDefiningOp<tile::AccessOp>();
    for (unsigned d = 0; access && d < loops.size(); ++d)
      if (loops[d] == dim && access.isStrided(d) && !analysis::constantOf(access.getSteps()[d]))
        steps.insert(access.getSteps()[d]);
  }

  void expression(Value value, ArrayRef<int> loops) {
    Operation *op = value.getDefiningOp();
    if (isa<RankedTensorType>(value.getType()) && op && plan.isVirtual(value) &&
        seen.insert({op, SmallVector<int>(loops)}).second)
      operands(op, loops);
  }

  void operands(Operation *op, ArrayRef<int> loops) {
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      place(load.getPlace(), loops);
      if (load.getOther())
        expression(load.getOther(), loops);
    } else if (std::optional<SmallVector<int>> inner = loopsOfOperand(op, loops)) {
      expression(op->getOperand(0), *inner);
    } else if (isElementwise(op)) {
      for (Value operand : op->getOperands())
        expression(operand, loops);
    }
  }

private:
  const Plan &plan;
  int dim;
};
} // namespace

SmallVector<Value> stepsOfLoads(const Plan &plan, const Nest &nest, unsigned dim) {
  StepFinder finder(plan, dim);
  SmallVector<int> loops;
  for (unsigned d = 0; d < nest.shape.size(); ++d)
    loops.push_back(int(d));
  for (const Sink &sink : nest.sinks) {
    if (sink.kind == Sink::Store)
      finder.expression(cast<tile::StoreOp>(sink.op).getValue(), loops);
    else if (sink.kind == Sink::Copy && sink.value)
      finder.expression(sink.value, loops);
    else if (sink.kind == Sink::Define)
      finder.operands(sink.op, loops);
    else
      return {};
  }
  bool isShort = finder.steps.size() <= mostSteps && finder.seen.size() <= mostValues;
  return isShort ? SmallVector<Value>(finder.steps.begin(), finder.steps.end()) : SmallVector<Value>();
}

} // namespace tilery::lower
