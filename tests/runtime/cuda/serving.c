// Calls a bundle's first entry on a GPU, on streams of its own, and closes it, many times.
// usage: serving FAKE_DRIVER FAKE_PTX_COMPILER BUNDLE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <tilery/aot.h>

typedef struct {
  int device, blocks, threads, shared;
  void *stream;
} Launch;

static char bytes[1 << 20];
static uint64_t size;

static void must(int holds, const char *what) {
  if (!holds)
    fprintf(stderr, "not true: %s; %s\n", what, tilery_aot_error()), exit(1);
}

static void call(TileryBundle **bundle, int device, void *stream) {
  int32_t n = 1003;
  TileryArgument arguments[] = {{(void *)4096, 0, 0}, {(void *)8192, 0, 0}, {(void *)16384, 0, 0}, {&n, 0, 0}};
  const int64_t grid[] = {4, 1, 1};
  must(tilery_aot_call(bundle, bytes, size, 0, arguments, 4, grid, device, stream) == TILERY_OK, "the call is made");
}

int main(int count, char **given) {
  must(count == 4, "three arguments");
  void *driver = dlopen(given[1], RTLD_NOW), *compiler = dlopen(given[2], RTLD_NOW);
  must(driver && compiler, "the fakes are loaded");
  int (*calls)(const char *) = (int (*)(const char *))dlsym(driver, "fake_calls");
  void (*enter)(int) = (void (*)(int))dlsym(driver, "fake_enter");
  int (*current)(void) = (int (*)(void))dlsym(driver, "fake_current");
  const Launch *launch = ((Launch * (*)(void)) dlsym(driver, "fake_launch"))();
  FILE *file = fopen(given[3], "rb");
  size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  enter(0);
  for (intptr_t i = 1; i <= 1000; ++i) {
    TileryBundle *bundle = 0;
    call(&bundle, 1, (void *)i);
    must(launch->device == 1 && launch->blocks == 4 && launch->stream == (void *)i, "it runs where it was told to");
    call(&bundle, 1, (void *)(i + 7));
    must(launch->stream == (void *)(i + 7), "each call has its stream");
    must(current() == 0, "the thread's context stays");
    must(calls("cuModuleLoadDataEx") == i, "code is loaded once");
    tilery_aot_close(&bundle);
    must(calls("cuModuleUnload") == i && !bundle, "and let go");
  }
  TileryBundle *bundle = 0;
  enter(1);
  call(&bundle, TILERY_CURRENT_GPU, 0);
  must(launch->device == 1 && !launch->stream, "the GPU of the thread's context");
  must(calls("cuMemAlloc_v2") == calls("cuMemFree_v2"), "no memory is left");
  must(!calls("cuStreamSynchronize") && !calls("cuCtxSynchronize"), "nothing waits");
  return 0;
}
