#pragma once
// What a back end makes of a module; the driver puts it into an image.
#include "tilery/runtime.h"

namespace tilery {

struct Translation {
  std::string object;                      ///< what the target's loader takes: CodeImage::object
  std::vector<KernelInfo> kernels;         ///< one a tile.kernel
  std::string block, llvm, assembly, plan; ///< texts, as wanted
};

} // namespace tilery
