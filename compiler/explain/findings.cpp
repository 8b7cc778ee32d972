#include "compiler/explain/findings.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/ir/Tile.h"
#include "compiler/source_chain.h"
#include "tilery/spelling.h"

using namespace mlir;

namespace tilery::explain {

static thread_local Findings *current = nullptr;

Findings::Findings(bool inWords) : inWords(inWords), outer(current) { current = this; }
Findings::~Findings() { current = outer; }

Aside::Aside(bool is) : of(is ? current : nullptr) {
  if (of)
    ++of->aside;
}
Aside::~Aside() {
  if (of)
    --of->aside;
}

bool isAside() { return current && current->aside; }
bool wanted() { return current && current->inWords; }

static bool isSame(ArrayRef<SourceLocation> x, ArrayRef<SourceLocation> y) {
  return llvm::equal(x, y, [](const SourceLocation &a, const SourceLocation &b) {
    return a.file == b.file && a.line == b.line && a.col == b.col;
  });
}

void say(Operation *op, const std::string &text) {
  if (!wanted() || current->aside)
    return;
  Diagnostic step{Diagnostic::Kind::Error, text, "", op ? sourceChain(op->getLoc()) : std::vector<SourceLocation>()};
  if (llvm::none_of(current->steps,
                    [&](const Diagnostic &other) { return other.message == text && isSame(other.chain, step.chain); }))
    current->steps.push_back(std::move(step));
}

Access::Access(Operation *op) : of(current) {
  if (of)
    outer = std::exchange(of->access, op);
}
Access::~Access() {
  if (of)
    of->access = outer;
}

void beginKernel() {
  if (current)
    current->ways.clear();
}

Loops::Loops(const void *nest) : of(current) {
  if (of)
    of->loops = nest;
}
Loops::~Loops() {
  if (of)
    of->loops = nullptr;
}

void way(const llvm::Twine &text) {
  if (!wanted() || current->aside || !current->loops)
    return;
  std::vector<std::string> &ways = current->ways[current->loops];
  StringRef moves = !current->access ? "" : isa<tile::LoadOp>(current->access) ? "reads " : "writes ";
  if (std::string whole = (moves + text).str(); !llvm::is_contained(ways, whole))
    ways.push_back(std::move(whole));
}

std::string waysOf(const void *nest) { return wanted() ? llvm::join(current->ways.lookup(nest), ", ") : ""; }

void find(Operation *op, llvm::StringRef fault, const llvm::Twine &message, llvm::StringRef hint) {
  if (!current || current->aside)
    return;
  Finding finding{fault.str(), message.str(), hint.str(), sourceChain(op->getLoc())};
  auto same = [&](const Finding &other) { return other.fault == finding.fault && isSame(other.chain, finding.chain); };
  if (llvm::none_of(current->found, same))
    current->found.push_back(std::move(finding));
}

/// Whether `tile` is computed, lane by lane, from what such an op gives. Loops carry what a turn before has made.
static bool hangsOn(Value tile, llvm::function_ref<bool(Operation *)> isSuch) {
  SmallVector<Value> work{tile};
  llvm::DenseSet<Value> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getNumElements() == 1 || !seen.insert(value).second)
      continue;
    if (Operation *op = value.getDefiningOp()) {
      if (isSuch(op))
        return true;
      llvm::append_range(work, op->getOperands());
    } else if (auto loop = dyn_cast<scf::ForOp>(value.getParentBlock()->getParentOp())) {
      OpOperand *init = loop.getTiedLoopInit(cast<BlockArgument>(value));
      work.append({init->get(), loop.getTiedLoopYieldedValue(cast<BlockArgument>(value))->get()});
    }
  }
  return false;
}

static bool isLookedUp(Value tile) {
  return hangsOn(tile, [](Operation *op) { return isa<tile::LoadOp, tile::BufferLoadOp, tile::TakeOp>(op); });
}

/// By powers of two with shifts and masks.
static bool isDivided(Value tile) {
  return hangsOn(tile, [](Operation *op) {
    auto shift = dyn_cast<tile::ShiftOp>(op);
    return isa<tile::DivOp, tile::RemOp, arith::AndIOp>(op) || (shift && shift.getMode() != tile::ShiftMode::left);
  });
}

static std::string boxes() {
  return std::string("number rows and columns by a range each, in tiles of two dimensions: ") + spelling().boxes;
}

/// What is said of elements that are moved one by one, or by a thread each, where no steps of the place say how far neighbours are apart.
static void placesUnknown(Operation *access, tile::AccessOp place, const std::string &moved) {
  bool writes = !isa<tile::LoadOp>(access);
  StringRef fault = writes ? "scatter" : "gather";
  StringRef straight = "compute the places from a range that counts up by one along the last dimension";
  if (!place)
    return find(access, fault, moved + ": each has a pointer of its own", straight);
  if (llvm::any_of(place.getSteps(), isLookedUp))
    return find(access, fault, moved + ": their places are looked up",
                writes ? "sort, so that neighbours are written to neighbours, or write whole rows"
                       : "load whole rows by index instead of single elements, or keep what is looked up in a small table");
  if (llvm::any_of(place.getSteps(), isDivided))
    return find(access, fault, moved + ": their places are computed by division and remainder", boxes());
  find(access, fault, moved + ": their places are computed for each", straight);
}

static std::string movedOneByOne(Operation *access) {
  return isa<tile::LoadOp>(access) ? "elements are read one by one" : "elements are written one by one";
}

static std::string movedByThreads(Operation *access) {
  return isa<tile::LoadOp>(access) ? "threads read an element each" : "threads write an element each";
}

static void neighboursApart(Operation *access, std::optional<int64_t> step, const std::string &moved) {
  std::string distance = step ? std::to_string(*step) + " elements apart" : "a stride of the tensor apart";
  find(access, isa<tile::LoadOp>(access) ? "gather" : "scatter", moved + ": neighbours lie " + distance,
       "let the last dimension of the tile run along the dimension that is contiguous in memory, or pass a contiguous tensor");
}

void lanesApart() {
  if (!current || !current->access)
    return;
  Operation *access = current->access;
  std::string moved = movedOneByOne(access);
  auto place = access->getOperand(0).getDefiningOp<tile::AccessOp>();
  unsigned rank = place ? place.getSteps().size() : 0;
  if (!place || llvm::any_of(llvm::seq(rank), [&](unsigned dim) { return !place.isStrided(dim); }))
    return placesUnknown(access, place, moved);
  ArrayRef<int64_t> shape = cast<tile::AccessType>(place.getType()).getShape();
  SmallVector<std::optional<int64_t>> steps; // of dimensions with neighbours
  for (unsigned d = 0; d < rank; ++d)
    if (shape[d] > 1)
      steps.push_back(analysis::constantOf(place.getSteps()[d]));
  if (steps.empty() || steps.back() == 1) // a mask or an address keeps neighbours apart, not the tile
    return;
  if (llvm::is_contained(steps, 1)) {
    // Windows that overlap lie along any dimension so: what one of them skips another one reads.
    bool overlap = llvm::any_of(llvm::seq(rank), [&](unsigned d) {
      return steps.back() && analysis::constantOf(place.getSteps()[d]) == 1 && std::abs(*steps.back()) < shape[d] &&
             shape[d] < shape.back();
    });
    return overlap ? void() : transposed(access, shape);
  }
  neighboursApart(access, steps.back(), moved);
}

void threadsApart(Operation *access, unsigned dim) {
  if (!current)
    return;
  std::string moved = movedByThreads(access);
  auto place = access->getOperand(0).getDefiningOp<tile::AccessOp>();
  if (!place || !place.isStrided(dim))
    return placesUnknown(access, place, moved);
  std::optional<int64_t> step = analysis::constantOf(place.getSteps()[dim]);
  if (!step || *step < -1 || *step > 1)
    neighboursApart(access, step, moved);
}

/// Whether the kernel has far larger tiles than one of so many elements: what is done for their rows, or once, costs little.
static bool isSmallPart(Operation *op, int64_t own) {
  constexpr int64_t few = 16;
  return op->getParentOfType<tile::KernelOp>()
      .walk([&](Operation *other) {
        for (Value result : other->getResults())
          if (isa<RankedTensorType>(result.getType()) && ShapedType::getNumElements(tile::shapeOf(result.getType())) >= few * own)
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

static bool isSmallPart(Operation *op) {
  return isSmallPart(op, ShapedType::getNumElements(tile::shapeOf(op->getResult(0).getType())));
}

void placesApart(Operation *access, bool onCpu) {
  auto place = access->getOperand(0).getDefiningOp<tile::AccessOp>();
  if (!isSmallPart(access, ShapedType::getNumElements(cast<tile::AccessType>(place.getType()).getShape())))
    placesUnknown(access, place, onCpu ? movedOneByOne(access) : movedByThreads(access));
}

/// Whether a loop around the op has turns enough to count.
static bool isInLoop(Operation *op) {
  constexpr int64_t few = 8; // turns that cost nothing
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop; loop = loop->getParentOfType<scf::ForOp>()) {
    auto first = analysis::constantOf(loop.getLowerBound()), last = analysis::constantOf(loop.getUpperBound()),
         step = analysis::constantOf(loop.getStep());
    if (!first || !last || !step || *last - *first >= few * *step)
      return true;
  }
  return false;
}

/// Whether each turn of a loop reduces the tile, or adds it to one that the loop carries on.
static bool isAddedUp(Operation *access) {
  SmallVector<Operation *> work{access};
  llvm::DenseSet<Operation *> seen;
  while (!work.empty())
    for (Operation *user : work.pop_back_val()->getUsers()) {
      if (isa<tile::ReduceOp>(user) || (isa<scf::YieldOp>(user) && isa<scf::ForOp>(user->getParentOp())))
        return true;
      if (user->getNumRegions() == 0 && user->getNumResults() == 1 && seen.insert(user).second)
        work.push_back(user);
    }
  return false;
}

/// A tile that fills less than half of a vector, turn by turn, or so few vectors that each sum waits for the one before.
static void tiny(Operation *access, int64_t elements, int64_t lanes) {
  constexpr int64_t few = 2, enough = 8; // vectors
  if (elements < 2 || elements > few * lanes || !isInLoop(access) || isSmallPart(access, elements))
    return;
  std::string moved =
      "each turn of the loop moves " + std::to_string(elements) + " elements, where a vector has " + std::to_string(lanes);
  std::string larger = "take larger tiles (" + std::to_string(enough * lanes) + " elements a turn), or more rows of them";
  if (2 * elements <= lanes)
    find(access, "small", moved, larger);
  else if (isa<tile::LoadOp>(access) && isAddedUp(access))
    find(access, "small", moved + ", and adds them up: each sum waits for the one before", larger);
}

void narrow(Operation *access, int64_t extent, int64_t lanes, bool isKept) {
  constexpr int64_t few = 32; // rows that cost little
  auto place = access->getOperand(0).getDefiningOp<tile::AccessOp>();
  if (!current || !place)
    return;
  ArrayRef<int64_t> shape = cast<tile::AccessType>(place.getType()).getShape();
  int64_t elements = ShapedType::getNumElements(shape);
  unsigned rows = shape.size();
  tiny(access, elements, lanes);
  if (elements < lanes)
    return;
  if (extent > 1 && (!rows || shape[--rows] != extent))
    return;
  while (rows && shape[rows - 1] == 1)
    --rows;
  if (!rows-- || elements < few * extent || isSmallPart(access, elements))
    return;
  bool isStrided = place.isStrided(rows);
  auto stepOf = [&](unsigned d) { return place.isStrided(d) ? analysis::constantOf(place.getSteps()[d]) : std::nullopt; };
  std::optional<int64_t> step = stepOf(rows);
  // From half of a vector on its lanes are used well enough, if no other dimension has neighbours to fill all of them.
  auto isAlong = [&](unsigned d) { return stepOf(d) == 1 && shape[d] >= lanes; };
  if (2 * extent > lanes && llvm::none_of(llvm::seq(rows + 1), isAlong))
    return;
  // Windows side by side: vectors along them take every second or third element, which is faster; every fourth is not.
  auto touches = [&](unsigned d) { return isKept && extent > 1 && extent < 4 && stepOf(d) == extent && shape[d] >= lanes; };
  if (step == 0 || (extent > 1 && step == extent && !touches(rows))) // one row, or one piece of memory
    return;
  std::string count = std::to_string(extent) + (extent == 1 ? " element" : " elements");
  bool reads = isa<tile::LoadOp>(access);
  std::string message =
      "rows of " + count + ", the tile's last dimension, are " + (reads ? "read" : "written") + " one after another: ";
  int64_t line = std::max<int64_t>(lanes, 64 / tile::elementBytes(cast<tile::AccessType>(place.getType()).getElementType()));
  std::string wider = "give it " + std::to_string(line) + " elements or more";
  for (unsigned d = 0; d <= rows; ++d) {
    std::optional<int64_t> by = stepOf(d);
    if (isAlong(d) || touches(d))
      return find(access, reads ? "gather" : "scatter", message + "neighbours in memory lie along another dimension",
                  extent == 1
                      ? "squeeze the last dimension, or " + wider
                      : std::string("loop over the last dimension (") + spelling().unrolled +
                            "), a tile along the other one each turn; or put it in front (exchange the indices, or permute): "
                            "vectors then run along the dimension whose neighbours are neighbours in memory");
    if (extent > 1 && by && *by > 1 && *by < extent && shape[d] >= lanes)
      return; // windows that overlap: along the other dimension each element would be fetched by itself
  }
  std::string distance = !isStrided ? "where the next one lies is looked up or computed"
                         : step     ? "the next one lies " + std::to_string(*step) + " elements further"
                                    : "the next one lies further by a stride of the tensor";
  find(access, reads ? "gather" : "scatter", message + distance,
       "widen the last dimension to " + std::to_string(line) +
           " elements (a cache line) or more, and to hundreds where other programs read or write what lies beside it; where "
           "memory "
           "has no more of use there, keep such rows one after another in memory");
}

/// Whether the kernel around the op multiplies tiles.
static bool hasProducts(Operation *op) {
  return op->getParentOfType<tile::KernelOp>()
      .walk([](Operation *other) {
        return isa<tile::DotOp, tile::ContractOp>(other) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void rowsApart(Operation *access, int64_t elements, int64_t bytes, int64_t apart) {
  constexpr int64_t enough = 256; // bytes, from which on the way to the next row costs little
  if (!current || hasProducts(access))
    return;
  bool reads = isa<tile::LoadOp>(access);
  int64_t wide = elements * enough / bytes;
  find(access, "rows",
       "rows of " + std::to_string(elements) + " elements (" + std::to_string(bytes) + " bytes) are " +
           (reads ? "read" : "written") + " " + std::to_string(apart) + " bytes apart: memory is asked for each by itself",
       "widen the last dimension to " + std::to_string(wide) + " elements or more, and to hundreds where other programs " +
           (reads ? "read" : "write") + " what lies beside it");
}

/// Whether nothing but numbers of the launch makes a value: a caller could give it at compile time.
static bool isNumberOfLaunch(Value value) {
  SmallVector<Value> work{value};
  while (!work.empty()) {
    Value next = work.pop_back_val();
    auto argument = dyn_cast<BlockArgument>(next);
    if (argument ? !isa<tile::KernelOp>(argument.getOwner()->getParentOp())
                 : isa<tile::LoadOp, tile::ElementLoadOp>(next.getDefiningOp()))
      return false;
    if (argument)
      continue;
    Operation *op = next.getDefiningOp();
    if (op->getNumRegions() || (!op->getNumOperands() && !isa<arith::ConstantOp>(op)))
      return false;
    llvm::append_range(work, op->getOperands());
  }
  return true;
}

void division(Operation *op) {
  if (!current || isSmallPart(op))
    return;
  if (isNumberOfLaunch(op->getOperand(1)))
    return find(op, "division", "integers are divided element by element, by a number that is known at the launch only",
                (isLookedUp(op->getOperand(0)) ? "divide once a row or a program instead" : boxes()) +
                    ", or make the divisor a constant of compile time (a power of two is best)");
  find(op, "division", "integers are divided element by element, each by one of its own",
       "divide fewer elements: once a row or a program; where divisors are powers of two keep their exponents and shift; as "
       "float32 "
       "integers below 2^24 are exact, and vectors divide those");
}

/// Whether an argument of the kernel around the op holds such elements.
static bool isKept(Operation *op, Type type) {
  auto kernel = op->getParentOfType<tile::KernelOp>();
  return kernel && llvm::any_of(kernel.getBody().getArgumentTypes(), [&](Type argument) {
           auto pointer = dyn_cast<tile::PtrType>(argument);
           return pointer && pointer.getPointee() == type;
         });
}

void conversion(Operation *op, Type from, Type to) {
  if (!current)
    return;
  bool widens = isa<arith::ExtFOp>(op) && to.isF64() && !isKept(op, to);
  bool wideInteger = isa<arith::SIToFPOp, arith::UIToFPOp>(op) && from.isInteger(64) && !isKept(op, from);
  if (widens || wideInteger)
    find(op, "conversion",
         widens ? "elements are converted to double precision, which halves what a vector holds"
                : "64-bit integers are converted to floating point element by element",
         widens ? "keep constants and sums in the type of the data: a tile, an argument or a sum of float64 makes all that it "
                  "meets float64"
                : "convert from 32-bit integers, or convert the base once and add a range of floats");
  bool small = isa<arith::ExtFOp, arith::TruncFOp>(op) && std::min(from.getIntOrFloatBitWidth(), to.getIntOrFloatBitWidth()) == 8;
  if (small)
    find(op, "conversion", "floats of 8 bits are converted by a sequence of integer instructions",
         "convert whole tensors once, where they are read more than once, or keep them in 16 bits");
}

void transposed(Operation *op, ArrayRef<int64_t> shape) {
  constexpr int64_t thin = 16, enough = 256; // either way round
  if (!current)
    return;
  SmallVector<int64_t> extents = llvm::filter_to_vector(shape, [](int64_t extent) { return extent > 1; });
  bool isThin = !extents.empty() && *llvm::min_element(extents) == thin && *llvm::max_element(extents) >= enough;
  std::string tile = llvm::join(llvm::map_range(extents, [](int64_t extent) { return std::to_string(extent); }), " x ");
  find(
      op, "transpose", "a tile of " + tile + " is read along one dimension and written along another",
      std::string("exchange the loops or the layout, so that both sides run along the contiguous dimension; where a transpose is "
                  "what is computed, ") +
          (isThin ? "so long and thin a tile is as good as any"
                  : "take long thin tiles (on a CPU 16 along either dimension and 256 along the other)"));
}

void reduction(tile::ReduceOp op) {
  constexpr int64_t few = 8; // of a dimension, from which on a product of tiles is faster
  auto product = op->getOperand(0).getDefiningOp<arith::MulFOp>();
  if (!current || !product || op->getNumOperands() != 1 || !isa<arith::AddFOp>(op->getRegion(0).front().front()))
    return;
  auto left = product.getLhs().getDefiningOp<tile::BroadcastOp>(), right = product.getRhs().getDefiningOp<tile::BroadcastOp>();
  if (!left || !right)
    return;
  ArrayRef<int64_t> shape = tile::shapeOf(product.getType()), own = tile::shapeOf(left->getOperand(0).getType()),
                    other = tile::shapeOf(right->getOperand(0).getType());
  uint64_t axis = op.getAxis();
  bool rows = false, columns = false;
  for (auto [d, extent] : llvm::enumerate(shape)) {
    rows |= d != axis && extent >= few && own[d] == extent && other[d] == 1;
    columns |= d != axis && extent >= few && own[d] == 1 && other[d] == extent;
  }
  if (rows && columns && own[axis] == shape[axis] && other[axis] == shape[axis] && shape[axis] >= few)
    find(op, "product", "a product of matrices is computed element by element and added up",
         std::string("write it as one product of two tiles: ") + spelling().product);
}

void atomics(Operation *op) {
  find(op, "atomics", "each element is updated by an indivisible step",
       std::string("add up within a program first (a sum along rows, ") + spelling().histogram +
           ") and update once, or give each result one program and store where few elements meet in it");
}

void oneByOne(Operation *op, llvm::StringRef why) {
  find(op, "scalar", "elements are computed one after another, without vectors: " + why.str(),
       "write it as an operation on whole tiles");
}

void serialLoop(Operation *loop) {
  constexpr int64_t few = 8; // turns that cost nothing
  auto bounds = cast<scf::ForOp>(loop);
  auto first = analysis::constantOf(bounds.getLowerBound()), last = analysis::constantOf(bounds.getUpperBound());
  if (!current || (first && last && *last - *first < few) || loop->getParentOfType<tile::ParallelOp>())
    return;
  bool moves = false;
  WalkResult others = loop->walk([&](Operation *op) {
    bool tiles = llvm::any_of(op->getOperandTypes(), [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.getNumElements() > 1;
    });
    moves |= isa<tile::LoadOp, tile::StoreOp>(op);
    bool reported = isa<tile::ElementStoreOp>(op); // where code is made for it
    return tiles || reported || (op != loop && isa<LoopLikeOpInterface>(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (moves && !others.wasInterrupted())
    oneByOne(loop, "a serial loop moves single elements");
}

/// Whether a load within `around`, whose points are scalars, says where the access is.
static bool isLookedUpWithin(Operation *around, Operation *access) {
  SmallVector<Value> work{access->getOperand(0)};
  llvm::DenseSet<Value> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !around->isProperAncestor(op) || !seen.insert(value).second)
      continue;
    if (isa<tile::LoadOp, tile::ElementLoadOp>(op))
      return true;
    llvm::append_range(work, op->getOperands());
  }
  return false;
}

void pointsOneByOne(Operation *parallel) {
  if (!current)
    return;
  bool found = false;
  parallel->walk([&](Operation *op) {
    if (!isa<tile::LoadOp, tile::StoreOp>(op) || !isLookedUpWithin(parallel, op))
      return;
    found = true;
    find(op, isa<tile::LoadOp>(op) ? "gather" : "scatter",
         "the points of a parallel loop run one after another: where this access is, another one says",
         "copy whole rows by index, so that what is looked up moves more than an element");
  });
  if (!found)
    oneByOne(parallel, "the points of the loop have no form as tiles");
}

} // namespace tilery::explain
