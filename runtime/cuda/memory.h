#pragma once
// Memory of GPUs that the runtime itself needs.
#include "runtime/cuda/driver.h"

namespace tilery::cuda {

enum class Use { Workspace, Reports };
/// At least `bytes` for launches on this stream of the current context's device, the same at each call as long as it is large enough: launches
/// of one stream follow each other. What it was before it grew is never freed, since captured graphs may hold its address; it at least
/// doubles. Throws Error in terms of `kernel` when there is not enough.
Address reserve(Use use, int device, Stream stream, size_t bytes, const std::string &kernel);

} // namespace tilery::cuda
