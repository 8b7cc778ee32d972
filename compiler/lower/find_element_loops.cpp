// Which loops run for a few vectors of elements at a time.
#include "compiler/analysis/index_polynomial.h"
#include "compiler/lower/element_loops.h"
#include "compiler/lower/interleave.h"
#include "compiler/lower/pull.h"

using namespace mlir;

namespace tilery::lower {
namespace {
bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

/// Rounds that leave an element's neighbours in the first-level cache, whatever they read.
constexpr int64_t fewRounds = 64;
/// Elements that a round's places lie behind those of the round before, mostly in the same lines.
constexpr int64_t neighbours = 8;
/// Vector instructions of a block's code, for each of its two forms.
constexpr unsigned mostWork = 96;

std::optional<int64_t> roundsOf(scf::ForOp loop) {
  auto from = analysis::constantOf(loop.getLowerBound()), to = analysis::constantOf(loop.getUpperBound()),
       step = analysis::constantOf(loop.getStep());
  if (!from || !to || !step || *step <= 0 || *to <= *from)
    return std::nullopt;
  return llvm::divideCeil(uint64_t(*to - *from), uint64_t(*step));
}

class Finder {
public:
  Finder(const Plan &plan, scf::ForOp loop, const Machine &machine) : plan(plan), loop(loop), machine(machine) {}
  /// Vectors to walk at once; 0: the loop stays outside of its nests.
  unsigned vectors();

private:
  bool takes(scf::ForOp inner);
  bool takesStep(const Step &step, scf::ForOp inner);
  bool ownElement(Value value, bool direct);
  bool staysNear(scf::ForOp inner, Value load);
  bool readsNear();
  /// Whether rounds divide to find places: nests do so once a segment (find_steady.cpp), blocks of vectors lane by lane.
  bool divides() const {
    return llvm::any_of(reached, [](Operation *op) {
      return isa<tile::DivOp, tile::RemOp>(op) && isTile(op->getResult(0)) && elementOf(op->getResult(0)).isSignlessInteger();
    });
  }

  const Plan &plan;
  scf::ForOp loop;
  const Machine &machine;
  ArrayRef<int64_t> shape;
  llvm::DenseSet<Value> carried; // what registers hold: known at their own element only
  SmallVector<Value> computed;
  llvm::DenseSet<Value> asked[2];
  llvm::SetVector<Operation *> reached;
};

bool Finder::takesStep(const Step &step, scf::ForOp inner) {
  if (step.op) {
    if (auto nested = dyn_cast<scf::ForOp>(step.op))
      return takes(nested);
    if (llvm::any_of(step.op->getOperands(), isTile) || llvm::any_of(step.op->getResults(), isTile) || step.op->getNumRegions())
      return false;
    auto load = dyn_cast<tile::LoadOp>(step.op);
    return load ? !load.getIsVolatile() : isMemoryEffectFree(step.op);
  }
  return llvm::all_of(step.nest.sinks, [&](const Sink &sink) {
    if (sink.kind == Sink::Define) {
      computed.push_back(sink.value);
      carried.insert(sink.value);
    }
    bool yields = sink.kind == Sink::Copy && sink.value && sink.op == inner.getBody()->getTerminator();
    return (yields || sink.kind == Sink::Define) && ArrayRef<int64_t>(step.nest.shape) == shape;
  });
}

bool Finder::takes(scf::ForOp inner) {
  for (Value value : inner.getRegionIterArgs()) {
    if (!isTile(value))
      continue;
    if (tile::shapeOf(value.getType()) != shape || isa<tile::PtrType>(elementOf(value)))
      return false;
    carried.insert(value);
  }
  if (plan.copies.count(inner.getBody()))
    return false;
  if (auto steps = plan.steps.find(inner.getBody()); steps != plan.steps.end())
    for (const Step &step : steps->second)
      if (!takesStep(step, inner))
        return false;
  for (Value result : inner.getResults())
    if (isTile(result))
      carried.insert(result);
    else if (inner == loop && !result.use_empty())
      return false;
  llvm::copy_if(inner.getBody()->getTerminator()->getOperands(), std::back_inserter(computed), isTile);
  if (inner != loop)
    llvm::copy_if(inner.getInitArgs(), std::back_inserter(computed), isTile);
  return true;
}

/// Whether the expression takes what registers hold at the element it is computed for, through plain arithmetic.
bool Finder::ownElement(Value value, bool direct) {
  if (carried.contains(value))
    return direct;
  Operation *op = value.getDefiningOp();
  if (!isTile(value) && !isa<tile::AccessType>(value.getType()))
    return true;
  if (!op || !loop->isProperAncestor(op) || !asked[direct].insert(value).second)
    return true;
  if (isTile(value)) {
    if (!plan.isVirtual(value))
      return false;
    reached.insert(op);
  }
  // Of a line's places and conditions each element has one.
  bool keeps = isElementwise(op) || (shape.size() == 1 && isa<tile::LoadOp, tile::AccessOp>(op));
  return llvm::all_of(op->getOperands(), [&](Value operand) { return ownElement(operand, direct && keeps); });
}

/// Whether an element asks in each round whether its place exists, and the answer hangs on the round: windows at the edges of images, whose
/// rounds are neighbours of each other however far apart rows are.
bool asksRound(scf::ForOp loop, tile::AccessOp access) {
  SmallVector<Value> work;
  for (unsigned d = 0; d < access.getSteps().size(); ++d)
    if (access.getBound(d).size() == 1)
      work.push_back(access.getBound(d)[0]);
  llvm::DenseSet<Value> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (value == loop.getInductionVar())
      return true;
    Operation *op = value.getDefiningOp();
    if (op && loop->isProperAncestor(op) && seen.insert(value).second)
      llvm::append_range(work, op->getOperands());
  }
  return false;
}

/// Whether the places of a round overlap those of the round before.
bool Finder::staysNear(scf::ForOp inner, Value place) {
  auto rounds = roundsOf(inner);
  bool few = rounds && *rounds <= fewRounds;
  auto access = place.getDefiningOp<tile::AccessOp>();
  if (!access || asksRound(inner, access))
    return few || access;
  analysis::IndexPolynomial rest, offset = analysis::polynomialOf(access.getOffset());
  analysis::IndexPolynomial moves = offset.coefficient(inner.getInductionVar(), rest);
  auto fixed = [&](Value atom) { return !inner->isAncestor(atom.getParentBlock()->getParentOp()); };
  if (!rest.all(fixed) || !moves.all(fixed))
    return few;
  if (auto elements = moves.constant(); elements && std::abs(*elements) <= neighbours)
    return true;
  bool inRows = false; // which are better read whole, one after the other
  for (unsigned d = 0; d < shape.size(); ++d) {
    if (!access.isStrided(d) || shape[d] == 1)
      continue;
    inRows = true;
    analysis::IndexPolynomial left, by = moves.divided(analysis::polynomialOf(access.getSteps()[d]), left);
    if (auto elements = by.constant(); left.isZero() && elements && std::abs(*elements) < shape[d])
      return true;
  }
  return few && !inRows;
}

bool Finder::readsNear() {
  return llvm::all_of(reached, [&](Operation *op) {
    auto load = dyn_cast<tile::LoadOp>(op);
    if (!load || ShapedType::getNumElements(tile::shapeOf(load.getType())) != ShapedType::getNumElements(shape))
      return !isa<tile::BufferLoadOp>(op);
    return staysNear(load->getParentOfType<scf::ForOp>(), load.getPlace());
  });
}

unsigned Finder::vectors() {
  auto first = llvm::find_if(loop.getInitArgs(), isTile);
  if (first == loop.getInitArgs().end())
    return 0;
  shape = tile::shapeOf((*first).getType());
  if (shape.empty() || !takes(loop) || !llvm::all_of(computed, [&](Value value) {
        Operation *op = value.getDefiningOp();
        if (!op || !carried.contains(value))
          return ownElement(value, true);
        if (isa<scf::ForOp>(op))
          return true;
        reached.insert(op);
        return llvm::all_of(op->getOperands(), [&](Value operand) { return ownElement(operand, isElementwise(op)); });
      }))
    return 0;
  unsigned tiles = llvm::count_if(loop.getInitArgs(), isTile), bits = 32, cost = 1;
  for (Value value : carried)
    bits = std::max(bits, elementOf(value).getIntOrFloatBitWidth());
  for (Value value : computed)
    if (Operation *op = value.getDefiningOp(); op && loop->isProperAncestor(op) && !isa<scf::ForOp>(op))
      cost += costOf(value, [&](Value v) { return v != value && (carried.contains(v) || !plan.isVirtual(v)); }, mostWork + 1);
  unsigned together = machine.vectorRegisters / 2 / tiles;
  unsigned most = std::min(together, std::max(mostWork / cost, vectorsSideBySide(reached.getArrayRef(), machine)));
  if (!together || !most)
    return 0;
  int64_t held = int64_t(most) * machine.vectorBits / bits;
  return ShapedType::getNumElements(shape) <= held || (readsNear() && !divides()) ? llvm::bit_floor(most) : 0;
}
} // namespace

void findElementLoops(Plan &plan, tile::KernelOp kernel, const Options &options) {
  kernel.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    unsigned vectors = Finder(plan, loop, options.target.machine).vectors();
    if (!vectors)
      return WalkResult::advance();
    plan.elementLoops[loop] = vectors;
    return WalkResult::skip();
  });
}

} // namespace tilery::lower
