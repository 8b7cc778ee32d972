#include "tilery/block_sizes.h"
#include "compiler/targets/cpu/block_sizes.h"
#include "compiler/targets/cuda/block_sizes.h"
#include "tilery/runtime.h"

namespace tilery {

arrange::Symbol::Values chooseBlockSizes(const std::vector<arrange::Traffic> &arguments,
                                         const std::vector<arrange::Symbol> &metas, const arrange::Symbol::Values &sizes,
                                         int device) {
  return arrange::choose(arguments, metas, sizes,
                         device < 0 ? cpu::blockCost(numThreads()) : cuda::blockCost(gpuProcessors(device)));
}

} // namespace tilery
