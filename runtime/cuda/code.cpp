#include "runtime/cuda/code.h"
#include "runtime/cuda/assembler.h"
#include "tilery/environment.h"
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <mutex>

namespace tilery::cuda {
namespace {
// Options of module loading and attributes of functions, by the driver's numbers.
enum {
  OptionInfoLog = 3,
  OptionInfoLogSize = 4,
  OptionErrorLog = 5,
  OptionErrorLogSize = 6,
  OptionVerbose = 12,
  OptionLineInfo = 13
};
enum { FunctionMaxThreads = 0, FunctionRegisters = 4, FunctionMaxDynamicShared = 8 };
enum { InvalidPtx = 218 };

bool isPtx(const std::string &object) { return !object.starts_with("\177ELF"); }

std::string archOf(const GpuProperties &properties) {
  return "sm_" + std::to_string(properties.sm) + (properties.sm >= 90 ? "a" : "");
}

constexpr unsigned firstUnknown = 100; // there is no code for what is new in it

/// What older GPUs run newer ones do, too: PTX of their targets (but for those of one kind, sm_90a) is assembled for them. Says so once.
const char *olderTarget(const GpuProperties &properties) {
  static std::once_flag once;
  std::call_once(once, [&] {
    std::fprintf(stderr,
                 "tilery: the %s has compute capability %u.%u: its kernels are compiled as for 8.0, without what is new since\n",
                 properties.name.c_str(), properties.sm / 10, properties.sm % 10);
  });
  return properties.sharedBytes < 163 * 1024 ? "sm_86" : "sm_80"; // as a block there may use
}

ModuleHandle loadMachineCode(const std::string &code, const std::string &what) {
  ModuleHandle module = nullptr;
  check(Driver::get().cuModuleLoadDataEx(&module, code.data(), 0, nullptr, nullptr), what);
  return module;
}

/// Lets the driver assemble. `refusal`: why its compiler did not, if it was asked.
ModuleHandle loadPtx(const std::string &ptx, const std::string &refusal, const std::string &what) {
  std::string info(1 << 18, '\0'), errors(16384, '\0'); // verbose: some 300 bytes a kernel
  int options[] = {OptionInfoLog, OptionInfoLogSize, OptionErrorLog, OptionErrorLogSize, OptionVerbose, OptionLineInfo};
  void *values[] = {info.data(),
                    reinterpret_cast<void *>(info.size()),
                    errors.data(),
                    reinterpret_cast<void *>(errors.size()),
                    reinterpret_cast<void *>(uintptr_t(1)),
                    reinterpret_cast<void *>(uintptr_t(hasLines(ptx)))};
  ModuleHandle module = nullptr;
  int result = Driver::get().cuModuleLoadDataEx(&module, ptx.c_str(), unsigned(std::size(options)), options, values);
  info.resize(std::min(info.find('\0'), info.size()));
  errors.resize(std::min(errors.find('\0'), errors.size()));
  if (result == InvalidPtx)
    throw Error({Diagnostic::Kind::Runtime,
                 "the driver refuses the GPU code: " + (errors.empty() ? refusal : errors),
                 "this is a defect of Tilery's code generator",
                 {}});
  check(result, what);
  checkGivenUp(gaveUpOn(info));
  return module;
}

ModuleHandle loadModule(const std::string &object, const GpuProperties &properties, const std::string &what) {
  if (!isPtx(object))
    return loadMachineCode(object, what);
  Assembly assembly = assemble(object, archOf(properties));
  checkGivenUp(assembly.gaveUp);
  return assembly.code.empty() ? loadPtx(object, assembly.refusal, what) : loadMachineCode(assembly.code, what);
}

/// What can be told from the kernel's description. Throws Error.
void checkNeeds(const KernelInfo &info, const GpuProperties &properties) {
  const GpuInfo &gpu = info.gpu;
  if (gpu.sharedBytes > properties.sharedBytes)
    throw Error({Diagnostic::Kind::Value,
                 info.name + " needs " + std::to_string(gpu.sharedBytes) + " bytes of shared memory, the device has " +
                     std::to_string(properties.sharedBytes),
                 "use a smaller tile or fewer stages",
                 {}});
  if (gpu.cluster > 1 && properties.sm < 90)
    throw GpuError(GpuError::Fault::Unsupported,
                   {Diagnostic::Kind::NotImplemented,
                    info.name + " needs clusters of blocks, which the " + properties.name + " has not",
                    "",
                    {}});
  size_t bytes =
      gpu.maps.size() * sizeof(TensorMap) + info.args.size() * 8 + 3 * 4 + 2 * 8; // arguments, grid, workspace, reports
  if (bytes > parameterBytes)
    throw Error({Diagnostic::Kind::Value,
                 info.name + " has " + std::to_string(info.args.size()) + " arguments and " + std::to_string(gpu.maps.size()) +
                     " tensors copied in boxes; a GPU kernel's parameters have room for " + std::to_string(parameterBytes) +
                     " bytes",
                 "",
                 {}});
}

/// Clusters of so many blocks that run at once: groups of multiprocessors need not be multiples of a cluster.
unsigned residentClusters(const GpuInfo &gpu, unsigned blocks, Function function, const std::string &what) {
  LaunchAttribute cluster;
  cluster.id = LaunchAttribute::ClusterDimension;
  cluster.cluster[0] = blocks, cluster.cluster[1] = cluster.cluster[2] = 1;
  LaunchConfig config;
  config.grid[0] = blocks;
  config.block[0] = gpu.threads;
  config.sharedBytes = gpu.sharedBytes;
  config.attributes = &cluster;
  config.attributeCount = 1;
  int clusters = 0;
  check(Driver::get().cuOccupancyMaxActiveClusters(&clusters, function, &config), what);
  return unsigned(std::max(clusters, 0));
}

/// Programs that run at once.
unsigned residentPrograms(const KernelInfo &info, Function function, const GpuProperties &properties, const std::string &what) {
  const Driver &driver = Driver::get();
  const GpuInfo &gpu = info.gpu;
  if (gpu.cluster > 1 && (gpu.persistent || info.cooperative))
    return std::max(residentClusters(gpu, gpu.cluster, function, what), 1u);
  int each = 1;
  if (gpu.workspaceBytes || info.cooperative) // others that are persistent fill a multiprocessor
    check(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, function, int(gpu.threads), gpu.sharedBytes), what);
  return properties.multiprocessors * unsigned(std::max(each, 1));
}
} // namespace

Code::~Code() {
  const Driver *driver = Driver::find();
  if (!driver)
    return;
  CaptureScope capture; // kernels are let go at any time, in the midst of a capture, too
  for (ModuleHandle module : modules)
    if (module)
      driver->cuModuleUnload(module); // fails where the context is gone: at the end of the process, or in a forked one
}

LoadedKernel Code::find(const KernelInfo &info, int device) const {
  std::lock_guard lock(mutex);
  auto known =
      std::find_if(entries.begin(), entries.end(), [&](const Entry &e) { return e.info == &info && e.device == device; });
  const Entry &entry = known != entries.end() ? *known : entries.emplace_front(Entry{&info, device, load(info, device)});
  last.store(&entry, std::memory_order_release);
  return entry.kernel;
}

LoadedKernel Code::load(const KernelInfo &info, int device) const {
  const Driver &driver = Driver::get();
  const GpuProperties &properties = gpuProperties(device);
  checkNeeds(info, properties);
  CaptureScope capture;
  std::string what = "loading " + info.name;
  modules.resize(std::max(modules.size(), size_t(device) + 1));
  ModuleHandle &module = modules[size_t(device)];
  if (!module)
    module = loadModule(object, properties, what);
  LoadedKernel kernel;
  check(driver.cuModuleGetFunction(&kernel.function, module, info.name.c_str()), what);
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
  kernel.resident = residentPrograms(info, kernel.function, properties, what);
  for (unsigned i = 0; info.gpu.split.depth && i < 3; ++i)
    kernel.clusters[i] = residentClusters(info.gpu, 2u << i, kernel.function, what);
  return kernel;
}

} // namespace tilery::cuda

namespace tilery {
int gpuCount() { return cuda::deviceCount(); }

std::string gpuTarget(int device) {
  constexpr unsigned oldest = 80;
  const GpuProperties &properties = gpuProperties(device);
  if (properties.sm < oldest)
    throw GpuError(GpuError::Fault::Unsupported,
                   {Diagnostic::Kind::NotImplemented,
                    "the " + properties.name + " has compute capability " + std::to_string(properties.sm / 10) + "." +
                        std::to_string(properties.sm % 10) + "; GPU code needs 8.0",
                    "run on tensors of the CPU",
                    {}});
  std::string asked = environmentText("TILERY_GPU_TARGET").value_or("");
  if (asked.empty())
    asked = properties.sm < cuda::firstUnknown ? cuda::archOf(properties) : cuda::olderTarget(properties);
  return asked + ":cuda" + std::to_string(cuda::Driver::find()->version);
}

CodeImage cuda::assembled(CodeImage image, int device, std::string &gaveUp) {
  if (image.kernels.empty() || !image.kernels.front().gpu.threads || !cuda::isPtx(image.object))
    return image;
  cuda::Assembly assembly = cuda::assemble(image.object, cuda::archOf(gpuProperties(device)));
  if (assembly.code.empty())
    return image;
  gaveUp = assembly.gaveUp;
  image.object = std::move(assembly.code);
  for (const cuda::Spill &spill : assembly.spills)
    for (KernelInfo &kernel : image.kernels)
      if (kernel.name == spill.kernel)
        kernel.gpu.spillBytes = spill.storeBytes + spill.loadBytes;
  return image;
}

CodeImage assembled(CodeImage image, int device) {
  std::string gaveUp;
  image = cuda::assembled(std::move(image), device, gaveUp);
  cuda::checkGivenUp(gaveUp);
  return image;
}
} // namespace tilery
