#include "tilery/block_sizes.h"
#include "compiler/driver.h"

namespace tilery {

arrange::Symbol::Values chooseBlockSizes(const std::vector<arrange::Traffic> &arguments,
                                         const std::vector<arrange::Symbol> &metas, const arrange::Symbol::Values &sizes,
                                         const std::string &target, int device) {
  return arrange::choose(arguments, metas, sizes, backendFor(backends(), target).blockCost(device));
}

} // namespace tilery
