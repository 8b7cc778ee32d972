// Products of tensors whose inner sizes differ. Lanes beyond a tensor are 0, so that such a product looks like a right one.
#include "compiler/oracle/inner_sizes.h"

using namespace mlir;

namespace tilery::oracle {
namespace {

/// Where a dimension of a tile lies in the tensor that it was read from.
struct Walk {
  uint64_t base;
  int64_t extent, start, dilation;
  Value startValue;
};

std::optional<Walk> walkOf(Interpreter &in, Value value, int64_t dim) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      auto view = load.getPlace().getDefiningOp<tile::ViewOp>();
      if (!view || view.getDims()[dim] < 0)
        return std::nullopt;
      int64_t along = view.getDims()[dim];
      const Root &root = in.as<Root>(view.getRoot());
      Value start = view.getStarts()[along];
      return Walk{root.base, root.extents[along], in.decide(start), in.decide(view.getDilations()[dim]), start};
    }
    if (auto permute = dyn_cast<tile::PermuteOp>(op))
      dim = permute.getOrder()[dim];
    else if (op->getNumOperands() != 1 || !handlers().table.lookup(op->getName().getTypeID()).lanewise)
      return std::nullopt;
    value = op->getOperand(0);
  }
  return std::nullopt;
}

/// The loops whose turns decide about scalars.
llvm::SmallPtrSet<Operation *, 4> loopsOf(Value value) {
  llvm::SmallPtrSet<Operation *, 4> found;
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i) {
    if (Operation *op = values[i].getDefiningOp()) {
      values.insert(op->operand_begin(), op->operand_end());
      continue;
    }
    auto argument = cast<BlockArgument>(values[i]);
    if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()); loop && argument == loop.getInductionVar())
      found.insert(loop);
  }
  return found;
}

bool shareALoop(Value a, Value b) {
  auto first = loopsOf(a), second = loopsOf(b);
  return llvm::any_of(first, [&](Operation *loop) { return second.contains(loop); });
}

} // namespace

void checkInnerSizes(Interpreter &in, tile::DotOp op) {
  int64_t rank = cast<RankedTensorType>(op.getA().getType()).getRank();
  std::optional<Walk> a = walkOf(in, op.getA(), rank - 1), b = walkOf(in, op.getB(), rank - 2);
  if (!a || !b || a->start != b->start || a->dilation != b->dilation || a->extent == b->extent)
    return;
  int64_t size = cast<RankedTensorType>(op.getA().getType()).getShape()[rank - 1];
  auto inside = [&](const Walk &walk) {
    return llvm::count_if(llvm::seq(size), [&](int64_t i) {
      int64_t at = walk.start + i * walk.dilation;
      return at >= 0 && at < walk.extent;
    });
  };
  // A tile of a larger tensor is a factor like any other; tiles that a loop takes from both in step are not meant to end apart.
  if (inside(*a) == inside(*b) && !shareALoop(a->startValue, b->startValue))
    return;
  auto name = [&](const Walk &walk) { return "'" + in.run.memory.argumentAt(walk.base) + "'"; };
  in.fail(op,
          "the factors of this product have different inner sizes: " + std::to_string(a->extent) + " in " + name(*a) + ", " +
              std::to_string(b->extent) + " in " + name(*b),
          "pass tensors that have the same number of elements along the dimensions that are multiplied", Diagnostic::Kind::Value);
}

} // namespace tilery::oracle
