// What programs promise of their numbers, kept where the analysis of accesses finds it.
#include "compiler/analysis/divisor.h"
#include "compiler/builder/impl.h"

namespace tilery {
using analysis::IndexPolynomial;
using Kind = analysis::IntegerOp::Kind;

/// The first lane of a tile, or a scalar; nothing where a lane is not computed from scalars.
static std::optional<IndexPolynomial> firstLane(mlir::Value value) {
  analysis::IntegerOp op = analysis::integerOpOf(value, analysis::Wrapping::any);
  switch (op.kind) {
  case Kind::constant:
  case Kind::range:
    return IndexPolynomial(op.number);
  case Kind::extend:
  case Kind::splat:
  case Kind::reindex:
    return firstLane(op.lhs);
  case Kind::add:
  case Kind::subtract:
  case Kind::multiply: {
    if (llvm::isa<tile::PtrType>(mlir::getElementTypeOrSelf(value.getType())))
      return std::nullopt; // offsets count elements, promises of pointers bytes
    auto x = firstLane(op.lhs), y = firstLane(op.rhs);
    if (!x || !y)
      return std::nullopt;
    return op.kind == Kind::add ? *x + *y : op.kind == Kind::subtract ? *x - *y : *x * *y;
  }
  default:
    return llvm::isa<mlir::RankedTensorType>(value.getType()) ? std::nullopt : std::optional(IndexPolynomial::of(value));
  }
}

/// Where a promise of all rows of addresses is kept for the accesses that follow: with what gives the tile of pointers, or the place.
static std::pair<mlir::Operation *, std::string> rowsPromise(mlir::Value addresses) {
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(addresses))
    return {argument.getOwner()->getParentOp(), "tile.aligned_argument" + std::to_string(argument.getArgNumber())};
  auto result = llvm::cast<mlir::OpResult>(addresses);
  return {result.getOwner(), "tile.aligned" + std::to_string(result.getResultNumber())};
}

mlir::Attribute promiseOfRows(mlir::Value addresses) {
  auto [op, name] = rowsPromise(addresses);
  return op->getDiscardableAttr(name);
}

void Builder::promiseMultiple(const Value &value, int64_t divisor) {
  divisor = std::min<int64_t>(divisor & -divisor, 256);
  mlir::Value rows = impl->raw(value);
  bool isTile = llvm::isa<mlir::RankedTensorType>(rows.getType());
  if (rows.getDefiningOp<tile::ViewOp>() || (isTile && llvm::isa<tile::PtrType>(mlir::getElementTypeOrSelf(rows.getType())))) {
    auto [op, name] = rowsPromise(rows);
    if (rows.getParentBlock() == impl->b.getInsertionBlock()) // what holds in a branch holds nowhere else
      op->setDiscardableAttr(name, impl->b.getI64IntegerAttr(divisor));
    return;
  }
  auto sum = divisor > 1 ? firstLane(impl->raw(value)) : std::nullopt;
  if (!sum)
    return;
  // Where every other term divides, the one that is left does.
  mlir::Value unknown;
  for (auto &[monomial, coefficient] : sum->terms()) {
    if (analysis::divisorOf(IndexPolynomial::term(monomial, coefficient)) >= divisor)
      continue;
    if (unknown || monomial.size() != 1 || coefficient % 2 == 0)
      return;
    unknown = monomial.front();
  }
  // What holds in a branch holds nowhere else.
  if (!unknown || unknown.getParentBlock() != impl->b.getInsertionBlock())
    return;
  mlir::Attribute number = impl->b.getI64IntegerAttr(divisor);
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(unknown)) {
    if (auto kernel = llvm::dyn_cast<tile::KernelOp>(argument.getOwner()->getParentOp()))
      kernel.setArgAttr(argument.getArgNumber(), "tile.divisibility", number);
  } else if (mlir::Operation *op = unknown.getDefiningOp(); op->getNumResults() == 1 && !llvm::isa<mlir::scf::ForOp>(op)) {
    op->setDiscardableAttr("tile.divisibility", number);
  }
}

} // namespace tilery
