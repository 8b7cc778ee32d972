#include "compiler/block/find_fetch.h"
#include "compiler/analysis/divisor.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/block/find_product.h"
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

/// How many of a hundred lanes are neighbours in memory of the lane before them.
int64_t neighboursOf(Value terms) {
  SmallVector<int64_t> numbers = Sample().of(terms);
  int64_t count = 0;
  for (size_t i = 1; i < numbers.size(); ++i)
    count += numbers[i] == numbers[i - 1] + 1;
  return numbers.size() > 1 ? 100 * count / int64_t(numbers.size() - 1) : 0;
}

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

/// Elements that a load has side by side in memory, in one piece that is aligned and exists or not as a whole. 0: lanes lie apart.
int64_t piecesOf(const Load &load, unsigned along) {
  int dim = load.dims[along];
  auto access = load.op.getPlace().getDefiningOp<tile::AccessOp>();
  if (!access || dim < 0)
    return 0;
  if (!access.isStrided(dim) || !matchPattern(access.getSteps()[dim], m_One()))
    return 0;
  int64_t bytes = tile::elementBytes(access.getType().getElementType());
  int64_t whole = std::min(analysis::divisorOf(access.getBase()) / bytes, analysis::divisorOf(access.getOffset()));
  for (int d = 0; d < access.getType().getRank(); ++d)
    if (d != dim)
      whole = std::min(whole, access.isStrided(d) ? analysis::divisorOf(access.getSteps()[d]) : 1);
  for (Value bound : access.getBound(dim))
    whole = std::min(whole, isTile(bound) ? 1 : analysis::divisorOf(bound));
  if (access.getResidual() && isTile(access.getResidual()))
    whole = 1;
  return std::clamp<int64_t>(whole, 1, widest / bytes);
}
} // namespace

bool canBeFetched(Value tile, std::string &why) {
  llvm::SetVector<Value> values;
  values.insert(tile);
  for (size_t i = 0; i < values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    auto no = [&](const llvm::Twine &what) {
      why = what.str();
      return false;
    };
    if (!op) {
      if (isTile(values[i]) || !isa<tile::KernelOp, tile::ContractOp>(cast<BlockArgument>(values[i]).getOwner()->getParentOp()))
        return no("it depends on what a loop carries");
      continue;
    }
    auto load = dyn_cast<tile::LoadOp>(op);
    if (load && load.getIsVolatile())
      return no("a load of it is volatile");
    bool isPlain =
        OpTrait::hasElementwiseMappableTraits(op) || op->hasTrait<OpTrait::ConstantLike>() || namesElements(op) ||
        isa<tile::SplatOp, tile::RangeOp, tile::AccessOp, tile::PointerAccessOp, tile::ProgramIdOp, tile::NumProgramsOp>(op);
    if (!load && (!isPlain || op->getNumRegions() || !isMemoryEffectFree(op)))
      return no("it is computed by " + op->getName().getStringRef() + ", not element by element");
    values.insert(op->operand_begin(), op->operand_end());
  }
  return true;
}

unsigned lineOf(Value tile) {
  int64_t most = 0;
  unsigned line = 1;
  for (const Load &load : loadsOf(tile))
    for (unsigned d : {1u, 0u}) {
      if (load.dims[0] < 0 || load.dims[1] < 0) // what is the same along a dimension is loaded seldom
        continue;
      auto access = load.op.getPlace().getDefiningOp<tile::AccessOp>();
      int64_t neighbours = 100 * piecesOf(load, d);
      if (access && !access.isStrided(load.dims[d]))
        neighbours = neighboursOf(access.getSteps()[load.dims[d]]);
      if (neighbours > most)
        most = neighbours, line = d;
    }
  return line;
}

unsigned widthOf(Value tile, unsigned line) {
  auto type = cast<RankedTensorType>(tile.getType());
  int64_t bytes = tile::elementBytes(type.getElementType()), width = widest / bytes;
  for (const Load &load : loadsOf(tile))
    if (load.dims[line] >= 0)
      width = std::min(width, std::max(piecesOf(load, line), std::max<int64_t>(4 / bytes, 1)));
  return unsigned(width);
}

FetchAccesses accessesOf(const FetchedFactor &factor) {
  unsigned line = factor.turned ? 1 - factor.line : factor.line;
  double warps = double(cast<RankedTensorType>(factor.tile.getType()).getNumElements()) / 32;
  FetchAccesses result;
  result.stores = warps / widthOf(factor.tile, line);
  for (const Load &load : loadsOf(factor.tile)) {
    double all = 1; // those of what is the same along a dimension are as many as it has elements
    for (auto [d, size] : llvm::enumerate(tile::shapeOf(factor.tile.getType())))
      all *= load.dims[d] < 0 ? 1. / double(size) : 1;
    result.loads += warps * all / double(std::max<int64_t>(load.dims[line] < 0 ? 1 : piecesOf(load, line), 1));
  }
  llvm::SetVector<Value> values;
  values.insert(factor.tile);
  for (size_t i = 0; i < values.size(); ++i)
    if (Operation *op = values[i].getDefiningOp()) {
      if (OpTrait::hasElementwiseMappableTraits(op) && isTile(values[i]))
        result.lanes += double(cast<RankedTensorType>(values[i].getType()).getNumElements());
      values.insert(op->operand_begin(), op->operand_end());
    }
  return result;
}

} // namespace tilery::block
