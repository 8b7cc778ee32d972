#include "compiler/targets/cuda/simt/carry_sums.h"
#include "compiler/lower/product.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
constexpr int64_t mostCarried = 16384; // lanes of a loop's sums: 32 in each of 512 threads

/// One that a loop carries as `argument`: sum(lanes) in the form of the carried value, by ops that leave elements as they are, is added.
struct CarriedSum {
  BlockArgument argument;
  Operation *add;
  tile::ReduceOp sum;
  SmallVector<Operation *, 2> forms; // of the sum, from it to what is added

  Value lanes() const { return sum->getOperand(0); }
};

bool addsElements(Operation *op) { return isa_and_nonnull<arith::AddFOp, arith::AddIOp>(op); }

/// Of numbers that lose nothing by another order but roundings: f16 and bf16 are rounded by each addition of a program.
bool isSum(tile::ReduceOp reduce) {
  auto type = cast<RankedTensorType>(reduce->getOperand(0).getType());
  Operation *yield = reduce.getCombine().front().getTerminator(), *add = yield->getOperand(0).getDefiningOp();
  return reduce.getNumOperands() == 1 && int64_t(reduce.getAxis()) + 1 == type.getRank() && addsElements(add) &&
         llvm::equal(add->getOperands(), reduce.getCombine().getArguments()) && type.getElementTypeBitWidth() >= 32;
}

std::optional<CarriedSum> sumOf(scf::ForOp loop, BlockArgument argument) {
  Operation *add = loop.getTiedLoopYieldedValue(argument)->get().getDefiningOp();
  if (!addsElements(add) || add->getBlock() != loop.getBody() || !argument.hasOneUse() || !add->hasOneUse() ||
      !llvm::is_contained(add->getOperands(), argument))
    return std::nullopt;
  CarriedSum found{argument, add, {}, {}};
  Value added = add->getOperand(add->getOperand(0) == argument);
  for (; isa_and_nonnull<tile::ReshapeOp, tile::ExpandDimsOp>(added.getDefiningOp()) && added.hasOneUse();
       added = added.getDefiningOp()->getOperand(0))
    found.forms.insert(found.forms.begin(), added.getDefiningOp());
  found.sum = added.getDefiningOp<tile::ReduceOp>();
  bool fits = found.sum && found.sum->getBlock() == loop.getBody() && added.hasOneUse() && isSum(found.sum);
  return fits ? std::optional(found) : std::nullopt;
}

/// The loop with the lanes in place of the sums; -0 is what changes no number that is added to it.
void carryLanes(scf::ForOp loop, MutableArrayRef<CarriedSum> sums) {
  OpBuilder before(loop), behind(loop->getContext());
  behind.setInsertionPointAfter(loop);
  for (CarriedSum &sum : sums) {
    auto type = cast<RankedTensorType>(sum.lanes().getType());
    bool isFloat = isa<FloatType>(type.getElementType());
    TypedAttr nothing = isFloat ? TypedAttr(before.getFloatAttr(type.getElementType(), -0.0))
                                : TypedAttr(before.getIntegerAttr(type.getElementType(), 0));
    Location location = sum.add->getLoc();
    OpOperand *init = loop.getTiedLoopInit(sum.argument);
    OpResult result = loop.getTiedLoopResult(sum.argument);
    Value start = init->get();
    init->set(arith::ConstantOp::create(before, location, DenseElementsAttr::get(type, nothing)));
    sum.argument.setType(type);
    result.setType(type);
    OpBuilder inside(sum.add);
    auto add = [&](OpBuilder &builder, Value a, Value b) -> Value { // of integers: that may wrap where the sums do not
      return isFloat ? arith::AddFOp::create(builder, location, a, b).getResult()
                     : arith::AddIOp::create(builder, location, a, b).getResult();
    };
    Value lanes = add(inside, sum.argument, sum.lanes());
    loop.getTiedLoopYieldedValue(sum.argument)->set(lanes);
    IRMapping now;
    now.map(sum.lanes(), result);
    Operation *reduce = behind.clone(*sum.sum, now), *last = reduce;
    for (Operation *form : sum.forms)
      last = behind.clone(*form, now);
    result.replaceAllUsesExcept(add(behind, start, last->getResult(0)), reduce);
    sum.add->erase();
    for (Operation *form : llvm::reverse(sum.forms))
      form->erase();
    sum.sum.erase();
  }
}
} // namespace

void carrySums(tile::KernelOp kernel) {
  bool hasProducts =
      kernel.walk([](Operation *op) { return lower::isProduct(op) ? WalkResult::interrupt() : WalkResult::advance(); })
          .wasInterrupted();
  if (hasProducts)
    return;
  kernel.walk([](scf::ForOp loop) {
    SmallVector<CarriedSum> sums;
    int64_t lanes = 0;
    for (BlockArgument argument : loop.getRegionIterArgs())
      if (std::optional<CarriedSum> sum = sumOf(loop, argument)) {
        lanes += ShapedType::getNumElements(tile::shapeOf(sum->lanes().getType()));
        sums.push_back(*sum);
      }
    if (lanes <= mostCarried)
      carryLanes(loop, sums);
  });
}

} // namespace tilery::cuda
