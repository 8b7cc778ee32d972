// parallel-to-tiles: scalar code over a box of static extents becomes whole-tile ops.
//
// Loop variables that the body divides (`x[i // 64, i % 64]`) are cut in digits, each a dimension of the tiles.
//
// The body's iterations are unordered and race-free, so that each statement may run for all of them before the next one does. What has
// no tile form keeps the whole tile.parallel as it is: targets run it as scalar loops.
#include "compiler/passes/lockstep.h"
#include "compiler/passes/parallel_shapes.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/shared_updates.h"
#include <set>

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {

/// Digits of each loop variable, the slowest first: what their extents are.
using Digits = SmallVector<SmallVector<int64_t>>;

class Conversion : public Lockstep {
public:
  Conversion(ParallelOp op, const Digits &digits, bool gathers, bool scattersResults)
      : Lockstep(op, boxOf(digits)), body(op.getBody().front()), digits(digits), gathers(gathers),
        scattersResults(scattersResults) {}

  bool run() {
    Block scratch;
    builder.setInsertionPointToEnd(&scratch);
    varying.insert(body.args_begin(), body.args_end());
    findVarying();
    unsigned first = 0;
    for (auto [var, each] : llvm::zip_equal(body.getArguments(), digits)) {
      Affine form = numberOf(first, each.size());
      affine.know(var, form);
      map.map(var, tileOfForm(form, var.getType(), var.getLoc()));
      first += each.size();
    }
    return replace(body, scratch);
  }

private:
  static SmallVector<int64_t> boxOf(const Digits &digits) {
    SmallVector<int64_t> box;
    for (auto &each : digits)
      box.append(each.begin(), each.end());
    return box;
  }
  /// The number whose digits are so many dimensions of the box.
  Affine numberOf(unsigned first, size_t count) const {
    Affine form = affine.position(first);
    int64_t below = 1;
    for (size_t d = first + count; d-- > first; below *= box[d])
      form.coefficients[d] = below;
    return form;
  }
  bool takesQuotients() const override { return true; }
  bool takesLines() const override { return digits.size() != box.size(); }
  bool scatters(bool load) const override { return load ? gathers : scattersResults; }

  Block &body;
  const Digits &digits;
  bool gathers, scattersResults; // loads, and stores and updates, whose places are computed, too
};

/// The loop variable of which the value is a quotient or a rest, and by what it was divided.
std::optional<std::pair<BlockArgument, int64_t>> partOf(Value value, Block &body) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == &body ? std::optional(std::pair(argument, int64_t(1))) : std::nullopt;
  if (auto wide = value.getDefiningOp<arith::ExtSIOp>())
    return partOf(wide.getIn(), body);
  std::optional<Division> division = divisionOf(value);
  auto part = division ? partOf(division->number, body) : std::nullopt;
  if (!part || (division->quotient && llvm::MulOverflow(part->second, division->by, part->second)))
    return std::nullopt;
  return part;
}

/// The digits into which `i // 64` and `i % 64` cut loop variables; none where nothing does, or where cuts are not within each other.
Digits cutDigits(ParallelOp op, const Digits &whole) {
  Block &body = op.getBody().front();
  SmallVector<std::set<int64_t>> cuts(whole.size());
  body.walk([&](Operation *inner) {
    std::optional<Division> division = inner->getNumResults() == 1 ? divisionOf(inner->getResult(0)) : std::nullopt;
    auto part = division ? partOf(division->number, body) : std::nullopt;
    int64_t unit;
    if (part && division->by > 1 && !llvm::MulOverflow(part->second, division->by, unit))
      cuts[part->first.getArgNumber()].insert(unit);
  });
  Digits result;
  bool isCut = false;
  for (auto [each, units] : llvm::zip_equal(whole, cuts)) {
    SmallVector<int64_t> digits;
    int64_t below = 1;
    for (int64_t unit : units) {
      if (unit >= each[0])
        continue;
      if (unit % below || each[0] % unit)
        return {};
      digits.insert(digits.begin(), unit / below);
      below = unit;
    }
    isCut |= !digits.empty();
    digits.insert(digits.begin(), each[0] / below);
    result.push_back(digits);
  }
  return isCut ? result : Digits();
}

/// True if a product follows, whose factor it may be: windows of images, gathered rows.
bool leadsToProduct(ParallelOp op) {
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode())
    if (isa<DotOp>(next))
      return true;
  return false;
}

/// True if a product stands before it, or before a loop that it stands in, whose result it may take: a tile stays where the tensor cores
/// leave it, elements would be looked up.
bool comesBehindProduct(Operation *op) {
  for (; !isa<KernelOp>(op); op = op->getParentOp())
    for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode())
      if (isa<DotOp>(before))
        return true;
  return false;
}

struct ParallelToTiles : PassWrapper<ParallelToTiles, OperationPass<KernelOp>> {
  explicit ParallelToTiles(Gathers gathers = Gathers::none) : gathers(gathers) {}
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ParallelToTiles)
  StringRef getArgument() const final { return "parallel-to-tiles"; }
  StringRef getDescription() const final { return "turn scalar code over static boxes into tile ops"; }

  void runOnOperation() final {
    SmallVector<ParallelOp> ops;
    getOperation().walk([&](ParallelOp op) { ops.push_back(op); });
    for (ParallelOp op : ops) {
      narrowToGuard(op);
      joinNeighbours(op);
      Digits box;
      for (Value extent : op.getExtents())
        if (APInt n; matchPattern(extent, m_ConstantInt(&n)) && n.isStrictlyPositive())
          box.push_back({n.getSExtValue()});
      bool inThread = op->getParentOfType<ThreadsOp>() && !op->getParentOfType<TogetherOp>();
      if (box.size() == op.getExtents().size() && !inThread)
        convert(op, box);
    }
  }

private:
  /// As boxes of memory where it can be, with loop variables as they are or cut in digits; else lane by lane.
  void convert(ParallelOp op, const Digits &whole) const {
    SmallVector<int64_t> extents;
    for (auto &each : whole)
      extents.push_back(each[0]);
    shareUpdates(op, extents);
    bool all = gathers == Gathers::all, some = gathers == Gathers::beside_products;
    bool loads = all || (some && leadsToProduct(op)), stores = all || (some && comesBehindProduct(op));
    if (Conversion(op, whole, false, false).run())
      return;
    Digits cut = cutDigits(op, whole);
    if (!cut.empty() && Conversion(op, cut, false, false).run())
      return;
    if ((loads || stores) && !Conversion(op, whole, loads, stores).run() && !cut.empty())
      Conversion(op, cut, loads, stores).run();
  }

  Gathers gathers;
};

} // namespace

std::unique_ptr<Pass> tilery::createParallelToTiles(Gathers gathers) { return std::make_unique<ParallelToTiles>(gathers); }
