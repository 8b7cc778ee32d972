#pragma once
// What TILERY_EMULATE says of the GPU: "sm_90a", or with more: "sm_90a,late,races,processors=2".
#include "compiler/targets/cuda/ptx/target.h"
#include "tests/emulator/block.h"

namespace tilery::emulator {

struct Settings {
  cuda::CudaTarget target;              ///< the GPU that it stands for
  Timing timing = Timing::CopiesAtOnce; ///< late: CopiesLate
  unsigned processors = 132;            ///< few of them: programs of persistent launches share blocks
  bool watches = false;                 ///< accesses of memory that nothing orders fail
};
/// Ends the process where the variable makes no sense.
const Settings &settings();

} // namespace tilery::emulator
