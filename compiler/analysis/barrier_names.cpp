#include "compiler/analysis/barrier_names.h"
#include "compiler/source_chain.h"

using namespace mlir;
using namespace tilery;

std::string analysis::barrierName(Value ring, std::optional<int64_t> number) {
  auto made = ring.getDefiningOp<tile::BarrierAllocOp>();
  if (!made)
    return "a barrier";
  if (made.getArrivals().size() == 1)
    number.reset();
  if (auto name = made->getAttrOfType<StringAttr>("tile.name"))
    return "`" + name.str() + (number ? "[" + std::to_string(*number) + "]" : "") + "`";
  std::vector<SourceLocation> chain = sourceChain(made.getLoc());
  if (chain.empty() || !chain.front().line)
    return number ? "barrier " + std::to_string(*number) + " of its ring" : "a barrier";
  return (number ? "barrier " + std::to_string(*number) : "the barrier") + " of line " + std::to_string(chain.front().line);
}
