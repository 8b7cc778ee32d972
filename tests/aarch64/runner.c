/* Calls entries of bundles as it is told on stdin, and says on stdout what came out: the other end is tests/aarch64/machine.py, or
   tests/fuzz/remote.cpp. A request: the bytes of a bundle (none: the last one again), an entry, a grid (all -1: none), memories, arguments. An
   answer: the error's text, if there is one, and the memories. Numbers are of 64 bits, little-endian on both ends. */
#include "tilery/aot.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take(void *to, size_t bytes) {
  if (fread(to, 1, bytes, stdin) != bytes)
    exit(0); /* nobody asks any more */
}
static uint64_t number(void) {
  uint64_t value;
  take(&value, sizeof value);
  return value;
}
static void say(const void *from, size_t bytes) {
  if (fwrite(from, 1, bytes, stdout) != bytes)
    exit(1);
}
static void *allocated(size_t bytes) {
  void *memory = aligned_alloc(64, (bytes + 127) / 64 * 64);
  if (!memory)
    abort();
  return memory;
}

/* Where tensors lie. `apart`: bytes from a multiple of 64, as where it came from. */
struct Memory {
  char *all;
  uint64_t apart, bytes;
};

static void takeMemory(struct Memory *memory) {
  memory->apart = number();
  memory->bytes = number();
  memory->all = allocated(memory->apart + memory->bytes);
  take(memory->all + memory->apart, memory->bytes);
}

/* A number: rank -1, its bytes. A tensor: rank, number of its memory, bytes from there to element 0, extents, strides in elements. What it
   points to is one allocation. */
static void *takeArgument(TileryArgument *argument, const struct Memory *memories) {
  int64_t rank = (int64_t)number();
  if (rank < 0) {
    argument->data = allocated(8);
    argument->shape = argument->strides = 0;
    take(argument->data, 8);
    return argument->data;
  }
  const struct Memory *memory = &memories[number()];
  argument->data = memory->all + memory->apart + number();
  int64_t *extents = allocated((size_t)rank * 16);
  take(extents, (size_t)rank * 16);
  argument->shape = extents;
  argument->strides = extents + rank;
  return extents;
}

int main(void) {
  TileryBundle *bundle = 0;
  void *bytes = 0;
  uint64_t size = 0;
  for (;;) {
    uint64_t fresh = number();
    if (fresh) {
      tilery_aot_close(&bundle);
      free(bytes);
      bytes = allocated(size = fresh);
      take(bytes, size);
    }
    uint64_t entry = number();
    int64_t grid[3];
    take(grid, sizeof grid);
    uint64_t held = number();
    struct Memory *memories = allocated(held * sizeof *memories);
    for (uint64_t i = 0; i < held; ++i)
      takeMemory(&memories[i]);
    uint64_t count = number();
    TileryArgument *arguments = allocated(count * sizeof *arguments);
    void **owned = allocated(count * sizeof *owned);
    for (uint64_t i = 0; i < count; ++i)
      owned[i] = takeArgument(&arguments[i], memories);
    int result =
        tilery_aot_call(&bundle, bytes, size, (uint32_t)entry, arguments, (uint32_t)count, grid[0] < 0 ? 0 : grid, TILERY_CPU, 0);
    const char *message = result ? tilery_aot_error() : "";
    uint64_t length = strlen(message);
    say(&length, sizeof length);
    say(message, length);
    for (uint64_t i = 0; i < held; ++i) {
      say(memories[i].all + memories[i].apart, memories[i].bytes);
      free(memories[i].all);
    }
    fflush(stdout);
    for (uint64_t i = 0; i < count; ++i)
      free(owned[i]);
    free(owned);
    free(arguments);
    free(memories);
  }
}
