// Ops of TileAccess.td.
#include "compiler/oracle/access.h"

using namespace mlir;

namespace tilery::oracle {

static std::string laneText(const Places &places, int64_t lane) {
  if (places.shape.empty())
    return {};
  std::string text;
  for (int d = int(places.shape.size()) - 1; d >= 0; lane /= places.shape[d--])
    text = std::to_string(lane % places.shape[d]) + (text.empty() ? "" : ", ") + text;
  return ", lane (" + text + ")";
}

static void report(Interpreter &in, Operation *op, const Places &places, int64_t lane, const Memory::Problem &problem) {
  if (!problem.text.empty())
    in.fail(op, "program " + in.programText() + laneText(places, lane) + " " + problem.text, problem.hint,
            Diagnostic::Kind::Index);
}

void loadLane(Interpreter &in, Operation *op, const Places &places, Tile &to, int64_t lane, AccessKind kind) {
  Memory::Problem problem;
  uint64_t address = places.address[lane];
  in.run.memory.load(to, lane, address, op, kind, in.program, problem);
  report(in, op, places, lane, problem);
  in.besideIterations(
      op, 0, [&](Iterations &loop) { return loop.read(address, kind); },
      [&] { return "reads " + in.run.memory.nameOf(address, op); });
}

void storeLane(Interpreter &in, Operation *op, const Places &places, const Tile &value, int64_t lane, AccessKind kind) {
  Memory::Problem problem;
  in.requireDefined(value, lane);
  uint64_t address = places.address[lane];
  bool changes = in.run.memory.store(address, value, lane, op, kind, in.program, problem);
  report(in, op, places, lane, problem);
  in.besideIterations(
      op, 0, [&](Iterations &loop) { return loop.write(address, kind, changes); },
      [&] { return "writes " + in.run.memory.nameOf(address, op); });
}

Tile loadAll(Interpreter &in, Operation *op, const Places &places, AccessKind kind) {
  Tile result(places.element, places.shape);
  for (int64_t i = 0; i < result.size(); ++i) {
    if (!places.exists[i])
      continue;
    if (kind == AccessKind::Atomic)
      in.run.memory.acquire(places.address[i], in.program);
    loadLane(in, op, places, result, i, kind);
  }
  return result;
}

void takeTurns(Interpreter &in) {
  if (in.run.interleaved)
    in.run.scheduler.yield();
}

template <typename Op> static Places emptyPlaces(Op op) {
  Places places{elementOf(op.getType()), Shape(op.getType().getShape()), {}, {}};
  int64_t size = sizeOf(places.shape);
  places.address.resize(size);
  places.exists.resize(size, 1);
  return places;
}

// What scalars and tiles of one dimension give an access, as numbers; reports unwritten ones.
static std::vector<int64_t> numbers(Interpreter &in, Value value) {
  const Tile &tile = in.tile(value);
  in.requireDecided(tile);
  return std::vector<int64_t>(tile.lanes.begin(), tile.lanes.end());
}

static void pointerAccess(Interpreter &in, tile::PointerAccessOp op) {
  Places places = emptyPlaces(op);
  const Tile &pointers = in.tile(op.getPtrs());
  in.requireDecided(pointers);
  places.address.assign(pointers.lanes.begin(), pointers.lanes.end());
  if (op.getMask()) {
    const Tile &mask = in.tile(op.getMask());
    in.requireDecided(mask);
    places.exists.assign(mask.lanes.begin(), mask.lanes.end());
  }
  in.set(op.getResult(), std::move(places));
}

static void separableAccess(Interpreter &in, tile::AccessOp op) {
  Places places = emptyPlaces(op);
  unsigned rank = places.shape.size(), bytes = places.element.bytes();
  std::vector<std::vector<int64_t>> terms(rank);
  std::vector<std::vector<uint8_t>> bounds(rank);
  for (unsigned d = 0; d < rank; ++d) {
    std::vector<int64_t> steps = numbers(in, op.getSteps()[d]);
    for (int64_t i = 0; i < places.shape[d]; ++i)
      terms[d].push_back(op.isStrided(d) ? i * steps[0] : steps[i]);
    bounds[d].assign(places.shape[d], 1);
    OperandRange bound = op.getBound(d);
    if (op.getBoundKinds()[d] == 1) {
      int64_t lo = in.decide(bound[0]), hi = in.decide(bound[1]);
      for (int64_t i = 0; i < places.shape[d]; ++i)
        bounds[d][i] = lo <= i && i < hi;
    } else if (op.getBoundKinds()[d] == 2) {
      std::vector<int64_t> lanes = numbers(in, bound[0]);
      bounds[d].assign(lanes.begin(), lanes.end());
    }
  }
  uint64_t base = uint64_t(in.decide(op.getBase())) + uint64_t(in.decide(op.getOffset())) * bytes;
  std::vector<int64_t> residual;
  if (op.getResidual())
    residual = numbers(in, op.getResidual());
  for (int64_t i = 0, n = sizeOf(places.shape); i < n; ++i) {
    uint64_t address = base;
    bool exists = residual.empty() || residual[residual.size() == 1 ? 0 : i];
    int64_t rest = i;
    for (int d = int(rank) - 1; d >= 0; --d) {
      int64_t index = rest % places.shape[d];
      rest /= places.shape[d];
      address += uint64_t(terms[d][index]) * bytes;
      exists &= bounds[d][index];
    }
    places.address[i] = address;
    places.exists[i] = exists;
  }
  in.set(op.getResult(), std::move(places));
}

static void view(Interpreter &in, tile::ViewOp op) {
  Places places = emptyPlaces(op);
  const Root &root = in.as<Root>(op.getRoot());
  unsigned rank = places.shape.size(), rootRank = root.extents.size();
  SmallVector<int64_t> starts, dilations, limits;
  for (Value start : op.getStarts())
    starts.push_back(in.decide(start));
  for (Value dilation : op.getDilations())
    dilations.push_back(in.decide(dilation));
  for (Value limit : op.getLimits())
    limits.push_back(in.decide(limit));
  std::vector<int64_t> residual;
  if (op.getResidual())
    residual = numbers(in, op.getResidual());
  Shape at(rank, 0);
  for (int64_t i = 0, n = sizeOf(places.shape); i < n; ++i) {
    SmallVector<int64_t> element(starts);
    bool exists = residual.empty() || residual[residual.size() == 1 ? 0 : i];
    for (unsigned d = 0; d < rank; ++d) {
      if (op.getDims()[d] >= 0)
        element[op.getDims()[d]] += dilations[d] * at[d];
      exists &= limits.empty() || at[d] < limits[d];
    }
    uint64_t address = root.base;
    for (unsigned k = 0; k < rootRank; ++k) {
      exists &= element[k] >= 0 && element[k] < root.extents[k];
      address += uint64_t(element[k] * root.strides[k]) * places.element.bytes();
    }
    places.address[i] = address;
    places.exists[i] = exists;
    for (int d = int(rank) - 1; d >= 0 && ++at[d] == places.shape[d]; --d)
      at[d] = 0;
  }
  in.set(op.getResult(), std::move(places));
}

static void load(Interpreter &in, tile::LoadOp op) {
  if (op.getIsVolatile())
    takeTurns(in);
  const auto &places = in.as<Places>(op.getPlace());
  // Who reads memory that changes beside it waits for what others write.
  Tile result = loadAll(in, op, places, op.getIsVolatile() ? AccessKind::Atomic : AccessKind::Plain);
  if (op.getOther()) {
    const Tile &other = in.tile(op.getOther());
    for (int64_t i = 0; i < result.size(); ++i)
      if (!places.exists[i])
        copyLane(result, i, other, laneOf(other, i));
  }
  in.set(op.getResult(), std::move(result));
}

static void store(Interpreter &in, tile::StoreOp op) {
  if (op.getIsVolatile())
    takeTurns(in);
  const auto &places = in.as<Places>(op.getPlace());
  const Tile &value = in.tile(op.getValue());
  for (int64_t i = 0, n = value.size(); i < n; ++i) {
    if (!places.exists[i])
      continue;
    storeLane(in, op, places, value, i, op.getIsVolatile() ? AccessKind::Atomic : AccessKind::Plain);
    if (op.getIsVolatile())
      in.run.memory.release(places.address[i], in.program);
  }
}

void addAccessHandlers(Handlers &table) {
  table.addLanewise<tile::AddPtrOp>([](Interpreter &in, tile::AddPtrOp op) {
    const Tile &pointer = in.tile(op.getPtr()), &offset = in.tile(op.getOffset());
    auto type = cast<tile::PtrType>(getElementTypeOrSelf(op.getPtr().getType()));
    uint64_t bytes = elementOf(type.getPointee()).bytes();
    Tile result = lanewiseResult(pointer.element, {&pointer, &offset});
    for (int64_t i = 0; i < result.size(); ++i)
      result.lanes[i] =
          pointer.lanes[laneOf(pointer, i)] + uint64_t(asSigned(offset.element, offset.lanes[laneOf(offset, i)])) * bytes;
    forgetRounded(result, {&pointer, &offset});
    in.set(op.getResult(), std::move(result));
  });
  auto same = [](Interpreter &in, Operation *op) {
    Tile result = in.tile(op->getOperand(0));
    result.element = elementOf(op->getResult(0).getType());
    in.set(op->getResult(0), std::move(result));
  };
  table.addLanewise<tile::PtrCastOp>(same);
  table.addLanewise<tile::PtrToIntOp>(same);
  table.addLanewise<tile::IntToPtrOp>(same);
  table.add<tile::PointerAccessOp>(pointerAccess);
  table.add<tile::AccessOp>(separableAccess);
  table.add<tile::ViewOp>(view);
  table.add<tile::RootOp>([](Interpreter &in, tile::RootOp op) {
    Root root{uint64_t(in.decide(op.getBase())), {}, {}};
    for (Value extent : op.getExtents())
      root.extents.push_back(in.decide(extent));
    for (Value stride : op.getStrides())
      root.strides.push_back(in.decide(stride));
    in.set(op.getResult(), std::move(root));
  });
  table.add<tile::LoadOp>(load);
  table.add<tile::StoreOp>(store);
}

} // namespace tilery::oracle
