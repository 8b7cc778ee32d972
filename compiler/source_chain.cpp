#include "compiler/source_chain.h"

using namespace mlir;

namespace tilery {

static void append(Location location, std::string function, std::vector<SourceLocation> &chain) {
  if (auto file = dyn_cast<FileLineColLoc>(location))
    chain.push_back({file.getFilename().str(), int(file.getLine()), int(file.getColumn()), std::move(function)});
  else if (auto name = dyn_cast<NameLoc>(location))
    append(name.getChildLoc(), name.getName().str(), chain);
  else if (auto call = dyn_cast<CallSiteLoc>(location)) {
    append(call.getCallee(), {}, chain);
    append(call.getCaller(), {}, chain);
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations()) {
      size_t before = chain.size();
      append(part, function, chain);
      if (chain.size() != before)
        return; // parts of a fused location are alternatives, not callers: the first known one names the place
    }
  }
}

std::vector<SourceLocation> sourceChain(Location location) {
  std::vector<SourceLocation> chain;
  append(location, {}, chain);
  return chain;
}

} // namespace tilery
