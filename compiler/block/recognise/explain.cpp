#include "compiler/block/recognise/explain.h"
#include "compiler/explain/findings.h"
#include "compiler/source_chain.h"
#include "tilery/environment.h"

using namespace mlir;

namespace tilery::block {

void explain(tile::KernelOp kernel, const std::string &text) {
  bool prints = environmentSwitch("TILERY_EXPLAIN");
  if ((!prints && !explain::wanted()) || explain::isAside())
    return;
  std::string place;
  Operation *product = kernel;
  kernel.walk([&](Operation *op) {
    if (!isa<tile::DotOp, tile::ContractOp>(op))
      return WalkResult::advance();
    product = op;
    if (auto chain = sourceChain(op->getLoc()); !chain.empty())
      place = " (" + chain[0].file + ":" + std::to_string(chain[0].line) + ")";
    return WalkResult::interrupt();
  });
  explain::say(product, text);
  if (prints)
    llvm::errs() << kernel.getSymName().str() + place + ": " + text + "\n"; // a line in one piece
}

} // namespace tilery::block
