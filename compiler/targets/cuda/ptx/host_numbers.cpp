#include "compiler/targets/cuda/ptx/host_numbers.h"

using namespace mlir;

namespace tilery::cuda {

PolynomialInfo hostPolynomial(const analysis::IndexPolynomial &polynomial) {
  PolynomialInfo result;
  for (auto &[monomial, coefficient] : polynomial.terms()) {
    PolynomialInfo::Term &term = result.terms.emplace_back(PolynomialInfo::Term{coefficient, {}});
    for (Value atom : monomial) {
      auto count = atom.getDefiningOp<tile::NumProgramsOp>();
      term.factors.push_back(count ? PolynomialInfo::gridExtent + count.getAxis() : cast<BlockArgument>(atom).getArgNumber());
    }
  }
  return result;
}

void addCondition(ConditionInfo condition, std::vector<ConditionInfo> &conditions) {
  if (!llvm::is_contained(conditions, condition))
    conditions.push_back(std::move(condition));
}

} // namespace tilery::cuda
