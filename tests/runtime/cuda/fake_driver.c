// A libcuda.so.1 that runs nothing: it counts calls, remembers the last launch, and fails as told. For tests without a GPU.
// What has no effect here comes from defaults.cpp.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
enum { Devices = 2, Names = 64 };

static struct {
  char name[48];
  int calls, result; // every call gives this result
} functions[Names];
static int current; // context: the device's number + 1
static int sm = 90, shared_bytes = 232448, max_threads = 1024;
static const char *log_line = "";

typedef struct {
  int device, blocks, threads, shared;
  void *stream;
  int cluster, programmatic, cooperative; // 0: no attribute
  uint64_t parameter;                     // the one that is watched
} Launch;
static Launch last;
static int watched = -1;
static uint64_t next_address = 256, allocated; // where the next memory will lie, bytes of the last one

typedef struct {
  int type, rank, swizzle;
  uint64_t address, extents[5], strides[4];
  uint32_t box[5];
} Described;
static Described described;

static int at(const char *name) {
  int i = 0;
  while (functions[i].name[0] && strcmp(functions[i].name, name))
    ++i;
  if (!functions[i].name[0])
    snprintf(functions[i].name, sizeof functions[i].name, "%s", name);
  return i;
}
static pid_t owner; // the process that has started the driver: it serves no other
int fake_called(const char *name) {
  int i = at(name);
  ++functions[i].calls;
  if (!strcmp(name, "cuInit") && !owner)
    owner = getpid();
  return owner == getpid() ? functions[i].result : 3; // CUDA_ERROR_NOT_INITIALIZED
}

// What tests ask and tell.
EXPORT int fake_calls(const char *name) { return functions[at(name)].calls; }
EXPORT void fake_fail(const char *name, int result) { functions[at(name)].result = result; }
EXPORT void fake_device(int compute, int shared, int threads) { sm = compute, shared_bytes = shared, max_threads = threads; }
EXPORT void fake_log(const char *line) { log_line = line; }
EXPORT int fake_current(void) { return current - 1; }
EXPORT void fake_enter(int device) { current = device + 1; }
EXPORT Launch *fake_launch(void) { return &last; }
EXPORT void fake_watch(int parameter) { watched = parameter; }
EXPORT uint64_t fake_allocated(void) { return allocated; }
EXPORT Described *fake_described(void) { return &described; }

#define F(name, ...) EXPORT int name(__VA_ARGS__)
F(cuDriverGetVersion, int *version) { return *version = 13000, fake_called("cuDriverGetVersion"); }
F(cuDeviceGetCount, int *count) { return *count = Devices, fake_called("cuDeviceGetCount"); }
F(cuDeviceGet, int *device, int number) { return *device = number, fake_called("cuDeviceGet"); }
F(cuDeviceGetName, char *name, int size, int device) {
  snprintf(name, (size_t)size, "Fake GPU");
  return fake_called("cuDeviceGetName");
}
F(cuDeviceGetAttribute, int *value, int which, int device) {
  *value = which == 75 ? sm / 10 : which == 76 ? sm % 10 : which == 16 ? 132 : which == 97 ? shared_bytes : 0;
  return fake_called("cuDeviceGetAttribute");
}
F(cuDevicePrimaryCtxRetain, uintptr_t *context, int device) {
  return *context = (uintptr_t)device + 1, fake_called("cuDevicePrimaryCtxRetain");
}
F(cuCtxGetCurrent, uintptr_t *context) { return *context = (uintptr_t)current, fake_called("cuCtxGetCurrent"); }
F(cuCtxSetCurrent, uintptr_t context) { return current = (int)context, fake_called("cuCtxSetCurrent"); }
F(cuCtxGetDevice, int *device) { return *device = current - 1, fake_called("cuCtxGetDevice"); }
F(cuModuleLoadDataEx, uintptr_t *module, const void *data, unsigned count, int *options, void **values) {
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == 3 || options[i] == 5) // the logs
      strcpy(values[i], options[i] == 3 ? log_line : functions[at("cuModuleLoadDataEx")].result ? "line 1; fake error" : "");
  if (memcmp(data, "\177ELF", 4))
    fake_called("assembling in the driver");
  return *module = 1, fake_called("cuModuleLoadDataEx");
}
F(cuModuleGetFunction, uintptr_t *function, uintptr_t module, const char *name) {
  return *function = 1, fake_called("cuModuleGetFunction");
}
F(cuModuleGetGlobal_v2, uint64_t *address, size_t *size, uintptr_t module, const char *name) {
  return *address = 0, *size = 0, fake_called("cuModuleGetGlobal_v2");
}
F(cuFuncGetAttribute, int *value, int which, uintptr_t function) {
  return *value = which == 0 ? max_threads : which == 4 ? 168 : 0, fake_called("cuFuncGetAttribute");
}
F(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *blocks, uintptr_t function, int threads, size_t shared) {
  return *blocks = 2, fake_called("cuOccupancyMaxActiveBlocksPerMultiprocessor");
}
F(cuLaunchKernel, uintptr_t function, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty, unsigned tz, unsigned shared,
  void *stream, void **parameters, void **extra) {
  last = (Launch){current - 1, (int)x, (int)tx, (int)shared, stream};
  if (watched >= 0)
    memcpy(&last.parameter, parameters[watched], sizeof last.parameter);
  return fake_called("cuLaunchKernel");
}
typedef struct {
  int id, padding;
  union {
    char bytes[64];
    unsigned cluster[3];
    int programmatic, cooperative;
  } value;
} Attribute;
typedef struct {
  unsigned grid[3], block[3], shared;
  void *stream;
  Attribute *attributes;
  unsigned count;
} Config;
F(cuLaunchKernelEx, const Config *config, uintptr_t function, void **parameters, void **extra) {
  last = (Launch){current - 1, (int)config->grid[0], (int)config->block[0], (int)config->shared, config->stream};
  for (unsigned i = 0; i < config->count; ++i) {
    if (config->attributes[i].id == 4)
      last.cluster = (int)config->attributes[i].value.cluster[0];
    if (config->attributes[i].id == 2)
      last.cooperative = config->attributes[i].value.cooperative;
    if (config->attributes[i].id == 6)
      last.programmatic = config->attributes[i].value.programmatic;
  }
  return fake_called("cuLaunchKernelEx");
}
F(cuOccupancyMaxActiveClusters, int *clusters, uintptr_t function, const Config *config) {
  return *clusters = 120 / (int)config->attributes[0].value.cluster[0], fake_called("cuOccupancyMaxActiveClusters");
}
F(cuTensorMapEncodeTiled, void *map, int type, unsigned rank, void *address, const uint64_t *extents, const uint64_t *strides,
  const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion, int fill) {
  memset(map, 0, 128);
  described = (Described){.type = type, .rank = (int)rank, .swizzle = swizzle, .address = (uint64_t)address};
  memcpy(described.extents, extents, rank * sizeof *extents);
  memcpy(described.strides, strides, (rank - 1) * sizeof *strides);
  memcpy(described.box, box, rank * sizeof *box);
  return fake_called("cuTensorMapEncodeTiled");
}
F(cuMemAlloc_v2, uint64_t *address, size_t size) {
  *address = next_address, allocated = size, next_address += (size + 255) / 256 * 256;
  return fake_called("cuMemAlloc_v2");
}
F(cuMemcpyHtoDAsync_v2, uint64_t to, const void *from, size_t size, void *stream) { return fake_called("cuMemcpyHtoDAsync_v2"); }
F(cuGetErrorName, int result, const char **name) {
  static char text[32];
  snprintf(text, sizeof text, "CUDA_ERROR_%d", result);
  return *name = text, 0;
}
F(cuGetErrorString, int result, const char **text) { return *text = "the fake driver was told to fail", 0; }
