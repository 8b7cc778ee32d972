"""A C program calls a kernel that was compiled ahead of time, with the driver as all it shares with CUDA."""

import pytest
from c_programs import needs_compiler, run_c

from tilery import ninetoothed
from tilery.ninetoothed import Tensor

MAIN = r"""
#include "scaled.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* The functions of the driver that a program has at hand which uses a GPU. */
static void *driver;
static int (*of(const char *name))() { return (int (*)())dlsym(driver, name); }
static void must(int result, const char *what) {
  if (result) printf("%s: %d\n", what, result), exit(1);
}

enum { Rows = 70, Columns = 90, Wide = 100 };

int main(void) {
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) return puts("no driver"), 1;
  must(((int (*)(unsigned))of("cuInit"))(0), "cuInit");
  void *context = 0, *stream = 0;
  must(((int (*)(void **, int))of("cuDevicePrimaryCtxRetain"))(&context, 0), "cuDevicePrimaryCtxRetain");
  must(((int (*)(void *))of("cuCtxSetCurrent"))(context), "cuCtxSetCurrent");
  must(((int (*)(void **, unsigned))of("cuStreamCreate"))(&stream, 1), "cuStreamCreate");
  static float x[Rows * Wide], y[Rows * Columns];
  for (int i = 0; i < Rows * Wide; ++i) x[i] = (float)i;
  uint64_t there[2];
  int (*allocate)(uint64_t *, size_t) = (int (*)(uint64_t *, size_t))of("cuMemAlloc_v2");
  must(allocate(&there[0], sizeof x) | allocate(&there[1], sizeof y), "cuMemAlloc");
  must(((int (*)(uint64_t, const void *, size_t, void *))of("cuMemcpyHtoDAsync_v2"))(there[0], x, sizeof x, stream), "copy");

  uint64_t shape[] = {Rows, Columns}, other[] = {Rows, 64};
  int64_t wide[] = {Wide, 1}, dense[] = {Columns, 1};
  double scale = 2;
  NineToothedTensor tx = {(void *)there[0], shape, wide}, ts = {&scale, 0, 0}, ty = {(void *)there[1], shape, dense};
  NineToothedTensor small = {(void *)there[1], other, dense};
  printf("%d ", launch_scaled(stream, tx, ts, ty));
  must(((int (*)(void *, uint64_t, size_t, void *))of("cuMemcpyDtoHAsync_v2"))(y, there[1], sizeof y, stream), "copy");
  must(((int (*)(void *))of("cuStreamSynchronize"))(stream), "cuStreamSynchronize");
  int wrong = 0;
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < Columns; ++j) wrong += y[i * Columns + j] != 2 * x[i * Wide + j] + 1;
  printf("%d ", wrong);
  printf("%d\n", launch_scaled(stream, tx, ts, small));
  printf("%s\n", tilery_aot_error());
  return 0;
}
"""


def arrangement(x, scale, y):
    return x.tile((64, 64)), scale, y.tile((64, 64))


def scaled(x, scale, y):
    y = x * scale + 1  # noqa: F841


@pytest.mark.gpu(emulated=False)
@needs_compiler
def test_ninetoothed(tmp_path):
    tensors = [Tensor(ndim, dtype=ninetoothed.float32) for ndim in (2, 0, 2)]
    ninetoothed.make(arrangement, scaled, tensors, caller="cuda", kernel_name="scaled", output_dir=tmp_path)
    first, message = run_c(tmp_path, ["scaled"], MAIN).splitlines()
    assert first == "0 0 2" and "arranged for different grids" in message
