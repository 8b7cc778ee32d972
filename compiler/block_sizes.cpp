#include "tilery/block_sizes.h"
#include "compiler/driver.h"

namespace tilery {

std::vector<arrange::Symbol::Values> rankBlockSizes(const std::vector<arrange::Traffic> &arguments,
                                                    const std::vector<arrange::Symbol> &metas,
                                                    const arrange::Symbol::Values &sizes, const std::string &target, int device,
                                                    size_t count) {
  return arrange::ranked(arguments, metas, sizes, backendFor(backends(), target).blockCost(device), count);
}

} // namespace tilery
