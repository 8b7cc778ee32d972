#include "compiler/block/explain.h"
#include "compiler/source_chain.h"
#include "tilery/environment.h"

using namespace mlir;

namespace tilery::block {

void explain(tile::KernelOp kernel, const std::string &text) {
  if (!environmentSwitch("TILERY_EXPLAIN"))
    return;
  std::string place;
  kernel.walk([&](Operation *op) {
    if (!isa<tile::DotOp, tile::ContractOp>(op))
      return WalkResult::advance();
    if (auto chain = sourceChain(op->getLoc()); !chain.empty())
      place = " (" + chain[0].file + ":" + std::to_string(chain[0].line) + ")";
    return WalkResult::interrupt();
  });
  llvm::errs() << kernel.getSymName().str() + place + ": " + text + "\n"; // a line in one piece
}

} // namespace tilery::block
