// Lines that a step of a loop scales a product's sums by (of their rows, or of their columns): they are loaded where the step begins, for
// they are there when the product is. Lanes that need the same columns load some each, and show them to each other behind the product:
// until then a thread holds an eighth of them. Where they lie is computed in front of the loop, as far as steps have it in common:
// rows that wrap and columns that share scales are divisions.
#include "compiler/targets/cuda/block/block_scales.h"
#include "compiler/analysis/search.h"
#include "compiler/targets/cuda/block/block_emitter.h"
#include "compiler/targets/cuda/ptx/emit_layout.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
constexpr unsigned few = 4, most = 8; // registers of a line, of all: what loops with full registers have over

bool isNamed(Operation *op) { return isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::PermuteOp, tile::ReshapeOp>(op); }

/// The wait for a product behind which all that take the line begin; null: there is none, or the loop carries the line.
Operation *waitOf(tile::LoadOp load) {
  Block *block = load->getBlock();
  Operation *first = nullptr;
  for (analysis::Search<Operation *> takers(load); Operation *taker = takers.next();)
    for (Operation *user : taker->getUsers()) {
      Operation *holder = block->findAncestorOpInBlock(*user);
      if (!holder || holder == block->getTerminator())
        return nullptr;
      if (holder == user && isNamed(user))
        takers.add(user);
      else if (!first || holder->isBeforeInBlock(first))
        first = holder;
    }
  for (Operation *op = first ? first->getPrevNode() : nullptr; op && op != load; op = op->getPrevNode())
    if (isa<block::MmaWaitOp>(op))
      return op;
  return nullptr;
}

/// Any thread can compute where any of its elements lie.
bool isAnywhere(tile::LoadOp load) {
  analysis::Search<Value> values(load.getPlace());
  if (load.getOther())
    values.add(load.getOther());
  while (Value value = values.next()) {
    if (!isa<RankedTensorType, tile::AccessType>(value.getType()))
      continue;
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumRegions() || op->getDialect()->getNamespace() == "block")
      return false;
    values.addAll(op->getOperands());
  }
  return true;
}

/// What the line's place has from outside of the loop, with the dimension that it goes along (-1: all).
void findFixed(Scales &line, scf::ForOp loop) {
  llvm::SetVector<std::pair<Value, int>> reached;
  Operation *place = line.load.getPlace().getDefiningOp();
  if (auto access = dyn_cast<tile::AccessOp>(place)) {
    for (auto [d, step] : llvm::enumerate(access.getSteps()))
      reached.insert({step, int(d)});
  } else if (auto pointers = dyn_cast<tile::PointerAccessOp>(place)) {
    reached.insert({pointers.getPtrs(), -1});
  }
  for (size_t i = 0; i < reached.size(); ++i) {
    auto [value, dim] = reached[i];
    Operation *op = value.getDefiningOp();
    if (!isa<RankedTensorType>(value.getType()) || isa<tile::SplatOp, tile::RangeOp>(op) || op->hasTrait<OpTrait::ConstantLike>())
      continue;
    if (!loop->isAncestor(op))
      line.fixed.push_back({value, dim, {}});
    else if (lower::isElementwise(op))
      for (Value operand : op->getOperands())
        reached.insert({operand, dim});
  }
}

lower::Point along(const lower::Point &point, int dim) { return dim < 0 ? point : lower::Point{point[dim]}; }
} // namespace

std::optional<Scales> scalesOf(tile::LoadOp load, scf::ForOp loop) {
  auto tile = dyn_cast<RankedTensorType>(load.getType());
  block::LayoutAttr attribute = tile ? block::layoutOf(tile) : block::LayoutAttr();
  Operation *wait = attribute && !load.getIsVolatile() ? waitOf(load) : nullptr;
  unsigned bits = tile ? tile.getElementType().isIntOrFloat() ? tile.getElementTypeBitWidth() : 64 : 0;
  if (!wait || load->hasAttr("block.early") || (bits != 8 && bits != 16 && bits != 32) || !isAnywhere(load) ||
      tile.getNumElements() != *std::max_element(tile.getShape().begin(), tile.getShape().end()))
    return std::nullopt;
  layout::Layout layout = attribute.getLayout().canonical();
  Scales line{.load = load,
              .wait = wait,
              .registers = unsigned(layout.extent(layout::Register)),
              .fixed = {},
              .points = {},
              .loaded = {}};
  unsigned place = 1;
  for (const layout::Layout::Digit &digit : layout.digits(layout::Lane)) {
    if (digit.isZero() && line.registers > few && llvm::isPowerOf2_64(digit.extent) && llvm::isPowerOf2_32(place))
      while (line.copies < digit.extent && line.registers % (2 * line.copies) == 0)
        line.copies *= 2, line.place = place;
    if (line.copies > 1)
      break;
    place *= digit.extent;
  }
  if (line.own() > few)
    return std::nullopt;
  findFixed(line, loop);
  return line;
}

void BlockEmitter::findScales(scf::ForOp loop) {
  unsigned taken = 0;
  std::optional<Where> known = where;
  for (auto load : loop.getBody()->getOps<tile::LoadOp>()) {
    std::optional<Scales> line = scalesOf(load, loop);
    if (!line || taken + line->own() > most)
      continue;
    taken += line->own();
    const layout::Layout &layout = block::layoutOf(load.getType()).getLayout();
    const Where &at = here();
    llvm::Value *copy = b.CreateAnd(b.CreateUDiv(at.lane, i32(line->place)), i32(line->copies - 1));
    for (unsigned number = 0; number < line->registers; number += line->copies) {
      llvm::Value *mine = b.CreateAdd(copy, i32(number));
      lower::Point &point = line->points.emplace_back();
      for (llvm::Value *coordinate :
           emitLayout(b, layout,
                      {{layout::Register, mine}, {layout::Lane, at.lane}, {layout::Warp, at.warp}, {layout::Block, at.block}})) {
        lower::Index &index = point.emplace_back();
        index.base = b.CreateZExt(coordinate, b.getInt64Ty());
      }
    }
    for (Scales::Fixed &fixed : line->fixed)
      prepareTile(fixed.tile);
    llvm::DenseMap<Value, int> shared; // known of the elements that threads hold, not of these
    std::swap(shared, noPlan.storage);
    {
      lower::Evaluator::Region region(evaluator);
      lower::Evaluator::Vector lanes(evaluator, 1);
      for (Scales::Fixed &fixed : line->fixed)
        for (const lower::Point &point : line->points)
          fixed.values.push_back(evaluator.value(fixed.tile, along(point, fixed.dim)));
    }
    std::swap(shared, noPlan.storage);
    scales[load] = std::move(*line);
  }
  where = known; // the step's own is not to live as long
}

bool BlockEmitter::startScales(tile::LoadOp load) {
  auto found = scales.find(load);
  if (found == scales.end())
    return false;
  Scales &line = found->second;
  prepareTile(load);
  llvm::DenseMap<Value, int> shared;
  std::swap(shared, noPlan.storage);
  for (const Scales::Fixed &fixed : line.fixed)
    noPlan.storage[fixed.tile] = 0; // it is provided: not to be taken apart
  {
    lower::Evaluator::Region region(evaluator);
    lower::Evaluator::Vector lanes(evaluator, 1);
    for (auto [i, point] : llvm::enumerate(line.points)) {
      for (const Scales::Fixed &fixed : line.fixed)
        evaluator.provide(fixed.tile, along(point, fixed.dim), fixed.values[i]);
      line.loaded.push_back(evaluator.value(load, point));
    }
  }
  std::swap(shared, noPlan.storage);
  return true;
}

void BlockEmitter::finishScales(Operation *wait) {
  for (auto &[load, line] : scales) {
    if (line.wait != wait || line.loaded.empty())
      continue;
    Parts parts(std::move(line.loaded));
    line.loaded.clear();
    if (line.copies > 1) {
      Parts own = std::exchange(parts, {});
      llvm::Value *first = b.CreateAnd(here().lane, i32(~int64_t((line.copies - 1) * line.place) & 31));
      llvm::Type *type = own[0]->getType(), *bits = b.getIntNTy(type->getPrimitiveSizeInBits());
      for (unsigned number = 0; number < line.registers; ++number) {
        llvm::Value *word = b.CreateZExt(b.CreateBitCast(own[number / line.copies], bits), b.getInt32Ty());
        word = machine.shuffleFrom(e, word, b.CreateOr(first, i32(number % line.copies * line.place)), i32(-1));
        parts.push_back(b.CreateBitCast(b.CreateTrunc(word, bits), type));
      }
    }
    remember(line.load, std::move(parts));
  }
}

} // namespace tilery::cuda
