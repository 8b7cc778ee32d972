#include "compiler/count/nodes.h"
#include "compiler/count/data_ops.h"
#include "compiler/lower/product.h"

using namespace mlir;

namespace tilery::count {

constexpr unsigned firstLoop = 3, lastLoop = 63; // bits of Dependence
constexpr Dependence anything = ~Dependence(0);

static double lanesOf(Value value) {
  double lanes = 1;
  for (int64_t size : tile::shapeOf(value.getType()))
    lanes *= double(size);
  return lanes;
}

/// The pointer argument that a place lies in; -1: unknown.
static int argumentOf(Value place) {
  Operation *op = place.getDefiningOp();
  auto separable = dyn_cast_or_null<tile::AccessOp>(op);
  auto pointers = dyn_cast_or_null<tile::PointerAccessOp>(op);
  Value pointer = separable ? separable.getBase() : pointers ? pointers.getPtrs() : Value();
  while (pointer) {
    if (auto argument = dyn_cast<BlockArgument>(pointer)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr) {
        pointer = init->get();
        continue;
      }
      return isa<tile::KernelOp>(argument.getOwner()->getParentOp()) ? int(argument.getArgNumber()) : -1;
    }
    Operation *from = pointer.getDefiningOp();
    if (!isa<tile::AddPtrOp, tile::PtrCastOp, tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp,
             tile::PermuteOp>(from))
      return -1;
    pointer = from->getOperand(0);
  }
  return -1;
}

NodeReader::NodeReader(tile::KernelOp kernel, std::array<uint32_t, 3> grid) : grid(grid), data(dataOps(kernel)) {
  for (int &slot : pid) {
    slot = int(scalars.values.size());
    scalars.values.emplace_back();
    scalars.hangsOn.push_back(0);
  }
}

/// The slot of a number that decides how much there is.
int NodeReader::needed(Value value) {
  int slot = scalars.slot(value);
  decides |= scalars.hangsOn[slot];
  return slot;
}

std::vector<Node> NodeReader::read(Block &block) {
  std::vector<Node> nodes;
  for (Operation &op : block.without_terminator())
    if (std::optional<Node> node = nodeOf(&op))
      nodes.push_back(std::move(*node));
  return nodes;
}

std::optional<Node> NodeReader::nodeOf(Operation *op) {
  Node node(Node::Once, op);
  if (auto program = dyn_cast<tile::ProgramIdOp>(op)) {
    unsigned axis = unsigned(program.getAxis());
    scalars.hangsOn[scalars.slot(program)] = Dependence(1) << axis;
    node.kind = Node::Scalar;
    node.step.arithmetic.compute = [](int64_t x, int64_t) { return x; };
    node.step.in[0] = pid[axis];
    node.step.out = scalars.slot(program);
    return node;
  }
  if (auto count = dyn_cast<tile::NumProgramsOp>(op)) {
    scalars.values[scalars.slot(count)] = {int64_t(grid[unsigned(count.getAxis())]), true};
    return std::nullopt;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return forNode(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    node.kind = Node::If;
    node.slots = {needed(branch.getCondition())};
    node.body = read(branch.getThenRegion().front());
    if (!branch.getElseRegion().empty())
      node.other = read(branch.getElseRegion().front());
    return node;
  }
  if (auto contract = dyn_cast<tile::ContractOp>(op))
    return contractNode(contract);
  if (auto parallel = dyn_cast<tile::ParallelOp>(op)) {
    node.kind = Node::Parallel;
    for (Value extent : parallel.getExtents())
      node.slots.push_back(needed(extent));
    node.body = read(parallel.getBody().front());
    return node;
  }
  if (isa<tile::DotOp>(op))
    return product(op);
  if (isa<tile::LoadOp, tile::StoreOp, tile::AtomicRmwOp, tile::AtomicCasOp>(op))
    return access(op);
  if (isa<tile::ReduceOp, tile::ScanOp>(op))
    return combination(op);
  if (std::optional<ScalarStep> step = scalars.step(op)) {
    node.kind = Node::Scalar;
    node.step = *step;
    return node;
  }
  if (unsigned each = data.contains(op) ? operationsOf(op) : 0) {
    node.kind = Node::Tally;
    node.amount = each * lanesOf(op->getResult(0));
    return node;
  }
  for (Region &region : op->getRegions()) // while, threads, roles: what they do is counted once
    for (Block &block : region)
      llvm::move(read(block), std::back_inserter(node.body));
  return node.body.empty() ? std::nullopt : std::optional(std::move(node));
}

Node NodeReader::forNode(scf::ForOp loop) {
  Node node(Node::For, loop);
  startLoop(node);
  Dependence own = Dependence(1) << node.loop;
  node.slots = {needed(loop.getLowerBound()), needed(loop.getUpperBound()), needed(loop.getStep()),
                scalars.slot(loop.getInductionVar())};
  scalars.hangsOn[node.slots[3]] = own | scalars.hangsOn[node.slots[0]] | scalars.hangsOn[node.slots[2]];
  for (auto [carried, result] : llvm::zip(loop.getRegionIterArgs(), loop.getResults())) // what the turns before have made of it
    scalars.hangsOn[scalars.slot(carried)] = scalars.hangsOn[scalars.slot(result)] = anything;
  node.body = read(*loop.getBody());
  for (auto [init, carried, yielded, result] :
       llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getYieldedValues(), loop.getResults())) {
    if (isa<RankedTensorType>(result.getType()))
      continue;
    for (Value value : {init, Value(carried), yielded, Value(result)})
      node.slots.push_back(scalars.slot(value));
  }
  return node;
}

Node NodeReader::contractNode(tile::ContractOp contract) {
  Node node(Node::Contract, contract);
  startLoop(node);
  Value step = contract.getBody().front().getArgument(0);
  node.slots = {needed(contract.getSteps()), scalars.slot(step)};
  scalars.hangsOn[node.slots[1]] = scalars.hangsOn[node.slots[0]] | Dependence(1) << node.loop;
  node.body = read(contract.getBody().front());
  node.body.push_back(product(contract));
  return node;
}

void NodeReader::startLoop(Node &node) { node.loop = std::min(lastLoop, firstLoop + loops++); }

/// The dimensions of an access, outermost first.
std::vector<Extent> NodeReader::extentsOf(Value place) {
  std::vector<Extent> extents;
  auto type = cast<tile::AccessType>(place.getType());
  for (int64_t size : type.getShape())
    extents.push_back(Extent{.size = size});
  auto separable = place.getDefiningOp<tile::AccessOp>();
  if (!separable)
    return extents;
  for (auto [d, extent] : llvm::enumerate(extents)) {
    OperandRange bound = separable.getBound(d);
    if (bound.size() == 2)
      extent.lo = needed(bound[0]), extent.hi = needed(bound[1]);
    if (separable.isStrided(d))
      extent.stride = needed(separable.getSteps()[d]);
  }
  return extents;
}

/// The number that all elements of a mask are; none: they may differ.
static Value scalarOf(Value mask) {
  while (Operation *op = mask.getDefiningOp()) {
    if (!isa<tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp, tile::PermuteOp>(op))
      break;
    mask = op->getOperand(0);
  }
  return isa<RankedTensorType>(mask.getType()) ? Value() : mask;
}

/// Whether a mask is computed from what is in memory.
static bool isLoaded(Value mask) {
  SmallVector<Value> work{mask};
  llvm::DenseSet<Value> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    if (!op) {
      auto argument = cast<BlockArgument>(value);
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr)
        work.append({init->get(), loop.getTiedLoopYieldedValue(argument)->get()});
      continue;
    }
    if (isa<tile::LoadOp, tile::ElementLoadOp, tile::BufferLoadOp, tile::AtomicRmwOp, tile::AtomicCasOp>(op) ||
        (op->getNumRegions() && !isa<scf::ForOp>(op)))
      return true;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      work.push_back(loop.getTiedLoopYieldedValue(loop.getTiedLoopRegionIterArg(cast<OpResult>(value)))->get());
    llvm::append_range(work, op->getOperands());
  }
  return false;
}

Node NodeReader::access(Operation *op) {
  Node node(Node::Access, op);
  Value place = op->getOperand(0);
  node.loads = !isa<tile::StoreOp>(op);
  node.stores = !isa<tile::LoadOp>(op);
  node.extents = extentsOf(place);
  node.amount = tile::elementBytes(cast<tile::AccessType>(place.getType()).getElementType());
  node.argument = argumentOf(place);
  SmallVector<Value> masks;
  if (auto separable = place.getDefiningOp<tile::AccessOp>()) {
    if (separable.getResidual())
      masks.push_back(separable.getResidual());
    for (unsigned d = 0; d < node.extents.size(); ++d)
      if (separable.getBound(d).size() == 1)
        masks.push_back(separable.getBound(d)[0]);
  } else if (auto pointers = place.getDefiningOp<tile::PointerAccessOp>(); pointers && pointers.getMask()) {
    masks.push_back(pointers.getMask());
  }
  for (Value mask : masks) {
    Value all = scalarOf(mask);
    if (!all) {
      unsure.push_back({op, isLoaded(mask)
                                ? maskOfData
                                : "a condition leaves out other elements than those behind the end of a tile: all are counted"});
      continue;
    }
    Node branch(Node::If, op);
    branch.slots = {needed(all)};
    branch.body.push_back(std::move(node));
    node = std::move(branch);
  }
  return node;
}

Node NodeReader::combination(Operation *op) {
  Node node(Node::Tally, op);
  double each = 0, results = 0, taken = lanesOf(op->getOperand(0));
  for (Operation &inner : op->getRegion(0).front())
    each += operationsOf(&inner);
  ArrayRef<int64_t> shape = tile::shapeOf(op->getOperand(0).getType());
  uint64_t axis = isa<tile::ReduceOp>(op) ? cast<tile::ReduceOp>(op).getAxis() : cast<tile::ScanOp>(op).getAxis();
  results = taken / double(std::max<int64_t>(shape[axis], 1));
  node.amount = data.contains(op) ? each * (taken - results) : 0;
  return node;
}

/// Rows, columns and K, each with the bounds of what is loaded for it.
Node NodeReader::product(Operation *op) {
  Node node(Node::Product, op);
  auto [a, b] = lower::factorsOf(op);
  ArrayRef<int64_t> left = tile::shapeOf(a.getType());
  size_t rank = left.size();
  node.amount = 2;
  for (size_t d = 0; d + 2 < rank; ++d)
    node.amount *= double(left[d]);
  auto bounded = [&](Value factor, unsigned dim) -> Extent {
    int64_t size = tile::shapeOf(factor.getType())[dim];
    tile::LoadOp load = lower::sourceLoad(factor, [](Value) { return false; });
    if (!load || tile::shapeOf(load.getType()) != tile::shapeOf(factor.getType()))
      return Extent{.size = size};
    Extent extent = extentsOf(load.getPlace())[dim];
    extent.stride = -1;
    return extent;
  };
  node.extents = {bounded(a, rank - 2), bounded(b, rank - 1), bounded(a, rank - 1)};
  if (Extent ofB = bounded(b, rank - 2); node.extents[2].hi < 0)
    node.extents[2] = ofB;
  if (SmallVector<Value> live = lower::liveExtents(op); !live.empty())
    for (unsigned d = 0; d < 2; ++d) {
      node.extents[d].isCut = true;
      if (node.extents[d].hi < 0)
        node.extents[d].hi = needed(live[d]);
    }
  node.extents[2].isCut = true; // where factors end, their loop does
  return node;
}

} // namespace tilery::count
