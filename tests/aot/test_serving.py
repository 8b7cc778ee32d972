"""Bundles that a C program loads at run time, calls from threads, and closes, many times: nothing is left behind."""

import pytest
import torch
from c_programs import needs_compiler, run_c

from tilery import aot, tilelang, tileon
from tilery.tilelang import language as T
from tilery.tileon import language as tl


@tileon.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


@tilelang.jit
def scale_of(n: int):
    @T.prim_func
    def scale(x: T.Tensor((n,), "float32"), y: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, 128), threads=128) as block:
            for i in T.Parallel(128):
                y[block * 128 + i] = x[block * 128 + i] * 3

    return scale


@pytest.fixture
def bundle(tmp_path):
    x, y, out = (torch.zeros(1003) for _ in range(3))
    kernel = scale_of(256)
    kernel(torch.zeros(256), torch.zeros(256))
    added = aot.entry_of("add", add_kernel[(1,)](x, y, out, 1003, BLOCK=256).image())
    aot.write(tmp_path, "both", [added, aot.entry_of("scale", kernel._last.image())])
    return tmp_path


COMMON = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <tilery/aot.h>

enum { N = 1003 };
static char bytes[1 << 20];
static uint64_t size;

static void read_bundle(void) {
  FILE *file = fopen("both.tilery", "rb");
  size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
  if (file) fclose(file);
}

/* Calls both entries; how much of what they gave is wrong. `first` makes the numbers those of one caller. */
static int wrong(TileryBundle **bundle, int first) {
  _Alignas(64) float x[N], y[N], out[N], scaled[256];
  for (int i = 0; i < N; ++i) x[i] = (float)(first + i), y[i] = (float)(2 * i), out[i] = -1;
  int32_t n = N;
  int64_t extents[] = {256}, strides[] = {1}, grid[] = {4, 1, 1};
  TileryArgument added[] = {{x, 0, 0}, {y, 0, 0}, {out, 0, 0}, {&n, 0, 0}};
  TileryArgument tripled[] = {{x, extents, strides}, {scaled, extents, strides}};
  int sum = tilery_aot_call(bundle, bytes, size, 0, added, 4, grid, TILERY_CPU, 0) != TILERY_OK;
  sum += tilery_aot_call(bundle, bytes, size, 1, tripled, 2, 0, TILERY_CPU, 0) != TILERY_OK;
  for (int i = 0; i < N; ++i) sum += out[i] != (float)(first + 3 * i);
  for (int i = 0; i < 256; ++i) sum += scaled[i] != (float)(3 * (first + i));
  return sum;
}
"""


@needs_compiler
def test_1000_loads_leave_nothing(bundle):
    text = run_c(
        bundle,
        [],
        COMMON
        + r"""
static int entries(const char *folder) {
  int count = 0;
  DIR *d = opendir(folder);
  while (readdir(d)) ++count;
  closedir(d);
  return count;
}
static int mappings(void) {
  int count = 0, c;
  FILE *file = fopen("/proc/self/maps", "r");
  while ((c = fgetc(file)) != EOF) count += c == '\n';
  fclose(file);
  return count;
}
int main(void) {
  read_bundle();
  int sum = 0, maps = 0, files = 0, threads = 0;
  size_t used = 0;
  for (int i = 0; i < 1020; ++i) {
    if (i == 20)
      maps = mappings(), files = entries("/proc/self/fd"), threads = entries("/proc/self/task"), used = mallinfo2().uordblks;
    TileryBundle *bundle = 0;
    sum += wrong(&bundle, i) + (bundle == 0);
    tilery_aot_close(&bundle);
    sum += bundle != 0;
    tilery_aot_close(&bundle);
  }
  long left = (long)(mallinfo2().uordblks - used);
  printf("%d %d %d %d %d", sum, left >= 0 && left < 1000 ? 0 : (int)left, mappings() - maps, entries("/proc/self/fd") - files,
         entries("/proc/self/task") - threads);
  return 0;
}
""",
        TILERY_NUM_THREADS="1",  # a second thread has an arena of its own, from some call on
    )
    assert text == "0 0 0 0 0"  # wrong numbers, bytes, mappings, files, threads


@needs_compiler
@pytest.mark.parametrize("threads", ["1", "3"])
def test_threads_share_bundles_and_have_their_own(bundle, threads):
    text = run_c(
        bundle,
        [],
        COMMON
        + r"""
static TileryBundle *shared;
static void *serve(void *number) {
  int sum = 0, first = (int)(intptr_t)number;
  for (int i = 0; i < 60; ++i) {
    TileryBundle *own = 0;
    sum += wrong(&shared, first + i) + wrong(&own, first - i);
    tilery_aot_close(&own);
  }
  uint32_t none[3] = {0};
  sum += tilery_aot_call(&shared, bytes, size, 1, 0, 0, 0, TILERY_CPU, none) != TILERY_ERROR;
  sum += !strstr(tilery_aot_error(), "takes 2 arguments, got 0");
  return (void *)(intptr_t)(sum + wrong(&shared, first));
}
int main(void) {
  read_bundle();
  pthread_t threads[8];
  intptr_t sum = 0;
  for (int i = 0; i < 8; ++i) pthread_create(&threads[i], 0, serve, (void *)(intptr_t)(1000 * i));
  for (int i = 0; i < 8; ++i) {
    void *one;
    pthread_join(threads[i], &one);
    sum += (intptr_t)one;
  }
  tilery_aot_close(&shared);
  printf("%d", (int)sum);
  return 0;
}
""",
        TILERY_NUM_THREADS=threads,
    )
    assert text == "0"


@needs_compiler
def test_wrong_calls_say_why(bundle):
    text = run_c(
        bundle,
        [],
        COMMON
        + r"""
static float x[N];
static int32_t n = N;
static TileryBundle *bundle;

static void call(uint32_t entry, int32_t *number, int64_t width, int device) {
  TileryArgument arguments[] = {{x, 0, 0}, {x, 0, 0}, {x, 0, 0}, {number, 0, 0}};
  int64_t grid[] = {width, 1, 1};
  int result = tilery_aot_call(&bundle, bytes, size, entry, arguments, 4, grid, device, 0);
  printf("%d %s\n", result, result ? tilery_aot_error() : "");
}

int main(void) {
  read_bundle();
  call(5, &n, 4, TILERY_CPU);
  call(0, &n, 4, -7);
  call(0, &n, -1, TILERY_CPU);
  call(0, &n, 0, TILERY_CPU);
  call(0, 0, 4, TILERY_CPU);
  tilery_aot_close(&bundle);
  return wrong(&bundle, 0);
}
""",
    )
    assert text.splitlines() == [
        "2 the bundle has 2 entries, got entry number 5",
        "2 device -7 is none: a GPU's number, TILERY_CPU (-1) or TILERY_CURRENT_GPU (-2)",
        "2 the extents of add's grid must not be negative, got -1, 1, 1",
        "0 ",
        "2 argument 'n' of add is a number, which its data points to; got null",
    ]


@needs_compiler
def test_nulls_are_refused(bundle):
    text = run_c(
        bundle,
        [],
        COMMON
        + r"""
static void call(TileryBundle **place, const void *from, uint32_t entry, const TileryArgument *arguments, uint32_t count,
                 const int64_t *grid) {
  int result = tilery_aot_call(place, from, size, entry, arguments, count, grid, TILERY_CPU, 0);
  printf("%d %s\n", result, result ? tilery_aot_error() : "");
}

int main(void) {
  read_bundle();
  static float x[N];
  int32_t n = N;
  TileryBundle *bundle = 0;
  int64_t extents[] = {256}, strides[] = {1}, none[] = {0}, below[] = {-256}, grid[] = {4, 1, 1}, empty[] = {0, 1, 1};
  TileryArgument added[] = {{x, 0, 0}, {0, 0, 0}, {x, 0, 0}, {&n, 0, 0}}, full = {x, extents, strides};
  call(0, bytes, 0, added, 4, grid);
  call(&bundle, 0, 0, added, 4, grid);
  call(&bundle, bytes, 0, 0, 4, grid);
  call(&bundle, bytes, 0, added, 4, 0);
  call(&bundle, bytes, 0, added, 4, grid);
  call(&bundle, bytes, 0, added, 4, empty);
  call(&bundle, bytes, 0, added, 4000000000u, grid);
  TileryArgument nulls[] = {{x, 0, 0}, {x, extents, 0}, {x, 0, strides}, {0, extents, strides},
                            {x, below, strides}, {0, none, strides}};
  for (int i = 0; i < 6; ++i) {
    TileryArgument scaled[] = {full, nulls[i]};
    call(&bundle, bytes, 1, scaled, 2, 0);
  }
  tilery_aot_close(&bundle);
  tilery_aot_close(0);
  return wrong(&bundle, 0);
}
""",
    )
    refused = "2 argument 'y' of scale is a tensor of 1 dimension; its "
    lines = text.splitlines()
    assert lines[:-1] == [
        "2 the bundle's place is null: give the address of a TileryBundle *, which is null before the first call",
        "2 the bundle's bytes are null",
        "2 the arguments of add are null",
        "2 add needs a grid of three extents",
        "2 argument 'y_ptr' of add is a pointer; it is null (where the kernel does not touch it, any other address does)",
        "0 ",
        "2 add takes 4 arguments, got 4000000000",
        refused + "shape is null",
        refused + "strides are null (rows that lie one behind the other have 1)",
        refused + "shape is null",
        refused + "data is null",
        refused + "shape is -256",
    ]
    assert lines[-1].startswith("2 ") and "256" in lines[-1]  # no elements: another shape than it was compiled for


@needs_compiler
def test_damage_is_an_error(bundle):
    """Cut off anywhere, or with a bit that is another one, machine code included."""
    text = run_c(
        bundle,
        [],
        COMMON
        + r"""
static int accepted(uint64_t length) {
  TileryBundle *bundle = 0;
  float x[256] = {0};
  int64_t extents[] = {256}, strides[] = {1};
  TileryArgument tripled[] = {{x, extents, strides}, {x, extents, strides}};
  int result = tilery_aot_call(&bundle, bytes, length, 1, tripled, 2, 0, TILERY_CPU, 0);
  tilery_aot_close(&bundle);
  return result != TILERY_ERROR;
}

int main(void) {
  read_bundle();
  int sum = 0;
  for (uint64_t length = 0; length < size; length += 97) sum += accepted(length);
  for (uint64_t at = 0; at < size; at += 61) {
    bytes[at] ^= 0x10;
    sum += accepted(size);
    bytes[at] ^= 0x10;
  }
  TileryBundle *whole = 0;
  printf("%d %d %s\n", sum, wrong(&whole, 0), tilery_aot_error());
  tilery_aot_close(&whole);
  return 0;
}
""",
    )
    assert text == "0 0 the compiled code is damaged\n"
