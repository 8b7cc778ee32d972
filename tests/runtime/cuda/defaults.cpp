// Every function that the runtime takes from the driver, for those that fake_driver.c leaves out: counted, without an effect.
#include "runtime/cuda/driver.h"

using namespace tilery::cuda;

extern "C" int fake_called(const char *name);

#define F(name, ...)                                                                                                             \
  extern "C" __attribute__((weak, visibility("default"))) int name(__VA_ARGS__) { return fake_called(#name); }
TILERY_CUDA_FUNCTIONS(F)
