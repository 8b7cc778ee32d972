// What NVIDIA's assemblers say.
#include "runtime/cuda/assembler_log.h"
#include "tests/fuzz/readers/reader.h"
#include <cstdlib>

using namespace tilery;

std::vector<std::string> readers::seeds() {
  return {
      "ptxas info    : Function properties for k\n    16 bytes stack frame, 28 bytes spill stores, 32 bytes spill loads\n",
      "info    : Function properties for 'other'\n    8 bytes stack frame, 0 bytes spill stores, 4294967295 bytes spill loads",
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized\n"};
}

void readers::read(std::string_view bytes) {
  setenv("TILERY_VERIFY", "1", 1);
  for (const cuda::Spill &spill : cuda::spillsOf(bytes))
    if (spill.kernel.size() > bytes.size())
      defect("a name longer than the log");
  cuda::checkAssemblerLog(bytes);
}
