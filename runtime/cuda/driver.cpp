#include "runtime/cuda/driver.h"
#include "runtime/cuda/library.h"
#include "tilery/runtime.h"
#include "tilery/spelling.h"
#include <algorithm>
#include <atomic>
#include <mutex>
#include <pthread.h>
#include <vector>

namespace tilery::cuda {
namespace {
enum { NotInitialized = 3 };
const char forkedText[] =
    "this process was forked from one that had started the NVIDIA driver: it can compile, but cannot use a GPU";
const char forkedHint[] =
    "start processes with multiprocessing's method \"spawn\", or use a GPU only in the processes that are forked";

std::string missing; // why there is no driver
std::string remedy = "run on tensors of the CPU, or on a machine with an NVIDIA GPU and its driver";
std::atomic<bool> started = false; // by this library
std::atomic<bool> forked = false;  // since then

const Driver *open() {
  void *library = driverLibrary(/*loaded=*/true);
  if (!library) {
    missing = "this machine has no NVIDIA driver (libcuda.so.1 is not found)";
    return nullptr;
  }
  static Driver driver;
  const char *absent = nullptr;
  auto resolve = [&](auto &pointer, const char *name) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(driverFunction(library, name));
    if (!pointer && !absent)
      absent = name;
  };
#define F(name, ...) resolve(driver.name, #name);
  TILERY_CUDA_FUNCTIONS(F)
#undef F
  resolve(driver.cuGetErrorName, "cuGetErrorName");
  resolve(driver.cuGetErrorString, "cuGetErrorString");
  if (absent) {
    missing =
        std::string("the NVIDIA driver of this machine is too old: it has no ") + absent + ", as those from CUDA 12.0 on have";
    remedy = "update the driver, or run on tensors of the CPU";
    return nullptr;
  }
  int devices = 0;
  if (int result = driver.cuInit(0); result != 0) {
    const char *name = nullptr;
    driver.cuGetErrorName(result, &name);
    missing = std::string("the NVIDIA driver does not start: ") + (name ? name : "unknown error");
    if (result == NotInitialized) // a parent had, and this library was not there
      missing += std::string("; maybe ") + forkedText;
    return nullptr;
  }
  driver.cuDriverGetVersion(&driver.version);
  if (driver.cuDeviceGetCount(&devices) != 0 || devices == 0) {
    missing = "the NVIDIA driver sees no GPU";
    return nullptr;
  }
  started = true;
  return &driver;
}
} // namespace

const Driver *Driver::find() {
  static const Driver *driver = open();
  return driver;
}

namespace {
const Driver &found() {
  if (const Driver *driver = Driver::find())
    return *driver;
  throw Error({Diagnostic::Kind::Runtime, missing, remedy, {}});
}

std::vector<GpuProperties> askDevices(const Driver &driver) {
  int count = 0;
  check(driver.cuDeviceGetCount(&count), "counting GPUs");
  std::vector<GpuProperties> devices;
  for (int i = 0; i < count; ++i) {
    Device device;
    check(driver.cuDeviceGet(&device, i), "asking for a GPU");
    char name[128] = "";
    check(driver.cuDeviceGetName(name, sizeof name, device), "asking for a GPU's name");
    auto attribute = [&](int which) {
      int value = 0;
      check(driver.cuDeviceGetAttribute(&value, which, device), "asking for a GPU's properties");
      return unsigned(value);
    };
    GpuProperties &found = devices.emplace_back();
    found.name = name;
    found.sm = attribute(75) * 10 + attribute(76);
    found.multiprocessors = attribute(16);
    found.sharedBytes = attribute(97);
    found.registers = attribute(82);
    found.clock = attribute(13);
    found.memoryClock = attribute(36);
    found.memoryBits = attribute(37);
    found.cacheBytes = attribute(108);
  }
  return devices;
}

/// Asked once: a forked process knows what its parent has asked, and cannot ask itself.
const std::vector<GpuProperties> &devices(const Driver &driver) {
  static const std::vector<GpuProperties> known = askDevices(driver);
  return known;
}

bool isStarted() {
  void *library = driverLibrary(/*loaded=*/false);
  if (!library)
    return false;
  int count = 0;
  auto ask = reinterpret_cast<int (*)(int *)>(driverFunction(library, "cuDeviceGetCount"));
  return ask && ask(&count) == 0;
}

/// Whoever has started the driver: what compilation asks of the devices goes along.
void prepareFork() {
  try {
    if (!forked && isStarted())
      if (const Driver *driver = Driver::find())
        devices(*driver);
  } catch (const Error &) { // whoever needs it is told
  }
}
void childAfterFork() { forked = started.load(); }
const int registered = pthread_atfork(prepareFork, nullptr, childAfterFork);
} // namespace

const Driver &Driver::get() {
  const Driver &driver = found();
  if (forked.load(std::memory_order_relaxed)) [[unlikely]]
    throw Error({Diagnostic::Kind::Runtime, forkedText, forkedHint, {}});
  return driver;
}

int deviceCount() {
  const Driver *driver = Driver::find();
  return driver ? int(devices(*driver).size()) : 0;
}

namespace {
/// The device's primary context, kept for as long as the process lives.
Context primaryContext(int device) {
  static std::mutex mutex;
  static std::vector<Context> primary;
  std::lock_guard lock(mutex);
  primary.resize(std::max(primary.size(), size_t(device) + 1));
  if (!primary[device])
    check(Driver::get().cuDevicePrimaryCtxRetain(&primary[device], device), "starting the GPU");
  return primary[device];
}

/// A context that is alive for certain, and its device: what nearly every launch finds current.
struct KnownContext {
  Context context = nullptr;
  int device = -1;
};
thread_local KnownContext known;
} // namespace

DeviceScope::DeviceScope(int device) {
  const Driver &driver = Driver::get();
  Context current = nullptr;
  check(driver.cuCtxGetCurrent(&current), "asking for the context");
  if (current && current == known.context && device == known.device)
    return;
  Device found = -1;
  if (current && driver.cuCtxGetDevice(&found) == 0 && found == device) {
    if (current == primaryContext(device))
      known = {current, device};
    return;
  }
  check(driver.cuCtxSetCurrent(primaryContext(device)), "starting the GPU");
  before = current;
}

DeviceScope::~DeviceScope() {
  if (before)
    Driver::get().cuCtxSetCurrent(before);
}

CaptureScope::CaptureScope() { found().cuThreadExchangeStreamCaptureMode(&mode); }
CaptureScope::~CaptureScope() { found().cuThreadExchangeStreamCaptureMode(&mode); }

void fail(int result, const std::string &what) {
  const Driver &driver = found();
  const char *name = nullptr, *text = nullptr;
  driver.cuGetErrorName(result, &name);
  driver.cuGetErrorString(result, &text);
  GpuError::Fault fault = GpuError::Fault::Other;
  std::string hint;
  switch (result) {
  case 2: // CUDA_ERROR_OUT_OF_MEMORY
    fault = GpuError::Fault::OutOfMemory;
    hint = "free memory of the GPU, or use smaller tensors";
    break;
  case 209: // NO_BINARY_FOR_GPU
  case 218: // INVALID_PTX
  case 222: // UNSUPPORTED_PTX_VERSION
    fault = GpuError::Fault::Unsupported;
    hint = "the driver does not know this GPU code: update it";
    break;
  case 221: // JIT_COMPILER_NOT_FOUND
    fault = GpuError::Fault::Unsupported;
    hint =
        "install the driver's PTX compiler, libnvidia-ptxjitcompiler.so.1, of the driver's own version; containers get it with "
        "NVIDIA_DRIVER_CAPABILITIES=compute";
    break;
  case 700: // ILLEGAL_ADDRESS
  case 716: // MISALIGNED_ADDRESS
  case 717: // INVALID_ADDRESS_SPACE
    fault = GpuError::Fault::IllegalAddress;
    hint = std::string(
               "this kernel, or one launched before it, read or wrote outside its tensors: CUDA_LAUNCH_BLOCKING=1 says which; ") +
           spelling().checked;
    break;
  case 701: // LAUNCH_OUT_OF_RESOURCES
    hint = "use smaller tiles, fewer stages or fewer warps";
    break;
  }
  throw GpuError(fault,
                 {Diagnostic::Kind::Runtime,
                  what + " failed: " + (text ? text : "unknown error") + " (" + (name ? name : std::to_string(result)) + ")",
                  hint,
                  {}});
}

} // namespace tilery::cuda

namespace tilery {
const GpuProperties &gpuProperties(int index) {
  const std::vector<GpuProperties> &known = cuda::devices(cuda::found());
  if (index < 0 || index >= int(known.size()))
    throw Error({Diagnostic::Kind::Value, "there is no GPU number " + std::to_string(index), "", {}});
  return known[size_t(index)];
}
} // namespace tilery
