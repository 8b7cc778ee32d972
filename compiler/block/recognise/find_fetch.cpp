#include "compiler/block/recognise/find_fetch.h"
#include "compiler/analysis/search.h"
#include "compiler/analysis/divisor.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/analysis/lane_groups.h"
#include "compiler/block/ir/gpu.h"
#include "compiler/block/recognise/find_product.h"
#include "compiler/ir/zero.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>

using namespace mlir;

namespace tilery::block {
namespace {
constexpr int64_t widest = 16; // bytes of an access

bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

/// The numbers of a tile with one dimension of more than one lane, as if programs and steps were the first ones. Empty: they are not known.
class Sample {
public:
  SmallVector<int64_t> of(Value tile) {
    int64_t size = ShapedType::getNumElements(tile::shapeOf(tile.getType()));
    SmallVector<int64_t> result;
    for (int64_t i = 0; i < size && known; ++i)
      result.push_back(at(tile, i));
    return known ? result : SmallVector<int64_t>();
  }

private:
  static constexpr int64_t anything = 4096; // an argument

  int64_t at(Value value, int64_t lane) {
    if (Operation *op = value.getDefiningOp(); op && isa<tile::DivOp, tile::RemOp>(op)) {
      int64_t x = at(op->getOperand(0), lane), y = at(op->getOperand(1), lane);
      return y == 0 || y == -1 ? 0 : isa<tile::DivOp>(op) ? x / y : x % y;
    }
    using Kind = analysis::IntegerOp::Kind;
    analysis::IntegerOp op = analysis::integerOpOf(value, analysis::Wrapping::any);
    auto number = [](int64_t x) { return uint64_t(x); };
    switch (op.kind) {
    case Kind::constant:
      return op.number;
    case Kind::range:
      return op.number + lane;
    case Kind::splat:
      return at(op.lhs, 0);
    case Kind::extend:
      return at(op.lhs, lane);
    case Kind::reindex: // of tiles with one dimension, or to such
      return at(op.lhs, ShapedType::getNumElements(tile::shapeOf(op.lhs.getType())) == 1 ? 0 : lane);
    case Kind::add:
      return int64_t(number(at(op.lhs, lane)) + number(at(op.rhs, lane)));
    case Kind::subtract:
      return int64_t(number(at(op.lhs, lane)) - number(at(op.rhs, lane)));
    case Kind::multiply:
      return int64_t(number(at(op.lhs, lane)) * number(at(op.rhs, lane)));
    case Kind::opaque:
      break;
    }
    known &= !isTile(value) || isa_and_nonnull<arith::TruncIOp>(value.getDefiningOp());
    if (auto truncate = value.getDefiningOp<arith::TruncIOp>())
      return at(truncate.getIn(), lane);
    auto argument = dyn_cast<BlockArgument>(value);
    bool isArgument = argument && isa<tile::KernelOp>(argument.getOwner()->getParentOp());
    return isArgument ? anything : 0;
  }

  bool known = true;
};

/// Ops that give the elements of their operands, each at a place that follows from its own.
bool namesElements(Operation *op) {
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op))
    return !sameButOnes(tile::shapeOf(reshape.getValue().getType()), tile::shapeOf(reshape.getType())).empty();
  return isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::PermuteOp>(op);
}

/// A load of a tile below the fetched one, and which of its dimensions each of that one's is (-1: it is the same for all of them).
struct Load {
  mutable tile::LoadOp op;
  SmallVector<int, 4> dims;
};

/// Dimensions of the operand for those of the result.
SmallVector<int, 4> operandDims(Operation *op, Value operand, ArrayRef<int> dims) {
  SmallVector<int, 4> result(dims);
  ArrayRef<int64_t> from = tile::shapeOf(operand.getType());
  for (int &dim : result) {
    if (dim < 0)
      continue;
    if (auto permute = dyn_cast<tile::PermuteOp>(op))
      dim = int(permute.getOrder()[dim]);
    else if (auto expand = dyn_cast<tile::ExpandDimsOp>(op))
      dim = dim == int(expand.getAxis()) ? -1 : dim - (dim > int(expand.getAxis()));
    else if (isa<tile::BroadcastOp>(op))
      dim = from[dim] == 1 ? -1 : dim;
    else if (isa<tile::ReshapeOp>(op)) {
      auto numbers = sameButOnes(tile::shapeOf(op->getResult(0).getType()), from); // of the operand, from the result's
      dim = numbers.empty() ? -1 : numbers[dim];
    }
  }
  return result;
}

void collectLoads(Value tile, SmallVector<int, 4> dims, llvm::DenseSet<Value> &seen, SmallVectorImpl<Load> &loads) {
  Operation *op = tile.getDefiningOp();
  if (!op || !isTile(tile) || !seen.insert(tile).second)
    return;
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    loads.push_back({load, dims});
    return;
  }
  for (Value operand : op->getOperands())
    if (isTile(operand))
      collectLoads(operand, operandDims(op, operand, dims), seen, loads);
}

SmallVector<Load, 4> loadsOf(Value tile) {
  SmallVector<int, 4> dims(cast<RankedTensorType>(tile.getType()).getRank());
  std::iota(dims.begin(), dims.end(), 0);
  llvm::DenseSet<Value> seen;
  SmallVector<Load, 4> loads;
  collectLoads(tile, dims, seen, loads);
  return loads;
}

/// Whether groups of `width` lanes along a dimension of the load lie side by side, aligned, and exist or not as one. `ends`: whether lanes
/// of a group may end at a bound, too.
bool areWhole(tile::AccessOp access, unsigned dim, int64_t width, bool mayEnd) {
  int64_t bytes = tile::elementBytes(access.getType().getElementType());
  int64_t base = analysis::divisorOf(access.getBase()) / std::max<int64_t>(bytes, 1);
  auto isWhole = [&](int64_t divisor) { return divisor > 0 && divisor % width == 0; };
  if (!isWhole(base) || !isWhole(analysis::divisorOf(access.getOffset())))
    return false;
  for (int d = 0; d < access.getType().getRank(); ++d) {
    Value step = access.getSteps()[d];
    if (d != int(dim)) {
      if (!isWhole(isTile(step) ? analysis::laneGroups(step, 0, 1).divisor : analysis::divisorOf(step)))
        return false;
    } else if (isTile(step)) {
      analysis::LaneGroups groups = analysis::laneGroups(step, 0, width);
      if (!groups.follow || !isWhole(groups.divisor))
        return false;
    } else if (!matchPattern(step, m_One())) {
      return false;
    }
  }
  OperandRange bound = access.getBound(dim);
  if (bound.size() == 1 && !analysis::laneGroups(bound[0], 0, width).equal)
    return false;
  if (bound.size() == 2 && !(isWhole(analysis::divisorOf(bound[0])) && (mayEnd || isWhole(analysis::divisorOf(bound[1])))))
    return false;
  return !access.getResidual() || analysis::laneGroups(access.getResidual(), dim, width).equal;
}

/// Elements that a load has side by side in memory, in one piece that is aligned and exists or not as a whole. 0: lanes lie apart.
int64_t piecesOf(const Load &load, unsigned along) {
  int dim = load.dims[along];
  auto access = load.op.getPlace().getDefiningOp<tile::AccessOp>();
  if (!access || dim < 0)
    return 0;
  bool follows = !isTile(access.getSteps()[dim]) && matchPattern(access.getSteps()[dim], m_One());
  int64_t most = follows ? widest / tile::elementBytes(access.getType().getElementType()) : 1; // of computed places: one by one
  for (; most > 1; most /= 2)
    if (areWhole(access, dim, most, false))
      return most;
  return follows;
}

constexpr int64_t loadWarps = warpsOfGroup;

/// Where a load's elements lie along each of the fetched tile's dimensions, in elements. Empty: nobody knows.
struct Terms {
  SmallVector<int64_t> at[2];
  bool isComputed[2] = {false, false}; // by numbers that each step computes one by one
};

/// True if the value is another one in each step.
bool moves(Value value) {
  for (analysis::Search<Value> values(value); Value each = values.next();)
    if (Operation *op = each.getDefiningOp())
      values.addAll(op->getOperands());
    else if (isa<tile::ContractOp, scf::ForOp>(cast<BlockArgument>(each).getOwner()->getParentOp()))
      return true;
  return false;
}

Terms termsOf(const Load &load, ArrayRef<int64_t> shape) {
  Terms terms;
  auto access = load.op.getPlace().getDefiningOp<tile::AccessOp>();
  for (unsigned d : {0u, 1u}) {
    if (load.dims[d] < 0) {
      terms.at[d].assign(shape[d], 0);
    } else if (access && access.isStrided(load.dims[d])) {
      int64_t step = analysis::constantOf(access.getSteps()[load.dims[d]]).value_or(4096);
      for (int64_t i = 0; i < shape[d]; ++i)
        terms.at[d].push_back(i * step);
    } else {
      terms.isComputed[d] = !access || moves(access.getSteps()[load.dims[d]]);
      if (access)
        terms.at[d] = Sample().of(access.getSteps()[load.dims[d]]);
    }
  }
  return terms;
}

/// Different places of groups of `width` neighbours, on an average.
double placesIn(ArrayRef<int64_t> at, int64_t width) {
  if (at.empty())
    return double(width);
  int64_t places = 0;
  for (size_t i = 0; i < at.size(); ++i)
    places += int64_t(i) % width == 0 || at[i] != at[i - 1];
  return double(places) * double(width) / double(at.size());
}

/// Lines of 128 bytes that lanes `apart` from each other touch together.
double linesOf(ArrayRef<int64_t> at, int64_t lanes, int64_t apart, int64_t bytes) {
  if (at.empty())
    return double(lanes);
  double lines = 1;
  for (int64_t lane = 1; lane < lanes && lane * apart < int64_t(at.size()); ++lane) {
    int64_t distance = std::abs(at[lane * apart] - at[(lane - 1) * apart]) * bytes;
    lines += std::min(1., double(distance) / 128);
  }
  return lines;
}

/// How often as long as its bytes need a write takes: eight lanes write 16 bytes each at once, to pieces of lines of 128 bytes that are told
/// apart by the line's number and the piece's.
double passesOf(const FetchShape &fetch, int64_t bytes) {
  constexpr unsigned together = 8;
  unsigned pieces = std::clamp<unsigned>(unsigned(fetch.lanes * fetch.width * bytes / widest), 1, together);
  unsigned lines = together / pieces, numbers = std::max(1u, together / fetch.across); // that differ among so many lines
  return double(lines) / std::min(lines, numbers);
}

// Each warp's access takes a cycle for each line of memory, or 128 bytes of shared memory; the rest are instructions, of which an SM does
// four a cycle.
double cyclesOf(const FetchShape &fetch, bool copied, ArrayRef<int64_t> shape, int64_t bytes, ArrayRef<Load> loads,
                ArrayRef<Terms> terms) {
  constexpr double instructions = 4, placeCost = 30, handCost = 4,
                   elementCost = 5; // instructions: of a number that tells places, to get it from another lane, of an element
  unsigned line = fetch.line, other = 1 - line;
  double elements = double(shape[0] * shape[1]), vectors = elements / warpLanes / fetch.width;
  int64_t lanesOther = std::min<int64_t>(warpLanes / fetch.lanes, shape[other] / fetch.across);
  double cycles = vectors * std::max(2., double(fetch.width * bytes) / 4) * passesOf(fetch, bytes); // written
  // Where lanes lie behind each other, all need the same numbers along the line: they share the work, and warps share the line.
  int64_t warpsLine = fetch.lanes == 1 ? std::gcd(loadWarps, shape[line] / fetch.width) : 1, alike = shape[line] / warpsLine;
  double ownOther = std::max(1., double(shape[other]) / double(lanesOther * (loadWarps / warpsLine)));
  double ownLine = fetch.lanes > 1 ? double(shape[line]) / double(fetch.lanes)
                                   : double(llvm::divideCeil(alike, warpLanes)) + handCost / placeCost * double(alike);
  for (auto [load, where] : llvm::zip_equal(loads, terms)) {
    int64_t own = tile::elementBytes(cast<RankedTensorType>(load.op.getType()).getElementType());
    int64_t pieces = copied ? fetch.width : piecesOf(load, line);
    double places = placesIn(where.at[line], fetch.width),
           accesses = places / double(std::clamp<int64_t>(pieces, 1, fetch.width));
    accesses /= fetch.across;
    double lines =
        linesOf(where.at[line], fetch.lanes, fetch.width, own) * linesOf(where.at[other], lanesOther, fetch.across, own);
    double alone = load.dims[0] < 0 || load.dims[1] < 0 ? 1. / 8 : 1; // what is the same for many is loaded once, more or less
    cycles += vectors * accesses * lines * alone;
    double computed = (where.isComputed[line] ? ownLine * places / fetch.width : 0) + (where.isComputed[other] ? ownOther : 0);
    cycles += loadWarps / instructions * placeCost * computed;
  }
  constexpr double turnCost = 2; // of an element that is turned
  return cycles + (copied ? vectors : elements / warpLanes) * (fetch.across > 1 ? turnCost : elementCost) / instructions;
}

/// Registers of 32 bits of a thread of one warpgroup for what the loads bring: each access has some of its own.
unsigned wordsOf(const FetchShape &fetch, ArrayRef<Load> loads) {
  unsigned words = 0;
  for (const Load &load : loads) {
    auto type = cast<RankedTensorType>(load.op.getType());
    int64_t together = fetch.across > 1 ? fetch.across : std::clamp<int64_t>(piecesOf(load, fetch.line), 1, fetch.width);
    words += type.getNumElements() * llvm::divideCeil(together * tile::elementBytes(type.getElementType()), 4) /
             (together * loadWarps * warpLanes);
  }
  return words;
}

/// Neighbours along the other dimension that one access brings, where the tile is nothing but loaded.
int64_t acrossOf(Value tile, ArrayRef<Load> loads, unsigned other, int64_t bytes) {
  while (isa_and_nonnull<tile::PermuteOp>(tile.getDefiningOp()))
    tile = tile.getDefiningOp()->getOperand(0);
  if (loads.size() != 1 || !tile.getDefiningOp<tile::LoadOp>() || loads[0].dims[other] < 0)
    return 1;
  auto access = loads[0].op.getPlace().getDefiningOp<tile::AccessOp>();
  for (int64_t most = bytes == 1 ? widest : bytes == 4 ? 4 : 1; access && most > 1; most /= 2) // 16 bits need no turning
    if (areWhole(access, loads[0].dims[other], most, false))
      return most;
  return 1;
}
} // namespace

int64_t differentElements(tile::LoadOp load) {
  ArrayRef<int64_t> shape = tile::shapeOf(load.getType());
  auto access = load.getPlace().getDefiningOp<tile::AccessOp>();
  int64_t count = 1;
  for (unsigned d = 0; d < shape.size(); ++d) {
    SmallVector<int64_t> places;
    if (access && isTile(access.getSteps()[d]))
      places = Sample().of(access.getSteps()[d]);
    llvm::sort(places);
    places.erase(llvm::unique(places), places.end());
    count *= places.empty() ? shape[d] : int64_t(places.size());
  }
  return count;
}

bool canBeFetched(Value tile, std::string &why, bool regroups) {
  for (analysis::Search<Value> values(tile); Value value = values.next();) {
    Operation *op = value.getDefiningOp();
    auto no = [&](const llvm::Twine &what) {
      why = what.str();
      return false;
    };
    if (!op) {
      if (isTile(value)) // numbers every role counts for itself
        return no("it depends on what a loop carries");
      continue;
    }
    auto load = dyn_cast<tile::LoadOp>(op);
    if (load && load.getIsVolatile())
      return no("a load of it is volatile");
    bool isPlain =
        OpTrait::hasElementwiseMappableTraits(op) || op->hasTrait<OpTrait::ConstantLike>() || namesElements(op) ||
        (regroups && isa<tile::ReshapeOp, tile::JoinOp, tile::SplitOp>(op)) ||
        isa<tile::SplatOp, tile::RangeOp, tile::AccessOp, tile::PointerAccessOp, tile::ProgramIdOp, tile::NumProgramsOp>(op);
    if (!load && (!isPlain || op->getNumRegions() || !isMemoryEffectFree(op)))
      return no("it is computed by " + op->getName().getStringRef() + ", not element by element");
    values.addAll(op->getOperands());
  }
  return true;
}

double workOf(Value tile) {
  constexpr double lanesOfSm = 128, function = 6, division = 8; // instructions
  int64_t elements = cast<RankedTensorType>(tile.getType()).getNumElements();
  double work = 0;
  for (analysis::Search<Value> values(tile); Value value = values.next();) {
    Operation *op = value.getDefiningOp();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!op)
      continue;
    if (type && type.getNumElements() == elements && OpTrait::hasElementwiseMappableTraits(op) &&
        !op->hasTrait<OpTrait::ConstantLike>())
      work += isa<arith::DivFOp, tile::DivOp, tile::RemOp>(op)                    ? division
              : isa<math::MathDialect>(op->getDialect()) && !isa<math::FmaOp>(op) ? function
                                                                                  : 1;
    if (!isa<tile::LoadOp>(op)) // places are another matter
      values.addAll(op->getOperands());
  }
  return work * double(elements) / lanesOfSm;
}

std::optional<unsigned> copiedLine(Value tile) {
  auto load = tile.getDefiningOp<tile::LoadOp>();
  auto access = load ? load.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  if (!access || !type || type.getRank() != 2 || load.getIsVolatile() || (load.getOther() && !tile::isPlusZero(load.getOther())))
    return std::nullopt;
  int64_t width = widest / tile::elementBytes(type.getElementType());
  for (unsigned line : {1u, 0u})
    if (type.getDimSize(line) % width == 0 && areWhole(access, line, width, true))
      return line;
  return std::nullopt;
}

FetchShape shapeOf(Value tile, std::optional<unsigned> line) {
  ArrayRef<int64_t> shape = tile::shapeOf(tile.getType());
  int64_t bytes = tile::elementBytes(cast<RankedTensorType>(tile.getType()).getElementType());
  SmallVector<Load, 4> loads = loadsOf(tile);
  FetchShape best;
  std::optional<unsigned> copied = copiedLine(tile);
  for (unsigned along : {1u, 0u}) {
    if (line.value_or(along) != along || (!line && copied.value_or(along) != along))
      continue;
    SmallVector<Terms, 4> terms;
    for (const Load &load : loads)
      terms.push_back(termsOf(load, shape));
    int64_t most = copied == along ? 1 : acrossOf(tile, loads, 1 - along, bytes);
    for (int64_t width = std::max<int64_t>(widest / bytes, 1); width >= 1; width /= 2)
      for (int64_t lanes = warpLanes; lanes >= 1; lanes /= 2) {
        bool isCopied = copied == along;
        if (shape[along] % (width * lanes) || (isCopied && width * bytes != widest))
          continue;
        for (int64_t across = most; across >= 1; across = across > 4 ? 4 : across / 4) {
          if (across > 1 && (width % 4 || shape[1 - along] % across))
            continue;
          // Blocks of 16 x 16 where they are work for a whole warpgroup; of smaller tiles two may fetch parts.
          if (across > 4 && (width * bytes < widest || shape[0] * shape[1] < loadWarps * warpLanes * width * across))
            continue;
          FetchShape each{along, unsigned(width), unsigned(lanes), unsigned(across)};
          each.cycles = cyclesOf(each, isCopied, shape, bytes, loads, terms);
          if (!best.cycles || each.cycles < best.cycles)
            best = each;
        }
      }
  }
  best.line = best.cycles ? best.line : line.value_or(1);
  best.words = wordsOf(best, loads);
  return best;
}

} // namespace tilery::block
