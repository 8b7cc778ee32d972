#include "runtime/cuda/code.h"
#include "runtime/cuda/assembler_log.h"
#include <algorithm>

namespace tilery::cuda {
namespace {
// Options of cuLink and attributes of functions, by the driver's numbers.
enum { OptionInfoLog = 3, OptionInfoLogSize = 4, OptionErrorLog = 5, OptionErrorLogSize = 6, OptionVerbose = 12 };
enum { InputPtx = 1 };
enum { FunctionMaxThreads = 0, FunctionRegisters = 4, FunctionMaxDynamicShared = 8 };

bool isPtx(const std::string &object) { return !object.starts_with("\177ELF"); }
} // namespace

std::string assemble(const std::string &ptx, int device) {
  const Driver &driver = Driver::get();
  DeviceScope scope(device);
  std::string info(1 << 18, '\0'), errors(16384, '\0'); // verbose: some 300 bytes a kernel
  int options[] = {OptionInfoLog, OptionInfoLogSize, OptionErrorLog, OptionErrorLogSize, OptionVerbose};
  void *values[] = {info.data(), reinterpret_cast<void *>(info.size()), errors.data(), reinterpret_cast<void *>(errors.size()),
                    reinterpret_cast<void *>(uintptr_t(1))};
  LinkState link = nullptr;
  check(driver.cuLinkCreate_v2(5, options, values, &link), "assembling GPU code");
  void *cubin = nullptr;
  size_t size = 0;
  int result =
      driver.cuLinkAddData_v2(link, InputPtx, const_cast<char *>(ptx.c_str()), ptx.size() + 1, "tilery", 0, nullptr, nullptr);
  if (result == 0)
    result = driver.cuLinkComplete(link, &cubin, &size);
  std::string code = result == 0 ? std::string(static_cast<char *>(cubin), size) : "";
  driver.cuLinkDestroy(link);
  info.resize(info.find('\0') == std::string::npos ? info.size() : info.find('\0'));
  errors.resize(errors.find('\0') == std::string::npos ? errors.size() : errors.find('\0'));
  if (result != 0)
    throw Error({Diagnostic::Kind::Runtime,
                 "the driver refuses the GPU code: " + errors,
                 "this is a defect of Tilery's code generator",
                 {}});
  checkAssemblerLog(info);
  return code;
}

Code::~Code() {
  const Driver *driver = Driver::find();
  for (Loaded &loaded : devices)
    if (loaded.module && driver)
      driver->cuModuleUnload(loaded.module); // fails at the end of the process, when the context is gone: nothing is lost
}

LoadedKernel Code::kernel(const KernelInfo &info, int device) const {
  std::lock_guard lock(mutex);
  if (int(devices.size()) <= device)
    devices.resize(device + 1);
  Loaded &loaded = devices[device];
  for (auto &[known, kernel] : loaded.kernels)
    if (known == &info)
      return kernel;
  LoadedKernel kernel = load(info, device, loaded);
  loaded.kernels.push_back({&info, kernel});
  return kernel;
}

LoadedKernel Code::load(const KernelInfo &info, int device, Loaded &loaded) const {
  const Driver &driver = Driver::get();
  const DeviceProperties &properties = deviceProperties(device);
  if (info.gpu.sharedBytes > properties.sharedBytes)
    throw Error({Diagnostic::Kind::Value,
                 info.name + " needs " + std::to_string(info.gpu.sharedBytes) + " bytes of shared memory, the device has " +
                     std::to_string(properties.sharedBytes),
                 "use a smaller tile or fewer stages",
                 {}});
  CaptureScope capture;
  std::string what = "loading " + info.name;
  if (!loaded.module) {
    std::string code = isPtx(object) ? assemble(object, device) : object;
    ModuleHandle module = nullptr;
    check(driver.cuModuleLoadData(&module, code.data()), what);
    loaded.module = module;
  }
  LoadedKernel kernel{nullptr, properties.multiprocessors};
  check(driver.cuModuleGetFunction(&kernel.function, loaded.module, info.name.c_str()), what);
  check(driver.cuFuncSetAttribute(kernel.function, FunctionMaxDynamicShared, int(info.gpu.sharedBytes)), what);
  int most = 0, registers = 0;
  check(driver.cuFuncGetAttribute(&most, FunctionMaxThreads, kernel.function), what);
  check(driver.cuFuncGetAttribute(&registers, FunctionRegisters, kernel.function), what);
  if (int(info.gpu.threads) > most)
    throw Error({Diagnostic::Kind::Value,
                 info.name + " needs " + std::to_string(info.gpu.threads) + " threads of " + std::to_string(registers) +
                     " registers, of which the device has room for " + std::to_string(most),
                 "use a smaller tile or fewer warps",
                 {}});
  if (info.gpu.workspaceBytes) { // others that are persistent fill a multiprocessor
    int each = 1;
    check(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel.function, int(info.gpu.threads), info.gpu.sharedBytes),
          what);
    kernel.resident *= unsigned(std::max(each, 1));
  }
  return kernel;
}

} // namespace tilery::cuda

namespace tilery {
int gpuCount() { return cuda::deviceCount(); }

unsigned gpuProcessors(int device) { return cuda::deviceProperties(device).multiprocessors; }

std::string gpuTarget(int device) {
  constexpr unsigned oldest = 80;
  const cuda::DeviceProperties &properties = cuda::deviceProperties(device);
  if (properties.sm < oldest)
    throw GpuError(GpuError::Fault::Unsupported,
                   {Diagnostic::Kind::NotImplemented,
                    "the " + properties.name + " has compute capability " + std::to_string(properties.sm / 10) + "." +
                        std::to_string(properties.sm % 10) + "; GPU code needs 8.0",
                    "run on tensors of the CPU",
                    {}});
  return "sm_" + std::to_string(properties.sm) + (properties.sm >= 90 ? "a" : "") + ":cuda" +
         std::to_string(cuda::Driver::get().version);
}

CodeImage assembled(CodeImage image, int device) {
  if (!image.kernels.empty() && image.kernels.front().gpu.threads && cuda::isPtx(image.object))
    image.object = cuda::assemble(image.object, device);
  return image;
}
} // namespace tilery
