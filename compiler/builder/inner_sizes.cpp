#include "compiler/builder/inner_sizes.h"
#include "compiler/analysis/same_value.h"
#include "compiler/builder/impl.h"

using namespace mlir;

namespace tilery {
namespace {

/// Where a dimension of a tile lies in the tensor that it was read from.
struct Walk {
  mlir::Value extent, start, dilation;
};

std::optional<Walk> walkOf(mlir::Value value, int64_t dim) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      auto view = load.getPlace().getDefiningOp<tile::ViewOp>();
      auto root = view ? view.getRoot().getDefiningOp<tile::RootOp>() : tile::RootOp();
      if (!root || view.getDims()[dim] < 0)
        return std::nullopt;
      int64_t along = view.getDims()[dim];
      return Walk{root.getExtents()[along], view.getStarts()[along], view.getDilations()[dim]};
    }
    if (auto permute = dyn_cast<tile::PermuteOp>(op))
      dim = permute.getOrder()[dim];
    else if (op->getNumOperands() != 1 || !op->hasTrait<OpTrait::Elementwise>())
      return std::nullopt;
    value = op->getOperand(0);
  }
  return std::nullopt;
}

/// Does a loop's turn decide?
bool takesTurns(mlir::Value value) {
  llvm::SetVector<mlir::Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i) {
    if (Operation *op = values[i].getDefiningOp())
      values.insert(op->operand_begin(), op->operand_end());
    else if (auto loop = dyn_cast<scf::ForOp>(cast<BlockArgument>(values[i]).getOwner()->getParentOp());
             loop && values[i] == loop.getInductionVar())
      return true;
  }
  return false;
}

std::optional<size_t> positionOf(mlir::Value extent, tile::KernelOp kernel) {
  auto argument = dyn_cast<BlockArgument>(extent);
  return argument && argument.getOwner()->getParentOp() == kernel ? std::optional<size_t>(argument.getArgNumber()) : std::nullopt;
}

} // namespace

std::vector<InnerSizes> innerSizesOf(const Value &host, const std::string &name) {
  auto module = toMlir(host.handle).getParentRegion()->getParentOfType<ModuleOp>();
  auto kernel = module.lookupSymbol<tile::KernelOp>(name);
  std::vector<InnerSizes> found;
  kernel.walk([&](tile::DotOp op) {
    auto type = cast<RankedTensorType>(op.getA().getType());
    int64_t rank = type.getRank();
    std::optional<Walk> a = walkOf(op.getA(), rank - 1), b = walkOf(op.getB(), rank - 2);
    if (!a || !b || !analysis::isSameValue(a->start, b->start) || !analysis::isSameValue(a->dilation, b->dilation))
      return;
    std::optional<size_t> left = positionOf(a->extent, kernel), right = positionOf(b->extent, kernel);
    bool turns = takesTurns(a->start), whole = matchPattern(a->start, m_Zero()) && matchPattern(a->dilation, m_One());
    if (!left || !right || left == right || !(turns || whole)) // else it hangs on the program, or they are parts
      return;
    InnerSizes sizes{*left, *right, turns ? std::nullopt : std::optional<int64_t>(type.getShape()[rank - 1])};
    if (!llvm::is_contained(found, sizes))
      found.push_back(sizes);
  });
  return found;
}

} // namespace tilery
