#include "driver.h"
#include "settings.h"
#include "tests/emulator/run.h"
#include "tilery/diagnostic.h"
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <map>

// The driver's own types, as driver.h has them without what is in them.
namespace tilery::cuda {
struct ContextTag {};
struct ModuleTag {
  explicit ModuleTag(std::string_view object) : code(object) {}
  ElfCode code;
  std::map<std::string, FunctionTag> functions;
};
struct FunctionTag {
  void (*entry)(emulator::Thread *);
  emulator::CodeFacts facts;
};
} // namespace tilery::cuda

namespace tilery::emulator::driver {
namespace {
enum { InvalidValue = 1, OutOfMemory = 2, NoBinary = 209, NotFound = 500, LaunchFailed = 719 };
enum { ClockRate = 13, Processors = 16, MemoryClock = 36, MemoryBits = 37 }; // attributes of devices
enum { Major = 75, Minor = 76, RegistersOfAll = 82, SharedBytes = 97 };
enum { MaxThreads = 0, Registers = 4 }; // of functions
constexpr size_t alignment = 256;

cuda::ContextTag context;
Context current = nullptr;
std::string failure; // of the last launch that failed

/// The bytes of an object whose beginning is known.
std::string_view objectAt(const void *data) {
  Elf64_Ehdr header;
  std::memcpy(&header, data, sizeof header);
  const char *bytes = static_cast<const char *>(data);
  uint64_t end = header.e_shoff + uint64_t(header.e_shnum) * header.e_shentsize;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, bytes + header.e_shoff + uint64_t(i) * header.e_shentsize, sizeof section);
    if (section.sh_type != SHT_NOBITS)
      end = std::max(end, section.sh_offset + section.sh_size);
  }
  return {bytes, end};
}

/// A tensor map, in the 128 bytes that it has.
struct Described {
  char *base;
  uint64_t extents[5], strides[4];
  uint16_t box[5];
  uint8_t rank, swizzle;
  DType dtype;

  TensorMap bytes() const {
    TensorMap map{};
    static_assert(sizeof *this <= sizeof map);
    std::memcpy(&map, this, sizeof *this);
    return map;
  }
  static emulator::TensorMap read(const void *bytes) {
    Described map;
    std::memcpy(&map, bytes, sizeof map);
    uint32_t box[5];
    std::copy(map.box, map.box + 5, box);
    return {map.base, map.dtype, map.swizzle, map.rank, map.extents, map.strides, box};
  }
};

DType dtypeOf(int type) { // CUtensorMapDataType
  const DType types[] = {DType::U8,  DType::U16, DType::U32, DType::I32, DType::U64,
                         DType::I64, DType::F16, DType::F32, DType::F64, DType::BF16};
  return types[type];
}

int launch(const LaunchConfig &config, unsigned cluster, const cuda::FunctionTag &function, void **parameters) {
  const CodeFacts &facts = function.facts;
  std::vector<emulator::TensorMap> maps;
  for (unsigned i = 0; i < facts.maps; ++i)
    maps.push_back(Described::read(*parameters++));
  std::vector<uint64_t> slots;
  for (unsigned i = 0; i < facts.arguments; ++i)
    slots.push_back(*static_cast<const uint64_t *>(*parameters++));
  Launch launch{function.entry,  config.block[0],      config.sharedBytes, cluster,
                facts.registers, facts.workspaceBytes, settings().timing,  settings().watches};
  Thread &like = launch.like;
  like.slots = slots.data();
  like.maps = maps.data();
  like.blocks = config.grid[0];
  for (uint32_t &extent : like.grid)
    extent = *static_cast<const uint32_t *>(*parameters++);
  if (facts.workspaceBytes)
    like.workspace = *static_cast<char **>(*parameters++);
  if (facts.reports)
    like.reports = *static_cast<char **>(*parameters++);
  failure = run(launch);
  return failure.empty() ? 0 : LaunchFailed;
}
} // namespace

// -- the device
int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int *version) { return *version = 13000, 0; }
int cuDeviceGetCount(int *count) { return *count = 1, 0; }
int cuDeviceGet(Device *device, int number) { return *device = number, 0; }
int cuDeviceGetName(char *name, int size, Device) {
  return std::snprintf(name, size_t(size), "emulated %s", settings().target.arch().c_str()), 0;
}
int cuDeviceGetAttribute(int *value, int which, Device) {
  const cuda::CudaTarget &target = settings().target;
  *value = which == Major            ? target.sm / 10
           : which == Minor          ? target.sm % 10
           : which == Processors     ? settings().processors
           : which == SharedBytes    ? target.sharedBytes
           : which == RegistersOfAll ? 65536
           : which == ClockRate      ? 1'755'000 // an H100's
           : which == MemoryClock    ? 2'619'000
           : which == MemoryBits     ? 5120
                                     : 0;
  return 0;
}
int cuDevicePrimaryCtxRetain(Context *to, Device) { return *to = &context, 0; }
int cuCtxGetCurrent(Context *to) { return *to = current, 0; }
int cuCtxSetCurrent(Context to) { return current = to, 0; }
int cuCtxGetDevice(Device *device) { return *device = 0; }

// -- code
int cuModuleLoadDataEx(ModuleHandle *module, const void *data, unsigned, int *, void **) {
  if (std::memcmp(data, ELFMAG, SELFMAG))
    return NoBinary; // PTX
  *module = new cuda::ModuleTag(objectAt(data));
  return 0;
}
int cuModuleUnload(ModuleHandle module) { return delete module, 0; }
int cuModuleGetFunction(Function *function, ModuleHandle module, const char *name) {
  auto entry = reinterpret_cast<void (*)(Thread *)>(module->code.find(name));
  *function =
      entry ? &module->functions.try_emplace(name, cuda::FunctionTag{entry, factsOf(module->code, name)}).first->second : nullptr;
  return entry ? 0 : NotFound;
}
int cuFuncSetAttribute(Function, int, int) { return 0; }
int cuFuncGetAttribute(int *value, int which, Function function) {
  return *value = which == MaxThreads ? 1024 : which == Registers ? int(function->facts.registers) : 0, 0;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Function, int, size_t) { return *blocks = 1, 0; }
int cuOccupancyMaxActiveClusters(int *clusters, Function, const LaunchConfig *config) {
  return *clusters = int(settings().processors / config->attributes[0].cluster[0]), 0;
}

// -- launches
int cuLaunchKernel(Function function, unsigned x, unsigned, unsigned, unsigned threads, unsigned, unsigned, unsigned shared,
                   Stream, void **parameters, void **) {
  LaunchConfig config;
  config.grid[0] = x, config.block[0] = threads, config.sharedBytes = shared;
  return launch(config, 1, *function, parameters);
}
int cuLaunchKernelEx(const LaunchConfig *config, Function function, void **parameters, void **) {
  unsigned cluster = 1;
  for (unsigned i = 0; i < config->attributeCount; ++i)
    if (config->attributes[i].id == LaunchAttribute::ClusterDimension)
      cluster = config->attributes[i].cluster[0];
  return launch(*config, cluster, *function, parameters);
}
int cuTensorMapEncodeTiled(TensorMap *map, int type, unsigned rank, void *base, const uint64_t *extents, const uint64_t *strides,
                           const uint32_t *box, const uint32_t *, int, int swizzle, int, int) {
  Described made{static_cast<char *>(base), {}, {}, {}, uint8_t(rank), uint8_t(swizzle ? 16 << swizzle : 0), dtypeOf(type)};
  bool takes = reinterpret_cast<uintptr_t>(base) % 16 == 0 && base;
  for (unsigned d = 0; d < rank; ++d) {
    made.extents[d] = extents[d], made.box[d] = uint16_t(box[d]);
    takes &= extents[d] >= 1 && extents[d] <= uint64_t(1) << 32 && box[d] >= 1 && box[d] <= 256;
  }
  for (unsigned d = 0; d + 1 < rank; ++d) {
    made.strides[d] = strides[d];
    takes &= strides[d] % 16 == 0 && strides[d] < uint64_t(1) << 40;
  }
  if (!takes)
    return InvalidValue;
  *map = made.bytes();
  return 0;
}

// -- memory
int cuMemAlloc_v2(Address *address, size_t bytes) {
  void *memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  *address = reinterpret_cast<Address>(memory);
  return memory ? 0 : OutOfMemory;
}
int cuMemFree_v2(Address address) { return std::free(reinterpret_cast<void *>(address)), 0; }
int cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, Stream) {
  return std::memcpy(reinterpret_cast<void *>(to), from, bytes), 0;
}
int cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, Stream) {
  return std::memcpy(to, reinterpret_cast<const void *>(from), bytes), 0;
}
int cuMemsetD8Async(Address to, unsigned char byte, size_t bytes, Stream) {
  return std::memset(reinterpret_cast<void *>(to), byte, bytes), 0;
}
int cuStreamSynchronize(Stream) { return 0; }
int cuThreadExchangeStreamCaptureMode(int *) { return 0; }

int cuGetErrorName(int result, const char **name) {
  *name = result == InvalidValue   ? "CUDA_ERROR_INVALID_VALUE"
          : result == OutOfMemory  ? "CUDA_ERROR_OUT_OF_MEMORY"
          : result == NoBinary     ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
          : result == LaunchFailed ? "CUDA_ERROR_LAUNCH_FAILED"
                                   : "CUDA_ERROR_NOT_FOUND";
  return 0;
}
int cuGetErrorString(int result, const char **text) {
  return *text = result == LaunchFailed ? failure.c_str() : "the emulated GPU does not take it", 0;
}

} // namespace tilery::emulator::driver
