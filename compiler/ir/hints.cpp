#include "compiler/ir/hints.h"
#include "compiler/ir/Tile.h"
#include "llvm/ADT/STLExtras.h"

namespace tilery::tile {

static constexpr llvm::StringLiteral names[] = {"launch_cooperative_grid",
                                                "launch_pdl",
                                                "launch_dependents",
                                                "maxnreg",
                                                "num_warps",
                                                "num_stages",
                                                "unroll",
                                                "vectorize",
                                                "waits"};
static thread_local HeededHints *current = nullptr;

llvm::ArrayRef<llvm::StringLiteral> hintNames() { return names; }

static unsigned bitOf(llvm::StringRef name) {
  const auto *found = llvm::find(names, name);
  assert(found != std::end(names) && "not in the table of hints");
  return 1u << (found - names);
}

void heedHint(llvm::StringRef name) {
  if (current)
    current->heeded |= bitOf(name);
}

std::optional<int64_t> givenHint(mlir::Operation *op, llvm::StringRef name) {
  auto attribute = op->getAttrOfType<mlir::IntegerAttr>(("tile." + name).str());
  return attribute ? std::optional(attribute.getInt()) : std::nullopt;
}

std::optional<int64_t> hint(mlir::Operation *op, llvm::StringRef name) {
  std::optional<int64_t> given = givenHint(op, name);
  if (given)
    heedHint(name);
  return given;
}

HeededHints::HeededHints() : outer(current) { current = this; }
HeededHints::~HeededHints() { current = outer; }

std::vector<std::string> HeededHints::ignored(mlir::Operation *module) const {
  unsigned given = 0;
  module->walk([&](mlir::Operation *op) {
    if (mlir::isa<KernelOp, mlir::scf::ForOp>(op))
      for (llvm::StringRef name : names)
        if (op->hasAttr(("tile." + name).str()))
          given |= bitOf(name);
  });
  std::vector<std::string> result;
  for (llvm::StringRef name : names)
    if (given & ~heeded & bitOf(name))
      result.push_back(name.str());
  return result;
}

} // namespace tilery::tile
