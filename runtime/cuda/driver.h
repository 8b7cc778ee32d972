#pragma once
// NVIDIA's driver, found at run time: no toolkit is needed to build or to run.
#include "tilery/gpu_error.h"
#include <cstddef>
#include <cstdint>
#include <string>

namespace tilery::cuda {

// The driver's own types, as its binary interface has them.
using Device = int;
using Context = struct ContextTag *;
using ModuleHandle = struct ModuleTag *;
using Function = struct FunctionTag *;
using Stream = struct StreamTag *;
using Address = uint64_t;
struct alignas(64) TensorMap {
  uint64_t words[16];
};
struct LaunchAttribute {
  enum { Cooperative = 2, ClusterDimension = 4, ProgrammaticStreamSerialization = 6 };
  int id = 0;
  union alignas(8) {
    char bytes[64] = {};
    unsigned cluster[3];
    int cooperative, programmatic;
  };
};
struct LaunchConfig {
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  unsigned sharedBytes = 0;
  Stream stream = nullptr;
  LaunchAttribute *attributes = nullptr;
  unsigned attributeCount = 0;
};

// name, arguments; every function returns the driver's error code.
#define TILERY_CUDA_FUNCTIONS(F)                                                                                                 \
  F(cuInit, unsigned)                                                                                                            \
  F(cuDriverGetVersion, int *)                                                                                                   \
  F(cuDeviceGetCount, int *)                                                                                                     \
  F(cuDeviceGet, Device *, int)                                                                                                  \
  F(cuDeviceGetName, char *, int, Device)                                                                                        \
  F(cuDeviceGetAttribute, int *, int, Device)                                                                                    \
  F(cuDevicePrimaryCtxRetain, Context *, Device)                                                                                 \
  F(cuCtxGetCurrent, Context *)                                                                                                  \
  F(cuCtxSetCurrent, Context)                                                                                                    \
  F(cuCtxGetDevice, Device *)                                                                                                    \
  F(cuModuleLoadDataEx, ModuleHandle *, const void *, unsigned, int *, void **)                                                  \
  F(cuModuleUnload, ModuleHandle)                                                                                                \
  F(cuModuleGetFunction, Function *, ModuleHandle, const char *)                                                                 \
  F(cuFuncSetAttribute, Function, int, int)                                                                                      \
  F(cuFuncGetAttribute, int *, int, Function)                                                                                    \
  F(cuLaunchKernel, Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void **, void **)    \
  F(cuLaunchKernelEx, const LaunchConfig *, Function, void **, void **)                                                          \
  F(cuTensorMapEncodeTiled, TensorMap *, int, unsigned, void *, const uint64_t *, const uint64_t *, const uint32_t *,            \
    const uint32_t *, int, int, int, int)                                                                                        \
  F(cuMemAlloc_v2, Address *, size_t)                                                                                            \
  F(cuMemFree_v2, Address)                                                                                                       \
  F(cuMemcpyHtoDAsync_v2, Address, const void *, size_t, Stream)                                                                 \
  F(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *, Function, int, size_t)                                                   \
  F(cuOccupancyMaxActiveClusters, int *, Function, const LaunchConfig *)                                                         \
  F(cuMemcpyDtoHAsync_v2, void *, Address, size_t, Stream)                                                                       \
  F(cuMemsetD8Async, Address, unsigned char, size_t, Stream)                                                                     \
  F(cuStreamSynchronize, Stream)                                                                                                 \
  F(cuThreadExchangeStreamCaptureMode, int *)

struct Driver {
#define F(name, ...) int (*name)(__VA_ARGS__) = nullptr;
  TILERY_CUDA_FUNCTIONS(F)
#undef F
  int (*cuGetErrorName)(int, const char **) = nullptr;
  int (*cuGetErrorString)(int, const char **) = nullptr;
  int version = 0; ///< of CUDA: 13000 is 13.0

  /// The driver of this machine, initialised; null if there is none or it has no device.
  static const Driver *find();
  /// The same, to use its devices; throws Error that says what is missing, also in a process that was forked since it was started.
  static const Driver &get();
};

int deviceCount();

/// While it lives, a context of the device is current on this thread: the one that is, if it is the device's, else the primary one,
/// which frameworks use, too. A thread that had none keeps it.
class DeviceScope {
public:
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope &) = delete;

private:
  Context before = nullptr; ///< to go back to
};

/// While it lives, this thread may load and unload code although some stream is being captured into a graph.
class CaptureScope {
public:
  CaptureScope();
  ~CaptureScope();
  CaptureScope(const CaptureScope &) = delete;

private:
  int mode = 2; // CU_STREAM_CAPTURE_MODE_RELAXED
};

/// Throws GpuError with the driver's own name for the failure, in terms of `what` was done ("launching matmul_kernel").
[[noreturn]] void fail(int result, const std::string &what);
inline void check(int result, const char *what) {
  if (result != 0) [[unlikely]]
    fail(result, what);
}
inline void check(int result, const std::string &what) { check(result, what.c_str()); }

} // namespace tilery::cuda
