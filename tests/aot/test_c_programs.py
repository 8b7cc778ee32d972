"""Bundles called from C, by programs that link the runtime library alone."""

from pathlib import Path

import numpy as np
import pytest
import torch
from c_programs import IS_HERE, MISSING, needs_compiler, run_c

from tilery import aot, ninetoothed, tilelang, tileon
from tilery.ninetoothed import Tensor
from tilery.ninetoothed.aot import aot as compile_ahead
from tilery.tilelang import language as T
from tilery.tileon import language as tl


def arrangement(x, scale, y):
    return x.tile((64, 64)), scale, y.tile((64, 64))


def scaled(x, scale, y):
    y = x * scale + 1  # noqa: F841


TENSORS = (
    Tensor(2, dtype=ninetoothed.float32),
    Tensor(0, dtype=ninetoothed.float32),
    Tensor(2, dtype=ninetoothed.float32),
)


@needs_compiler
def test_ninetoothed(tmp_path):
    kernel = ninetoothed.make(arrangement, scaled, TENSORS, caller="cpu", kernel_name="scaled", output_dir=tmp_path)
    text = run_c(
        tmp_path,
        ["scaled"],
        r"""
#include "scaled.h"
#include <stdio.h>
int main(void) {
  static float x[70 * 100], y[70 * 90];
  for (int i = 0; i < 70 * 100; ++i) x[i] = (float)i;
  uint64_t shape[] = {70, 90};
  int64_t wide[] = {100, 1}, dense[] = {90, 1};
  double scale = 2;
  NineToothedTensor tx = {x, shape, wide}, ts = {&scale, 0, 0}, ty = {y, shape, dense};
  int result = launch_scaled(0, tx, ts, ty), wrong = 0;
  for (int i = 0; i < 70; ++i)
    for (int j = 0; j < 90; ++j) wrong += y[i * 90 + j] != 2 * x[i * 100 + j] + 1;
  uint64_t other[] = {70, 64};
  NineToothedTensor small = {y, other, dense};
  int refused = launch_scaled(0, tx, ts, small);
  printf("%d %d %d\n%s\n", result, wrong, refused, tilery_aot_error());
  NineToothedTensor nulls[] = {{y, 0, 0}, {y, shape, 0}, {0, shape, dense}};
  for (int i = 0; i < 3; ++i) {
    result = launch_scaled(0, tx, ts, nulls[i]);
    printf("%d %s\n", result, tilery_aot_error());
  }
  result = launch_scaled(0, tx, (NineToothedTensor){0, 0, 0}, ty);
  printf("%d %s\n", result, tilery_aot_error());
  uint64_t shorter[] = {70, 89};
  result = launch_scaled(0, tx, ts, (NineToothedTensor){y, shorter, dense});
  printf("%d %s\n", result, tilery_aot_error());
  return 0;
}
""",
    )
    first, message, *nulls = text.splitlines()
    assert first == "0 0 2"
    assert message.startswith("launch_scaled: arguments `x` and `y` are arranged for different grids")
    refused = "2 argument 'y' of launch_scaled is a tensor of 2 dimensions; its "
    assert nulls == [
        refused + "shape is null",
        refused + "strides are null (rows that lie one behind the other have 90, 1)",
        refused + "data is null",
        "2 argument 'scale' of launch_scaled is a number, which its data points to; got null",
        "2 launch_scaled: arguments `x` and `y` are cut into the same tiles, and have 90 and 89 elements there "
        "(in their dimensions 1 and 1)",
    ]
    x, y = torch.randn(33, 65), torch.empty(33, 65)
    kernel(x, 0.5, y)
    torch.testing.assert_close(y, x * 0.5 + 1)


@needs_compiler
def test_sizes_that_a_kernel_was_compiled_for_are_named(tmp_path):
    def twice(x, y):
        y = x * 2  # noqa: F841

    tensors = [Tensor(shape=(4, 8), dtype=ninetoothed.float32) for _ in range(2)]
    ninetoothed.make(
        lambda x, y: (x.tile((4, 8)), y.tile((4, 8))), twice, tensors, caller="cpu", kernel_name="twice", output_dir=tmp_path
    )
    text = run_c(
        tmp_path,
        ["twice"],
        r"""
#include "twice.h"
#include <stdio.h>
int main(void) {
  static float x[32], y[36];
  uint64_t shape[] = {4, 8}, other[] = {4, 9};
  int64_t dense[] = {8, 1}, wide[] = {9, 1};
  int done = launch_twice(0, (NineToothedTensor){x, shape, dense}, (NineToothedTensor){y, shape, dense});
  int result = launch_twice(0, (NineToothedTensor){x, shape, dense}, (NineToothedTensor){y, other, wide});
  printf("%d %d %s\n", done, result, tilery_aot_error());
  return 0;
}
""",
    )
    assert text.strip() == (
        "0 1 launch_twice was not compiled for this kind of call or machine: "
        "argument 'y' has 9 elements in dimension 1; 8 are expected"
    )


def doubled(x, y):
    y = x * 2  # noqa: F841


@needs_compiler
def test_rows_of_different_lengths(tmp_path):
    tensors = (Tensor(2, jagged_dim=1, dtype="fp32", other=-1), Tensor(2, dtype="fp32"))
    tiles = lambda x, y: (x.tile((1, 4)), y.tile((1, 4)))  # noqa: E731
    ninetoothed.make(tiles, doubled, tensors, caller="cpu", kernel_name="rows", output_dir=tmp_path)
    text = run_c(
        tmp_path,
        ["rows"],
        r"""
#include "rows.h"
#include <stdio.h>
int main(void) {
  float x[] = {1, 2, 3, 4, 5, 6}, y[15];
  int64_t offsets[] = {0, 5, 5, 6}, longest = 5, one[] = {1}, strides[] = {5, 1};
  uint64_t elements[] = {6}, ends[] = {4}, shape[] = {3, 5};
  NineToothedTensor tx = {x, elements, one}, begins = {offsets, ends, one}, most = {&longest, 0, 0}, ty = {y, shape, strides};
  printf("%d", launch_rows(0, tx, begins, most, ty));
  for (int i = 0; i < 15; ++i) printf(" %g", y[i]);
  return 0;
}
""",
    )
    assert text == "0 2 4 6 8 10 -2 -2 -2 -2 -2 12 -2 -2 -2 -2"


@tileon.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


def tileon_image():
    x, y, out = (torch.zeros(1003) for _ in range(3))
    return add_kernel[(1,)](x, y, out, 1003, BLOCK=256).image()


@tilelang.jit
def tilelang_scale(n: int):
    @T.prim_func
    def scale(x: T.Tensor((n,), "float32"), y: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, 128), threads=128) as block:
            for i in T.Parallel(128):
                y[block * 128 + i] = x[block * 128 + i] * 3

    return scale


def tilelang_image():
    kernel = tilelang_scale(256)
    kernel(torch.zeros(256), torch.zeros(256))
    return kernel._last.image()


@needs_compiler
def test_tileon_and_tilelang_in_one_bundle(tmp_path):
    entries = [aot.entry_of("add", tileon_image()), aot.entry_of("tripled", tilelang_image())]
    aot.write(tmp_path, "both", entries)
    text = run_c(
        tmp_path,
        ["both"],
        r"""
#include "both.h"
#include <stdio.h>
static _Alignas(64) float x[1003], y[1003], out[1003], z[256];
int main(void) {
  for (int i = 0; i < 1003; ++i) x[i] = (float)i, y[i] = (float)(2 * i), out[i] = -1;
  TileryArgument tx = {x, 0, 0}, ty = {y, 0, 0}, to = {out, 0, 0};
  int first = add(0, 4, 1, 1, tx, ty, to, 1003), wrong = 0;
  for (int i = 0; i < 1003; ++i) wrong += out[i] != (float)(3 * i);
  int64_t extents[] = {256}, strides[] = {1}, short_extents[] = {255};
  TileryArgument sx = {x, extents, strides}, sz = {z, extents, strides}, bad = {z, short_extents, strides};
  int second = tripled(0, sx, sz);
  for (int i = 0; i < 256; ++i) wrong += z[i] != (float)(3 * i);
  printf("%d %d %d %d\n", first, second, wrong, tripled(0, sx, bad));
  printf("%s\n", tilery_aot_error());
  return 0;
}
""",
    )
    refused = "tripled: Argument scale.y.shape[0] has an unsatisfied constraint: 255 == 256 (given, declared)"
    assert text == f"0 0 0 2\n{refused}\n"
    library = aot.Library.open(tmp_path / "both.tilery")
    x, y, out = torch.randn(1003), torch.randn(1003), torch.empty(1003)
    library.call("add", x, y, out, 1003, grid=(4, 1, 1))
    assert torch.equal(out, x + y)
    library.call("tripled", x[:256].clone(), out[:256].clone())
    with pytest.raises(ValueError, match="needs a grid"):
        library.call("add", x, y, out, 1003)
    with pytest.raises(KeyError, match="no entry `sub`"):
        library.call("sub")
    out.fill_(-1)
    for number in (1 << 40, (1 << 32) + 20, -(1 << 31) - 1, 1 << 70):
        with pytest.raises(OverflowError, match="does not fit into"):
            library.call("add", x, y, out, number, grid=(4, 1, 1))
    for grid in ((2.5, 1, 1), "4", (1, 1, 1, 2)):
        with pytest.raises((TypeError, ValueError), match="grid"):
            library.call("add", x, y, out, 1003, grid=grid)
    assert (out == -1).all()
    library.call("add", x, y, out, 1003, grid=4)
    assert torch.equal(out, x + y)


def test_damaged_bundles_are_refused(tmp_path):
    path = aot.write(tmp_path, "both", [aot.entry_of("add", tileon_image())])
    data = path.read_bytes()
    for wrong in (b"", data[:7], data[:100], data[:-1], data + b"x", b"x" + data[1:]):
        with pytest.raises(RuntimeError, match="no bundle|damaged"):
            aot.Library(wrong)


def test_conditions_choose(tmp_path):
    """Overlapping tensors, odd addresses and strides run code that expects them; results do not depend on it."""
    kernel = compile_ahead(ninetoothed.make(arrangement, scaled, TENSORS), "cpu", "scaled", tmp_path)
    base = torch.randn(80, 130)
    for x in (base[:64, :64].clone(), base[1:65, 1:66], base[::2, ::3], base.T, base[:0], base[:, :1]):
        y = torch.full(x.shape, float("nan"))
        kernel(x, 3.0, y)
        np.testing.assert_allclose(y.numpy(), (x.double() * 3 + 1).numpy(), rtol=1e-6)
    x = base.clone()
    kernel(x, 3.0, x)
    np.testing.assert_allclose(x.numpy(), (base.double() * 3 + 1).numpy(), rtol=1e-6)


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "avx2", "avx512", "sapphirerapids", "aarch64-neon"])
def test_code_for_other_machines(target, tmp_path):
    kernel = ninetoothed.make(arrangement, scaled, TENSORS)
    from tilery.ninetoothed.aot import compiled  # noqa: PLC0415

    parameters, variants = compiled(kernel, target)
    assert [p.name for p in parameters] == ["x", "scale", "y"] and len(variants) == 3
    aot.write(tmp_path, "scaled", [aot.Entry("scaled", parameters, variants)], "cuda")
    assert "TILERY_CURRENT_GPU" in (tmp_path / "scaled.c").read_text()
    library = aot.Library.open(tmp_path / "scaled.tilery")
    if target.startswith("sm_"):
        with pytest.raises(RuntimeError, match="not compiled for this kind of call or machine"):
            library.call("scaled", torch.zeros(4, 4), 1.0, torch.zeros(4, 4))


def test_kernels_of_a_file_in_one_function(tmp_path, capsys):
    """tools.compile and tools.link, as on a command line: two algorithms, one of them for aligned arguments and for any."""
    from tilery.tileon.tools import compile as ahead
    from tilery.tileon.tools import link

    (tmp_path / "kernels.py").write_text(
        "from tilery import tileon\nfrom tilery.tileon import language as tl\n\n\n@tileon.jit\n"
        "def shift(x, y, n, step, BLOCK: tl.constexpr):\n"
        "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    tl.store(y + i * step, tl.load(x + i * step, mask=i < n, other=0) + BLOCK)\n"
    )
    common = [str(tmp_path / "kernels.py"), "-n", "shift", "-o", str(tmp_path)]
    general = "*fp32, *fp32, i32, i32"
    for signature, block in (("*fp32:16, *fp32:16, i32:16, i32:1", 64), (general, 64), (general, 32)):
        ahead.main([*common, "-s", f"{signature}, {block}", "-g", f"(n + {block - 1}) / {block}, 1, 1"])
    headers = [str(tmp_path / f"{name}.h") for name in capsys.readouterr().out.split()]
    assert len(headers) == 3
    link.main([*headers, "-o", str(tmp_path / "shift")])
    text = (tmp_path / "shift.c").read_text()
    assert "step == 1" in text and "(uintptr_t)x % 16 == 0" in text
    with pytest.raises(ValueError, match="the signature has 2 parts"):
        ahead.main([*common, "-s", "*fp32, 4", "-g", "1, 1, 1"])
    with pytest.raises(ValueError, match="no header declares a kernel"):
        link.link([], tmp_path / "none")
    if not IS_HERE:
        pytest.skip(MISSING)
    assert run_linked(tmp_path, headers) == "2 0 0 0 0 64 64 128 1\n"


def run_linked(folder, headers):
    """Each of the C files is one object; the program calls the linked function."""
    main = r"""
#include "shift.h"
#include <stdio.h>
static _Alignas(64) float x[256], y[257];
int main(void) {
  int same = shift_default(0, x, y, 64, 1);
  float first = y[3];
  int odd = shift(0, x + 1, y + 1, 63, 2, 1), wrong = shift(0, x, y, 64, 1, 7);
  float second = y[3] + y[1];
  int overlap = shift(0, y, y + 1, 1, 1, 0);
  printf("%d %d %d %d ", shift_get_num_algos(), same, odd, overlap);
  printf("%d %g %g %g %d\n", (int)y[0] - 64, first, second, y[3] + 64, wrong);
  return 0;
}
"""
    return run_c(folder, [*(Path(h).stem for h in headers), "shift"], main)
