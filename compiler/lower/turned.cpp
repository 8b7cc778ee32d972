#include "compiler/lower/turned.h"
#include "compiler/lower/emitter.h"
#include "mlir/IR/Matchers.h"
#include <set>

using namespace mlir;

namespace tilery::lower {
namespace {
constexpr unsigned unknown = ~0u;
/// By dimension of a tile: the nest's dimension that it is.
using Dims = SmallVector<unsigned, 4>;

bool hasStep(tile::AccessOp access, unsigned dim, int64_t number) {
  APInt step;
  return access.isStrided(dim) && matchPattern(access.getSteps()[dim], m_ConstantInt(&step)) && step == number;
}

unsigned lastDim(ArrayRef<int64_t> shape) {
  unsigned dim = shape.empty() ? 0 : shape.size() - 1;
  while (dim && shape[dim] == 1)
    --dim;
  return dim;
}

/// The dimensions of an operand of what only moves elements to other places; nothing for other ops.
std::optional<Dims> dimsOfOperand(Operation *op, const Dims &dims) {
  if (isElementwise(op) || isa<tile::BroadcastOp>(op))
    return dims;
  if (auto permute = dyn_cast<tile::PermuteOp>(op)) {
    Dims moved(dims.size());
    for (auto [d, from] : llvm::enumerate(permute.getOrder()))
      moved[from] = dims[d];
    return moved;
  }
  if (!isa<tile::ExpandDimsOp, tile::ReshapeOp>(op))
    return std::nullopt;
  // Extents of 1 come and go.
  ArrayRef<int64_t> from = tile::shapeOf(op->getOperand(0).getType()), to = tile::shapeOf(op->getResult(0).getType());
  Dims kept;
  size_t next = 0;
  for (int64_t size : from) {
    while (size != 1 && next < to.size() && to[next] == 1)
      ++next;
    if (size != 1 && (next == to.size() || to[next] != size))
      return std::nullopt;
    kept.push_back(size == 1 ? unknown : dims[next++]);
  }
  return kept;
}

class Search {
public:
  Search(unsigned vectors, llvm::function_ref<bool(Value)> stored, llvm::function_ref<void(tile::LoadOp, unsigned)> visit)
      : vectors(vectors), stored(stored), visit(visit) {}

  void below(Value value, const Dims &dims) {
    Operation *op = value.getDefiningOp();
    if (!op || !isa<RankedTensorType>(value.getType()) || stored(value) ||
        !seen.insert({value.getAsOpaquePointer(), dims}).second)
      return;
    if (auto load = dyn_cast<tile::LoadOp>(op))
      return of(load, dims);
    if (std::optional<Dims> next = dimsOfOperand(op, dims))
      for (Value operand : op->getOperands())
        below(operand, *next);
  }

private:
  void of(tile::LoadOp load, const Dims &dims) {
    std::optional<unsigned> neighbours = load.getIsVolatile() ? std::nullopt : neighbourDim(load.getPlace());
    const auto *along = llvm::find(dims, vectors);
    if (!neighbours || along == dims.end())
      return;
    unsigned dim = along - dims.begin();
    if (dim != *neighbours && tile::shapeOf(load.getType())[dim] != 1 &&
        !hasStep(load.getPlace().getDefiningOp<tile::AccessOp>(), dim, 0))
      visit(load, dim);
  }

  unsigned vectors;
  llvm::function_ref<bool(Value)> stored;
  llvm::function_ref<void(tile::LoadOp, unsigned)> visit;
  std::set<std::pair<const void *, Dims>> seen;
};
} // namespace

std::optional<unsigned> neighbourDim(Value place) {
  auto access = place.getDefiningOp<tile::AccessOp>();
  if (!access)
    return std::nullopt;
  ArrayRef<int64_t> shape = cast<tile::AccessType>(access.getType()).getShape();
  for (unsigned d = shape.size(); d-- > 0;)
    if (shape[d] != 1 && hasStep(access, d, 1))
      return d;
  return std::nullopt;
}

unsigned vectorDim(const Nest &nest) {
  std::optional<unsigned> found;
  for (const Sink &sink : nest.sinks) {
    if (sink.kind == Sink::Reduce)
      return lastDim(nest.shape);
    if (auto store = dyn_cast_if_present<tile::StoreOp>(sink.op); store && sink.kind == Sink::Store && !found)
      found = neighbourDim(store.getPlace());
  }
  for (const Sink &sink : nest.sinks)
    if (auto load = sink.kind == Sink::Define ? sink.value.getDefiningOp<tile::LoadOp>() : tile::LoadOp(); load && !found)
      found = neighbourDim(load.getPlace());
  return found.value_or(lastDim(nest.shape));
}

void forTurnedLoads(const Nest &nest, llvm::function_ref<bool(Value)> stored,
                    llvm::function_ref<void(tile::LoadOp, unsigned)> visit) {
  Search search(vectorDim(nest), stored, visit);
  Dims own;
  for (unsigned d = 0; d < nest.shape.size(); ++d)
    own.push_back(d);
  for (const Sink &sink : nest.sinks) {
    if (auto store = dyn_cast_if_present<tile::StoreOp>(sink.op); store && sink.kind == Sink::Store)
      search.below(store.getValue(), own);
    else if (sink.kind == Sink::Reduce)
      for (Value operand : sink.op->getOperands())
        search.below(operand, own);
    else if (sink.kind == Sink::Copy && sink.value)
      search.below(sink.value, own);
    else if (sink.kind == Sink::Define && !isa<tile::LoadOp>(sink.op))
      for (Value operand : sink.op->getOperands())
        if (std::optional<Dims> next = dimsOfOperand(sink.op, own))
          search.below(operand, *next);
  }
}

} // namespace tilery::lower
