// early-loads: what the work on a product's result loads is under way before the result is there.
//
// Results go out piece by piece, and threads meet around each: loads where they are used would wait for memory once a piece.
#include "compiler/block/passes/early_loads.h"
#include "compiler/block/ir/Block.h"
#include "compiler/block/passes/passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilery::block {

SmallVector<Operation *> placeBehind(tile::LoadOp load, Operation *first) {
  llvm::SetVector<Operation *> found;
  found.insert(load);
  for (size_t i = 0; i < found.size(); ++i)
    for (Value operand : found[i]->getOperands())
      if (Operation *op = operand.getDefiningOp(); op && op->getBlock() == first->getBlock() && !op->isBeforeInBlock(first))
        found.insert(op);
  SmallVector<Operation *> ops = found.takeVector();
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ops;
}

/// Registers of a tile among sums of rows x columns, or of a row or column of them; nothing for other shapes.
static std::optional<LoadedTile> registersOf(RankedTensorType tile, int64_t rows, int64_t columns) {
  int64_t bytes = tile::elementBytes(tile.getElementType()), count = tile.getNumElements();
  if (count == rows * columns)
    return LoadedTile{unsigned(count * bytes / 4 / groupThreads), true};
  if (count == std::max(rows, columns)) // a thread holds every fourth of the columns
    return LoadedTile{unsigned(llvm::divideCeil(count * bytes, 16)), false};
  return std::nullopt;
}

static unsigned bytesOf(RankedTensorType tile) {
  return unsigned(tile.getNumElements() * tile::elementBytes(tile.getElementType()));
}

SmallVector<LoadBehind> loadsBehind(Operation *product, int64_t rows, int64_t columns) {
  SmallVector<LoadBehind> result;
  for (Operation *op = product->getNextNode(); op; op = op->getNextNode()) {
    auto load = dyn_cast<tile::LoadOp>(op);
    if (!load && !isMemoryEffectFree(op) && !isa<ReleaseOp>(op))
      break;
    auto tile = load ? dyn_cast<RankedTensorType>(load.getType()) : RankedTensorType();
    if (!tile || load.getIsVolatile())
      continue;
    bool isFree = llvm::all_of(placeBehind(load, product), [&](Operation *each) {
      return each == op || (each != product && isMemoryEffectFree(each) && !each->getNumRegions());
    });
    if (std::optional<LoadedTile> registers = registersOf(tile, rows, columns); registers && isFree)
      result.push_back({load, *registers});
  }
  llvm::sort(result, [](auto &a, auto &b) {
    bool differ = a.registers.words != b.registers.words;
    return differ ? a.registers.words > b.registers.words : a.load->isBeforeInBlock(b.load);
  });
  return result;
}

namespace {
/// Registers of a line of sums; 0: it is none. Rows lie in four lanes and two registers for each 64, columns in every fourth lane: where
/// these are many, the eight lanes that need the same load some each.
unsigned wordsOfLine(tile::LoadOp load, unsigned consumers) {
  auto tile = dyn_cast<RankedTensorType>(load.getType());
  if (!tile || tile.getNumElements() != *std::max_element(tile.getShape().begin(), tile.getShape().end()) || load->use_empty())
    return 0;
  bool isOfRows = llvm::all_of(load->getUsers(), [&](Operation *user) {
    auto expand = dyn_cast<tile::ExpandDimsOp>(user);
    return expand && int64_t(expand.getAxis()) == tile.getRank();
  });
  constexpr int64_t sharing = 8;
  int64_t count = tile.getNumElements(), words = llvm::divideCeil(count * tile::elementBytes(tile.getElementType()), 16);
  return unsigned(isOfRows          ? 2 * llvm::divideCeil(count, 64 * consumers)
                  : words > sharing ? llvm::divideCeil(words, sharing)
                                    : words);
}

void moveBefore(MmaWaitOp wait, const Schedule &schedule) {
  ArrayRef<int64_t> shape = tile::shapeOf(wait.getType());
  unsigned left = schedule.early;
  for (auto read : wait->getBlock()->getOps<ReadOp>()) // what has come through the ring
    left -= std::min(left, bytesOf(cast<RankedTensorType>(read.getType())) / (4 * groupThreads * schedule.consumers));
  for (auto &[load, registers] : loadsBehind(wait, shape[0], shape[1])) {
    if (registers.wordsOf(schedule.consumers) > left)
      continue;
    left -= registers.wordsOf(schedule.consumers);
    for (Operation *op : placeBehind(load, wait))
      op->moveBefore(wait);
    load->setAttr("block.early", UnitAttr::get(load.getContext()));
  }
}

/// A step's lines of few registers (scales, statistics of rows) are loaded before it waits for anything.
void moveInStep(scf::ForOp loop, unsigned consumers) {
  constexpr unsigned few = 4, most = 8; // registers of a line, of all: what loops with full registers have over
  if (loop.getBody()->getOps<MmaStartOp>().empty())
    return;
  Operation *first = &*llvm::find_if(*loop.getBody(), [](Operation &op) { return isa<TakeOp, MmaStartOp>(op); });
  unsigned taken = 0;
  for (Operation &op : llvm::make_early_inc_range(llvm::make_range(std::next(first->getIterator()), loop.getBody()->end()))) {
    auto load = dyn_cast<tile::LoadOp>(op);
    if (!load && !isMemoryEffectFree(&op) && !isa<TakeOp, ReleaseOp, MmaStartOp, MmaWaitOp>(op))
      return;
    if (!load || load.getIsVolatile())
      continue;
    unsigned words = wordsOfLine(load, consumers);
    SmallVector<Operation *> place = placeBehind(load, first);
    bool isFree = llvm::all_of(place, [&](Operation *each) {
      return each == load || (each != first && isMemoryEffectFree(each) && !each->getNumRegions());
    });
    if (!isFree || !words || words > few || taken + words > most)
      continue;
    taken += words;
    for (Operation *each : place)
      each->moveBefore(first);
  }
}
} // namespace

void runEarlyLoads(tile::KernelOp kernel) {
  std::optional<Schedule> schedule = Schedule::of(kernel);
  if (!schedule)
    return;
  kernel.walk([&](scf::ForOp loop) { moveInStep(loop, schedule->consumers); });
  if (!schedule->early)
    return;
  SmallVector<MmaWaitOp> waits;
  kernel.walk([&](MmaWaitOp wait) { waits.push_back(wait); });
  if (waits.size() == 1)
    moveBefore(waits[0], *schedule);
}

} // namespace tilery::block
