#pragma once

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

/// Whether GPUs compute in the host's memory: what lies there counts as the first one's. Only of the GPU that the tests emulate.
extern const bool gpuInHostMemory;

} // namespace tilery
#pragma GCC visibility pop
