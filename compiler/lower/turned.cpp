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
  using Leaf = llvm::function_ref<void(Value read, const Dims &dims)>;
  Search(llvm::function_ref<bool(Value)> stored, Leaf leaf) : stored(stored), leaf(leaf) {}

  void below(Value value, const Dims &dims) {
    Operation *op = value.getDefiningOp();
    bool isStored = stored(value);
    if (!isa<RankedTensorType>(value.getType()) || (!op && !isStored) || !seen.insert({value.getAsOpaquePointer(), dims}).second)
      return;
    if (isStored || isa<tile::LoadOp>(op))
      return leaf(value, dims);
    if (std::optional<Dims> next = dimsOfOperand(op, dims))
      for (Value operand : op->getOperands())
        below(operand, *next);
  }

  void below(const Nest &nest) {
    Dims own;
    for (unsigned d = 0; d < nest.shape.size(); ++d)
      own.push_back(d);
    for (const Sink &sink : nest.sinks) {
      if (auto store = dyn_cast_if_present<tile::StoreOp>(sink.op); store && sink.kind == Sink::Store)
        below(store.getValue(), own);
      else if (sink.kind == Sink::Reduce)
        for (Value operand : sink.op->getOperands())
          below(operand, own);
      else if (sink.kind == Sink::Copy && sink.value)
        below(sink.value, own);
      else if (sink.kind == Sink::Define && !isa<tile::LoadOp>(sink.op))
        for (Value operand : sink.op->getOperands())
          if (std::optional<Dims> next = dimsOfOperand(sink.op, own))
            below(operand, *next);
    }
  }

private:
  llvm::function_ref<bool(Value)> stored;
  Leaf leaf;
  std::set<std::pair<const void *, Dims>> seen;
};

/// The load's dimension that the nest's `vectors` follow, if neighbours lie along another one.
std::optional<unsigned> turnedAlong(tile::LoadOp load, const Dims &dims, unsigned vectors,
                                    const llvm::DenseSet<Value> *counting = nullptr) {
  std::optional<unsigned> neighbours = load.getIsVolatile() ? std::nullopt : neighbourDim(load.getPlace(), counting);
  const auto *along = llvm::find(dims, vectors);
  if (!neighbours || along == dims.end())
    return std::nullopt;
  unsigned dim = along - dims.begin();
  bool turned = dim != *neighbours && tile::shapeOf(load.getType())[dim] != 1 &&
                !hasStep(load.getPlace().getDefiningOp<tile::AccessOp>(), dim, 0);
  return turned ? std::optional(dim) : std::nullopt;
}
} // namespace

unsigned lastDim(ArrayRef<int64_t> shape) {
  unsigned dim = shape.empty() ? 0 : shape.size() - 1;
  while (dim && shape[dim] == 1)
    --dim;
  return dim;
}

std::optional<unsigned> neighbourDim(Value place, const llvm::DenseSet<Value> *counting) {
  auto access = place.getDefiningOp<tile::AccessOp>();
  if (!access)
    return std::nullopt;
  ArrayRef<int64_t> shape = cast<tile::AccessType>(access.getType()).getShape();
  for (unsigned d = shape.size(); d-- > 0;)
    if (shape[d] != 1 && (hasStep(access, d, 1) || (counting && counting->contains(access.getSteps()[d]))))
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
  unsigned vectors = vectorDim(nest);
  Search(stored, [&](Value read, const Dims &dims) {
    auto load = stored(read) ? tile::LoadOp() : read.getDefiningOp<tile::LoadOp>();
    if (auto along = load ? turnedAlong(load, dims, vectors) : std::nullopt)
      visit(load, *along);
  }).below(nest);
}

std::optional<ReadAcross> readAcross(const Nest &nest, unsigned vectors, llvm::function_ref<bool(Value)> stored,
                                     const llvm::DenseSet<Value> *counting) {
  std::optional<ReadAcross> found;
  auto add = [&](Value tile, const Dims &dims, unsigned neighbours) {
    unsigned dim = dims[neighbours], bytes = tile::elementBytes(getElementTypeOrSelf(tile.getType()));
    if (dim == unknown || (found && found->dim != dim))
      return;
    found = ReadAcross{dim, found ? std::min(found->leastBytes, bytes) : bytes};
  };
  auto visit = [&](Value read, const Dims &dims) {
    ArrayRef<int64_t> shape = tile::shapeOf(read.getType());
    unsigned last = lastDim(shape);
    if (!stored(read)) {
      auto load = read.getDefiningOp<tile::LoadOp>();
      if (turnedAlong(load, dims, vectors, counting))
        add(read, dims, *neighbourDim(load.getPlace(), counting));
    } else if (const auto *along = llvm::find(dims, vectors);
               along != dims.end() && dims[last] != vectors && shape[along - dims.begin()] != 1) {
      add(read, dims, last);
    }
  };
  Search(stored, visit).below(nest);
  for (const Sink &sink : nest.sinks) // which is read where it is defined
    if (auto load = sink.kind == Sink::Define ? sink.value.getDefiningOp<tile::LoadOp>() : tile::LoadOp()) {
      Dims own;
      for (unsigned d = 0; d < nest.shape.size(); ++d)
        own.push_back(d);
      if (turnedAlong(load, own, vectors, counting))
        add(load, own, *neighbourDim(load.getPlace(), counting));
    }
  return found;
}

} // namespace tilery::lower
