// The one list of targets: a new one is a line more.
#include "compiler/driver.h"
#include "compiler/targets/cpu/cpu.h"
#include "compiler/targets/cuda/cuda.h"

namespace tilery {

Backends backends() {
  static const Backend *const list[] = {
      &cpu::backend(),
      &cuda::backend(),
  };
  return list;
}

} // namespace tilery
