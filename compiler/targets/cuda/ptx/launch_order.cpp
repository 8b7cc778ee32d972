#include "compiler/targets/cuda/ptx/launch_order.h"

namespace tilery::cuda {

bool orderLaunches(lower::Emitter &e, tile::KernelOp kernel, ThreadMachine &machine) {
  bool programmatic = tile::hint(kernel, "launch_pdl").has_value();
  if (programmatic)
    machine.waitForLaunch(e);
  if (tile::hint(kernel, "launch_dependents")) // when all blocks have begun: those of the next launch take no place from them
    machine.letLaunchFollow(e);
  return programmatic;
}

} // namespace tilery::cuda
