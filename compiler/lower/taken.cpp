#include "compiler/lower/taken.h"
#include "compiler/lower/emitter.h"
#include <map>
#include <tuple>

using namespace mlir;

namespace tilery::lower {
namespace {

class Walk {
public:
  explicit Walk(llvm::function_ref<bool(Value)> stored) : stored(stored) {}

  /// `place`: what was done on the way from the nest's element, by number.
  void add(Value value, unsigned place) {
    if (!isa<RankedTensorType>(value.getType()))
      return;
    SmallVector<unsigned, mostTaken> &places = reached[value];
    if (places.size() == mostTaken || llvm::is_contained(places, place))
      return;
    places.push_back(place);
    if (!stored(value))
      addExpression(value, place);
  }

  void addExpression(Value value, unsigned place) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return;
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      addPlace(load.getPlace(), place);
      if (load.getOther())
        add(load.getOther(), place);
      return;
    }
    if (isElementwise(op)) {
      for (Value operand : op->getOperands())
        add(operand, place);
      return;
    }
    for (OpOperand &operand : op->getOpOperands()) {
      bool own = isa<tile::CatOp>(op); // each operand of a join is taken at the same place
      unsigned part = isa<tile::SplitOp>(op) ? cast<OpResult>(value).getResultNumber() : own ? operand.getOperandNumber() : 0;
      add(operand.get(), moved(place, op, part));
    }
  }

  /// What says where lanes lie along one dimension and which of them exist is taken at that dimension's index: the same element of a tile
  /// that says both.
  void addPlace(Value access, unsigned place) {
    auto separable = access.getDefiningOp<tile::AccessOp>();
    if (!separable) {
      for (Value operand : access.getDefiningOp()->getOperands())
        add(operand, place);
      return;
    }
    unsigned rank = unsigned(cast<tile::AccessType>(access.getType()).getRank());
    for (unsigned d = 0; d < rank; ++d) {
      unsigned along = rank == 1 ? place : moved(place, separable, d);
      add(separable.getSteps()[d], along);
      for (Value bound : separable.getBound(d))
        add(bound, along);
    }
    if (separable.getResidual())
      add(separable.getResidual(), place);
  }

  llvm::DenseMap<Value, unsigned> counts() const {
    llvm::DenseMap<Value, unsigned> found;
    for (const auto &[value, places] : reached)
      found[value] = unsigned(places.size());
    return found;
  }

private:
  using Move = std::tuple<unsigned, const void *, const void *, const void *, const void *, unsigned>;

  /// The place that the op's change of position makes of one: the same for every op that does the same.
  unsigned moved(unsigned place, Operation *op, unsigned part) {
    Move move{place,
              op->getName().getAsOpaquePointer(),
              op->getAttrDictionary().getAsOpaquePointer(),
              op->getOperand(0).getType().getAsOpaquePointer(),
              op->getResult(0).getType().getAsOpaquePointer(),
              part};
    return moves.try_emplace(move, unsigned(moves.size()) + 1).first->second;
  }

  llvm::function_ref<bool(Value)> stored;
  std::map<Move, unsigned> moves;
  llvm::MapVector<Value, SmallVector<unsigned, mostTaken>> reached;
};

} // namespace

llvm::DenseMap<Value, unsigned> takenElements(const Nest &nest, llvm::function_ref<bool(Value)> stored) {
  constexpr unsigned own = 0;
  Walk walk(stored);
  for (const Sink &sink : nest.sinks)
    switch (sink.kind) {
    case Sink::Store: {
      auto store = cast<tile::StoreOp>(sink.op);
      walk.addPlace(store.getPlace(), own);
      walk.add(store.getValue(), own);
      break;
    }
    case Sink::BufferStore:
      walk.add(cast<tile::BufferStoreOp>(sink.op).getValue(), own);
      break;
    case Sink::Update: {
      auto update = cast<tile::AtomicRmwOp>(sink.op);
      walk.addPlace(update.getPlace(), own);
      walk.add(update.getValue(), own);
      break;
    }
    case Sink::Define:
      walk.addExpression(sink.value, own);
      break;
    case Sink::Copy:
      walk.add(sink.value, own);
      break;
    case Sink::Reduce:
      for (Value operand : cast<tile::ReduceOp>(sink.op).getOperands())
        walk.add(operand, own);
      break;
    }
  return walk.counts();
}

} // namespace tilery::lower
