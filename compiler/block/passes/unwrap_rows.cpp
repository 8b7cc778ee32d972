// unwrap-rows: rows of a fetched factor that begin again behind the last, of which nobody takes what comes then, end there instead. So their
// places are a stride apart, and threads bring several at once.
#include "compiler/block/recognise/access_lines.h"
#include "compiler/block/recognise/find_kernel.h"
#include "compiler/block/passes/kernel_pass.h"
#include "compiler/block/passes/passes.h"
#include "compiler/block/recognise/place_polynomials.h"
#include "compiler/ir/zero.h"

using namespace mlir;

namespace tilery::block {
namespace {

void unwrap(tile::AccessOp access, ArrayRef<Value> live) {
  std::string why;
  std::optional<AccessLines> found = linesOf(access, live, why);
  if (!found || llvm::none_of(found->lines, [](const AccessLine &line) { return line.rows.has_value(); }))
    return;
  OpBuilder builder(access);
  Location location = access.getLoc();
  auto place = [&](const IndexPolynomial &p) { return placePolynomial(builder, location, p, [](Value atom) { return atom; }); };
  Value offset = access.getOffset();
  SmallVector<Value> steps(access.getSteps()), bounds;
  SmallVector<int32_t> kinds(access.getBoundKinds());
  for (unsigned d = 0; d < steps.size(); ++d) {
    auto line = llvm::find_if(found->lines, [&](const AccessLine &each) { return each.tile == d && each.rows; });
    if (line == found->lines.end()) {
      llvm::append_range(bounds, access.getBound(d));
      continue;
    }
    steps[d] = place(line->step);
    offset =
        arith::AddIOp::create(builder, location, offset, place(*line->wrapped * line->step), arith::IntegerOverflowFlags::nsw);
    kinds[d] = 1;
    bounds.append({place(IndexPolynomial()), place(*line->rows - *line->wrapped)});
  }
  auto straight = tile::AccessOp::create(builder, location, access.getType(), access.getBase(), offset, steps, bounds,
                                         access.getResidual(), kinds);
  access.replaceAllUsesWith(straight.getResult());
}

/// The load that a factor shows, and which of its lanes are taken, by its own dimensions.
tile::LoadOp shownLoad(Value factor, SmallVector<Value, 2> &live) {
  while (isa_and_nonnull<tile::PermuteOp, arith::BitcastOp>(factor.getDefiningOp())) {
    if (auto permute = factor.getDefiningOp<tile::PermuteOp>(); permute && permute.getOrder()[0] == 1)
      std::swap(live[0], live[1]);
    factor = factor.getDefiningOp()->getOperand(0);
  }
  return factor.getDefiningOp<tile::LoadOp>();
}
} // namespace

void runUnwrapRows(KernelPass &pass) {
  const ProductKernel *kernel = pass.getAnalysis<KernelAnalysis>().product();
  auto contract = kernel ? dyn_cast<tile::ContractOp>(kernel->product.op) : tile::ContractOp();
  if (!contract || contract.getLive().empty() || !kernel->product.fetches())
    return pass.markAllAnalysesPreserved();
  llvm::DenseSet<Operation *> fetched;
  for (const std::optional<FetchedFactor> *factor : {&kernel->product.fetchedA, &kernel->product.fetchedB})
    if (*factor)
      fetched.insert(loadOf((*factor)->tile));
  for (unsigned which : {0u, 1u}) {
    SmallVector<Value, 2> live(2);
    live[which] = contract.getLive()[which];
    tile::LoadOp load = shownLoad(contract.getBody().front().getTerminator()->getOperand(which), live);
    auto access = load ? load.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
    if (access && fetched.contains(load) && access->hasOneUse() && (!load.getOther() || tile::isPlusZero(load.getOther())))
      unwrap(access, live);
  }
}

} // namespace tilery::block
