"""`tilery compile`: kernels of every language, called from C and from Python."""

import json

import numpy as np
import pytest
from c_programs import needs_compiler, run_c

from tilery import aot
from tilery.aot.targets import targets_named

TILEON = """
import triton
import triton.language as tl

@triton.jit
def add(x, y, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)

@triton.jit
def chosen(x, n, kind: tl.constexpr = "one", flag: tl.constexpr = None):
    if flag is None:
        tl.store(x + n, 1.0 if kind == "one" else 2.0)
    else:
        tl.store(x + n, 3.0 if kind == "a, b" else 4.0)
"""
NINETOOTHED = """
import ninetoothed
from ninetoothed import Symbol, Tensor

BLOCK = Symbol("BLOCK", constexpr=True)

@ninetoothed.jit
def doubled(x: Tensor(1).tile((BLOCK,)), y: Tensor(1).tile((BLOCK,))):
    y = x * 2
"""
TILELANG = """
import tilelang
import tilelang.language as T

@tilelang.jit(out_idx=[1])
def triple(n, kind="float32"):
    @T.prim_func
    def main(x: T.Tensor((n,), kind), y: T.Tensor((n,), kind)):
        with T.Kernel(T.ceildiv(n, 64), threads=64) as block:
            for i in T.Parallel(64):
                y[block * 64 + i] = x[block * 64 + i] * 3
    return main

@T.prim_func
def plain(x: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        for i in T.Parallel(64):
            x[i] = 7
"""
EAGER = """
import tilelang
import tilelang.language as T

@tilelang.jit
def more(x, y, by=1):
    N = T.const("N")
    x: T.Tensor[[N], T.float32]
    y: T.Tensor[[N], T.float32]
    with T.Kernel(1, threads=64):
        for i in T.Parallel(N):
            y[i] = x[i] + by

@tilelang.jit
def made(x, sums):
    M = T.const("M")
    N = T.dynamic("N")
    x: T.Tensor[[N, M], T.float32]
    sums: T.Tensor[[N], T.float32]
    y = T.empty((N, M), T.float32)
    firsts = T.empty((N,), T.float16)
    with T.Kernel(N, threads=64) as row:
        for i in T.Parallel(M):
            y[row, i] = x[row, i] + sums[row]
        firsts[row] = x[row, 0]
    return y, firsts

@tilelang.jit
def again(sums):
    N = T.const("N")
    sums: T.Tensor[[N], T.float32]
    result = T.empty((N,), T.float32)
    other = result
    sums = T.empty((N,), T.float32)
    with T.Kernel(1, threads=64):
        for i in T.Parallel(N):
            other[i] = i
            sums[i] = 2 * i
    return sums, result
"""
FILES = {
    "kernels/eager.py": EAGER,
    "kernels/ninetoothed.py": NINETOOTHED,
    "kernels/tilelang.py": TILELANG,
    "kernels/tileon.py": TILEON,
}


@pytest.fixture
def compiled(python, tmp_path):
    def run(*arguments):
        done = python("-m", "tilery", "compile", *arguments, "-o", "out", files=FILES)
        assert done.returncode == 0, done.stderr
        return tmp_path / "out"

    return run


@needs_compiler
def test_all_languages_from_c(compiled):
    compiled("kernels/tileon.py:add", "-s", "*fp32, *fp32, i32, 64", "-g", "(n + 63) / 64, 1, 1")
    compiled("kernels/ninetoothed.py:doubled", "-s", "ninetoothed.float32, float32, BLOCK=32")
    folder = compiled("kernels/tilelang.py:triple", "-s", "128", "-n", "three_times")
    text = run_c(
        folder,
        ["add", "doubled", "three_times"],
        r"""
#include "add.h"
#include "doubled.h"
#include "three_times.h"
#include <stdio.h>
static _Alignas(64) float x[128], y[128], z[128];
int main(void) {
  for (int i = 0; i < 128; ++i) x[i] = (float)i;
  int wrong = add(0, x, y, 100);
  for (int i = 0; i < 128; ++i) wrong += y[i] != (i < 100 ? (float)(i + 1) : 0);
  uint64_t shape[] = {128};
  int64_t extents[] = {128}, strides[] = {1};
  NineToothedTensor nx = {x, shape, strides}, ny = {y, shape, strides};
  wrong += doubled(0, nx, ny);
  for (int i = 0; i < 128; ++i) wrong += y[i] != 2 * x[i];
  TileryArgument tx = {x, extents, strides}, tz = {z, extents, strides};
  wrong += three_times(0, tx, tz);
  for (int i = 0; i < 128; ++i) wrong += z[i] != 3 * x[i];
  printf("%d\n", wrong);
  return 0;
}
""",
    )
    assert text == "0\n"


@needs_compiler
def test_processors_and_gpus_in_one_bundle(compiled):
    """The code for this machine runs, whichever else is there; each kind of machine has a function of its own."""
    folder = compiled("kernels/tileon.py:add", "-s", "*fp32, *fp32, i32, 64", "-t", "x86-64-v3,sm_80,x86-64-v4,sm_90a")
    header = (folder / "add.h").read_text()
    assert "int add_cpu(void *stream, uint32_t grid_x" in header and "int add_cuda(void *stream, uint32_t grid_x" in header
    text = run_c(
        folder,
        ["add"],
        r"""
#include "add.h"
#include <stdio.h>
static float x[100], y[100];
int main(void) {
  int wrong = add_cpu(0, 2, 1, 1, x, y, 100);
  for (int i = 0; i < 100; ++i) wrong += y[i] != 1;
  printf("%d\n", wrong);
  return 0;
}
""",
    )
    assert text == "0\n"
    library = aot.Library.open(folder / "add.tilery")
    x, y = np.ones(70, np.float32), np.zeros(70, np.float32)
    library.call("add", x, y, 70, grid=(2, 1, 1))
    assert (y == 2).all()


def test_order_of_targets():
    """Variants are tried in order: those that ask for most come first."""
    assert targets_named(["x86-64-v3", "sm_80", "x86-64-v4", "sm_90a", "sm_90", "avx2"]) == [
        "avx512",
        "avx2",
        "sm_90a",
        "sm_90",
        "sm_80",
    ]


def test_eager_kernels_of_tilelang(compiled):
    library = aot.Library.open(compiled("kernels/eager.py:more", "-s", "N=64, by=3") / "more.tilery")
    x, y = np.ones(64, np.float32), np.zeros(64, np.float32)
    library.call("more", x, y)
    assert (y == 4).all()


def tensor(shape, kind, offset, wide=0):
    """A tensor of NaN, of which each row is `wide` longer, `offset` elements behind an aligned place."""
    *outer, columns = shape
    memory = np.full(int(np.prod(outer)) * (columns + wide) + offset + 16, np.nan, kind)
    first = offset - memory.ctypes.data // memory.itemsize % 16
    return memory[first % 16 :][: int(np.prod(outer)) * (columns + wide)].reshape(*outer, columns + wide)[..., :columns]


def test_what_a_kernel_makes_comes_last(compiled):
    """A function that returns tensors takes them behind its arguments, wherever the caller has put them."""
    folder = compiled("kernels/eager.py:made", "-s", "M=100")
    declared = "int made(void *stream, TileryArgument x, TileryArgument sums, TileryArgument y, TileryArgument firsts);"
    assert declared in (folder / "made.h").read_text()
    library = aot.Library.open(folder / "made.tilery")
    for rows, offset in ((1, 0), (7, 0), (7, 1), (65, 3)):
        x, sums = np.random.randn(rows, 100).astype(np.float32), np.random.randn(rows).astype(np.float32)
        y, firsts = tensor((rows, 100), np.float32, offset), tensor((rows,), np.float16, offset)
        library.call("made", x, sums, y, firsts)
        np.testing.assert_array_equal(y, x + sums[:, None])
        np.testing.assert_array_equal(firsts, x[:, 0].astype(np.float16))
    for wrong, said in (
        (tensor((65, 100), np.float32, 0, wide=20), r"made\.y\.strides\[0\] has an unsatisfied constraint: 120 == 100"),
        (np.zeros((65, 200), np.float32)[:, ::2], r"made\.y\.strides\[0\]"),
        (np.zeros((100, 65), np.float32).T, r"made\.y\.strides\[0\]"),
        (np.zeros((65, 101), np.float32), r"made\.y\.shape\[1\] has an unsatisfied constraint: 101 == 100"),
        (np.zeros((64, 100), np.float32), r"made\.y\.shape\[0\] has an unsatisfied constraint: 64 == 65"),
    ):
        with pytest.raises(ValueError, match=said):
            library.call("made", x, sums, wrong, firsts)
    with pytest.raises(TypeError, match="expected a float16 tensor"):
        library.call("made", x, sums, y, np.zeros(65, np.float32))


def test_results_have_names_of_their_own(compiled):
    folder = compiled("kernels/eager.py:again", "-s", "N=5")
    assert "TileryArgument sums, TileryArgument sums_0, TileryArgument result)" in (folder / "again.h").read_text()
    sums, twice, once = (np.full(5, np.nan, np.float32) for _ in range(3))
    aot.Library.open(folder / "again.tilery").call("again", sums, twice, once)
    assert np.isnan(sums).all() and (twice == 2 * np.arange(5)).all() and (once == np.arange(5)).all()


def test_what_a_kernel_makes_on_gpus(compiled):
    library = aot.Library.open(compiled("kernels/eager.py:made", "-s", "M=100", "-t", "sm_80,sm_90a") / "made.tilery")
    with pytest.raises(RuntimeError, match="was not compiled for this kind of call or machine"):
        library.call("made", *(np.zeros(shape, np.float32) for shape in ((3, 100), (3,), (3, 100))), np.zeros(3, np.float16))


@pytest.mark.parametrize(
    ("values", "stored"),
    [("", 1), (", 'one'", 1), (', "two"', 2), (", 'a, b', True", 3), (", 'a', 0", 4), (", 'one', None", 1), (", 1, None", 2)],
)
def test_compile_time_values(compiled, values, stored):
    library = aot.Library.open(compiled("kernels/tileon.py:chosen", "-s", f"*fp32, i32{values}") / "chosen.tilery")
    x = np.zeros(3, np.float32)
    library.call("chosen", x, 2, grid=1)
    assert x.tolist() == [0, 0, stored]


def test_prim_funcs_and_folders(compiled):
    folder = compiled("kernels/tilelang.py:plain", "-t", "sm_80")
    assert sorted(path.name for path in folder.iterdir()) == ["plain.c", "plain.h", "plain.tilery"]
    assert "TILERY_CURRENT_GPU" in (folder / "plain.c").read_text()


WRONG = [
    (["kernels/tileon.py"], 2, "names no kernel; FILE.py:KERNEL is expected"),
    (["kernels/missing.py:add"], 1, "there is no file"),
    (["kernels/tileon.py:ad"], 1, "did you mean add?"),
    (["kernels/tileon.py:tl"], 2, "is a module, no kernel"),
    (["kernels/tileon.py:add"], 1, "the signature has 0 parts, add() has the parameters x, y, n, N"),
    (["kernels/tileon.py:add", "-s", "*fp32, i32"], 1, "the signature has 2 parts, add() has the parameters x, y, n, N"),
    (["kernels/tileon.py:add", "-s", "*fp32, *fp32, i32, 64", "-g", "1, 1"], 1, "has 2 expressions; three are expected"),
    (["kernels/tileon.py:add", "-s", "*fp32, *fp32, i32, 64", "-g", "m, 1, 1"], 1, "`m`, which is no argument of the C function"),
    (["kernels/tileon.py:add", "-s", "*fp32, *fp32, i32, 64", "-g", "n / N, 1, 1"], 1, "write its value, 64"),
    (["kernels/tileon.py:add", "-s", "*fp32, *fp32, i32, N=64"], 1, "write `64` for `N`"),
    (["kernels/tileon.py:add", "-s", "*fp32, *fp32, i32, 64", "-n", "double"], 2, "is a word of C's own, and no name of a"),
    (["kernels/tileon.py:add", "-s", "*fp32, *fp32, i32, 64", "-n", "a-b"], 2, "'a-b' is no name of a C function"),
    (["kernels/tileon.py:add", "-s", "*fp32, *fp32, i32, 64", "-g", "n = 3, 1, 1"], 1, "    n = 3, 1, 1\n      ^\n  hint: write"),
    (["kernels/tileon.py:add", "-s", "*fp32, *fp32, i32, 64", "-g", "-1,1,1"], 2, "begins with - is given as --grid=TEXT"),
    (["kernels/tileon.py:add", "-s", "*fp32, *fp32, i32, 64", "--grid=-1,1,1"], 1, "an extent is -1, which no grid has"),
    (["kernels/tileon.py:add", "-s", "*fp32:, *fp32, i32, 64"], 1, "`*fp32:`: an argument divides by 16"),
    (["kernels/tileon.py:add", "-s", "*fp32, *fp32, i32, i32"], 1, "`i32`: `N` is a compile-time parameter"),
    (["kernels/tileon.py:chosen", "-s", "*fp32"], 1, "the signature has 1 part, chosen() has the parameters x, n, kind, flag"),
    (["kernels/tileon.py:chosen", "-s", "*fp32, i32, [1], None"], 1, "`[1]`: `kind` is a compile-time parameter"),
    (["kernels/ninetoothed.py:doubled", "-s", "*fp32, fp32, BLOCK=3"], 1, "write `fp32`: a tensor of NineToothed is named by"),
    (["kernels/tileon.py:add", "-s", "*fp32, *fp32, i32, 64", "-t", "avx3"], 1, "there is no target 'avx3'"),
    (["kernels/tileon.py:add", "-s", "*fp32, *fp32, i32, 64", "-t", "sm_70"], 1, "there is no target 'sm_70'"),
    (["kernels/tileon.py:add", "-s", "*fp31, *fp32, i32, 64"], 1, "did you mean *fp32?"),
    (["kernels/tileon.py:add", "-s", "*float32, *fp32, i32, 64"], 1, "has the type '*float32', which is none of a kernel's"),
    (["kernels/tileon.py:add", "-s", "*float32, *fp32, i32, 64"], 1, "did you mean *fp32?"),
    (["kernels/tileon.py:add", "-s", "*bfloat16:16, *fp32, i32, 64"], 1, "did you mean *bf16?"),
    (["kernels/tileon.py:add", "-s", "*fp32, *fp32, int32, 64"], 1, "did you mean i32?"),
    (["kernels/tileon.py:add", "-s", "*fp32, *fp32, double, 64"], 1, "did you mean fp64?"),
    (["kernels/tileon.py:add", "-s", "*complex, *fp32, i32, 64"], 1, "known are fp8e4b15, "),
    (["kernels/ninetoothed.py:doubled", "-s", "fp32"], 1, "the signature has 1 type; `doubled` takes types of x, y"),
    (["kernels/ninetoothed.py:doubled"], 1, "write float32, float32, or what their elements are"),
    (["kernels/ninetoothed.py:doubled", "-s", "fp32, fp32"], 1, "`BLOCK` of `doubled` has no value to compile for"),
    (["kernels/ninetoothed.py:doubled", "-s", "fp32, fp32, BLOK=3"], 1, "did you mean BLOCK?"),
    (["kernels/ninetoothed.py:doubled", "-s", "fp32, fp32, BLOCK=x"], 1, "a positive number is expected"),
    (["kernels/ninetoothed.py:doubled", "-s", "fp32, fp32, BLOCK=64, BLOCK=32"], 1, "the signature gives `BLOCK` twice"),
    (["kernels/ninetoothed.py:doubled", "-g", "1, 1, 1"], 2, "--grid is for kernels of Tileon"),
    (["kernels/tilelang.py:triple", "-s", "n 3"], 1, "is no list of arguments"),
    (["kernels/tilelang.py:triple", "-s", "3)(4"], 1, "is no list of arguments"),
    (["kernels/tilelang.py:triple", "-s", "n=3, **{}"], 1, "is no list of arguments"),
    (["kernels/tilelang.py:triple", "-s", "n=3, n=4"], 1, "the signature gives `n` twice"),
    (["kernels/tilelang.py:triple", "-s", "m=3"], 1, "its parameters: n, kind"),
    (["kernels/tilelang.py:triple"], 1, 'as in --signature "n=1024"'),
    (["kernels/tilelang.py:triple", "-s", "3, 'flaot16'"], 1, "did you mean float16?"),
    (["kernels/eager.py:more"], 1, "is missing the tensor `x`"),
    (["kernels/eager.py:more"], 1, 'constants may be given by name instead: N; as in --signature "N=1024"'),
    (["kernels/tilelang.py:plain", "-s", "3"], 1, "leave --signature out"),
    (["kernels/tilelang.py:plain", "--num-warps", "4"], 2, "--num-warps is for kernels of Tileon"),
]


def test_a_file_that_fails(python):
    done = python("-m", "tilery", "compile", "wrong.py:add", files={"wrong.py": "def f():\n    1 / 0\nf()\n"})
    assert done.returncode == 1 and done.stderr.count("File ") == 2
    assert done.stderr.endswith("ZeroDivisionError: division by zero\n")


TRIED = """
import contextlib, io, json, sys
from tilery import cli

found = []
for arguments in json.loads(sys.argv[1]):
    with contextlib.redirect_stderr(io.StringIO()) as told:
        try:
            status = cli.main(["compile", *arguments, "-o", "out"])
        except SystemExit as end:
            status = end.code
    found.append((status, told.getvalue()))
print(json.dumps(found))
"""


def test_what_calls_the_command_is_no_place_of_an_error(python):
    """The script that an installed package puts on the path."""
    script = "import sys\nfrom tilery.cli import main\nsys.exit(main(sys.argv[1:]))\n"
    arguments = ("compile", "kernels/ninetoothed.py:doubled", "-s", "unit8, fp32")
    done = python("script.py", *arguments, files={**FILES, "script.py": script})
    assert done.returncode == 1 and done.stderr.startswith("tilery compile: there is no element type `unit8`"), done.stderr


def test_a_folder_that_cannot_be_made(python):
    kernel = ["kernels/tileon.py:add", "-s", "*fp32, *fp32, i32, 64"]
    done = python("-m", "tilery", "compile", *kernel, "-o", "kernels/tileon.py/out", files=FILES)
    assert done.returncode == 2 and "--output is kernels/tileon.py/out, which is no folder and cannot be made one" in done.stderr


def test_wrong_calls(python, tmp_path):
    done = python("-c", TRIED, json.dumps([arguments for arguments, _, _ in WRONG]), files=FILES)
    assert done.returncode == 0, done.stderr
    for (arguments, status, message), (found, told) in zip(WRONG, json.loads(done.stdout), strict=True):
        assert (found, message in told) == (status, True), (arguments, told)
    assert not (tmp_path / "out").exists()
