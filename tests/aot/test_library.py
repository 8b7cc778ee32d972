"""`Library.call`: which calls a bundle has code for, what it says of others, and that it writes only where it may."""

import re

import numpy as np
import pytest

from tilery import aot, ninetoothed, tilelang, tileon
from tilery.ninetoothed import Tensor
from tilery.tilelang import language as T
from tilery.tileon import language as tl
from tilery.tileon.tools.compile import Hints, entry_of


@tileon.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


@T.prim_func
def product(a: T.Tensor((64, 64), "float32"), b: T.Tensor((64, 64), "float32"), c: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128):
        left, right = T.alloc_shared((64, 64), "float32"), T.alloc_shared((64, 64), "float32")
        sums = T.alloc_fragment((64, 64), "float32")
        T.clear(sums)
        T.copy(a, left)
        T.copy(b, right)
        T.gemm(left, right, sums)
        T.copy(sums, c)


def arrangement(x, y):
    return x.tile((4, 8)), y.tile((4, 8))


def doubled(x, y):
    y = x * 2  # noqa: F841


def library(*entries):
    return aot.Library(aot.bundle.packed(entries))


def of_tileon(signature, targets=("host",)):
    return entry_of(add, "add", Hints(add, signature), targets, {})


def of_ninetoothed(dtype="float32", shape=None, targets=("host",)):
    tensors = [Tensor(shape=shape, dtype=dtype) if shape else Tensor(2, dtype=dtype) for _ in range(2)]
    parameters, variants = ninetoothed.aot.compiled_for(ninetoothed.make(arrangement, doubled, tensors), targets, {}, {})
    return aot.Entry("doubled", parameters, variants)


def at(offset, *shape):
    """Zeros that begin so many bytes behind a multiple of 64."""
    count = int(np.prod(shape)) * 4
    memory = np.zeros(count + 64 + offset, np.uint8)
    begin = -memory.ctypes.data % 64 + offset
    return memory[begin : begin + count].view(np.float32).reshape(shape)


def refused(name, told):
    text = f"`{name}` was not compiled for this kind of call or machine: {told}"
    return pytest.raises(RuntimeError, match=f"^{re.escape(text)}$")


def test_an_address_that_code_was_not_compiled_for_is_named():
    called = library(of_tileon("*fp32, *fp32:16, *fp32:16, i32, 64"))
    called.call("add", at(4, 64), at(0, 64), at(0, 64), 64, grid=1)
    told = "argument 'out' begins 4 bytes behind a multiple of 16; a multiple of 16 is expected of its address"
    with refused("add", told):
        called.call("add", at(4, 64), at(0, 64), at(4, 64), 64, grid=1)
    with refused("add", told.replace("'out'", "'y'") + "; " + told):
        called.call("add", at(4, 64), at(4, 64), at(4, 64), 64, grid=1)


def test_a_number_that_code_was_not_compiled_for_is_named():
    called = library(of_tileon("*fp32, *fp32, *fp32, i32:16, 64"))
    x, out = np.arange(64, dtype=np.float32), np.full(64, np.nan, np.float32)
    for n in (0, 16, 48):
        called.call("add", x, x, out, n, grid=1)
        np.testing.assert_array_equal(out[:n], 2 * x[:n])
        assert np.isnan(out[n:]).all()
    for n in (1, 17, 47, -1):
        with refused("add", f"argument 'n' is {n}; a multiple of 16 is expected"):
            called.call("add", x, x, out, n, grid=1)
    assert np.isnan(out[48:]).all()


def test_a_size_that_code_was_not_compiled_for_is_named():
    called = library(of_ninetoothed(shape=(4, 8)))
    told = "argument '{}' has {} elements in dimension 1; 8 are expected"
    with refused("doubled", told.format("x", 9) + "; " + told.format("y", 7)):
        called.call("doubled", at(0, 4, 9), at(0, 4, 7))


def test_a_machine_that_code_was_not_compiled_for_is_named():
    with refused("add", "its code is for GPUs of sm_80 and later or GPUs of sm_90, the call on this CPU"):
        library(of_tileon("*fp32, *fp32, *fp32, i32, 64", ("sm_90a", "sm_80"))).call("add", *(at(0, 64),) * 3, 64, grid=1)
    with refused("doubled", "its code is for CPUs of aarch64-neon, the call on this CPU"):
        library(of_ninetoothed(targets=("aarch64-neon",))).call("doubled", at(0, 4, 8), at(0, 4, 8))


def test_types_that_code_was_not_compiled_for_are_named():
    x = np.ones((4, 8))
    told = r"argument 'x' of {} is a float64 tensor .*; expected a float32 tensor"
    with pytest.raises(TypeError, match=told.format("doubled") + " of 2 dimensions$"):
        library(of_ninetoothed()).call("doubled", x, x)
    with pytest.raises(RuntimeError, match="call or machine: " + told.format("doubled") + ".*; or .* a float16"):
        library(of_ninetoothed(), of_ninetoothed("float16")).call("doubled", x, x)
    with pytest.raises(TypeError, match=told.format("add") + "$"):
        library(of_tileon("*fp32, *fp32, *fp32, i32, 64")).call("add", x, x, x, 64, grid=1)


def test_a_path_is_no_bundle():
    with pytest.raises(TypeError, match="made of a bundle's bytes, got a str\n  hint: aot.Library.open"):
        aot.Library("add.tilery")


def sealed(*shape):
    array = at(0, *shape)
    array.flags.writeable = False
    return array


def test_what_may_not_be_written_is_not():
    said = "argument '{}' is a read-only array, and .* writes to it\n  hint: pass a copy of it"
    for called, name, inputs, output, shape, rest, grid in (
        (library(of_tileon("*fp32, *fp32, *fp32, i32, 64")), "add", 2, "out", (64,), (64,), 1),
        (library(of_ninetoothed()), "doubled", 1, "y", (4, 8), (), None),
        (library(tilelang.compile(product).library_entry("product", ("host",))), "product", 2, "c", (64, 64), (), None),
    ):
        out = sealed(*shape)
        with pytest.raises(ValueError, match=said.format(output)):
            called.call(name, *(at(0, *shape) + 1 for _ in range(inputs)), out, *rest, grid=grid)
        assert not out.any()
        called.call(name, *(sealed(*shape) for _ in range(inputs)), at(0, *shape), *rest, grid=grid)


@tileon.jit
def doubled_rows(x, y, x_down, x_across, y_down, y_across, M, N, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(x + row * x_down + column * x_across, mask=column < N)
    tl.store(y + row * y_down + column * y_across, value * 2, mask=column < N)


M, N = T.dynamic("M"), T.dynamic("N")
OF_X, OF_Y = (T.dynamic("x_down"), T.dynamic("x_across")), (T.dynamic("y_down"), T.dynamic("y_across"))


@T.prim_func
def doubled_points(x: T.StridedTensor((M, N), OF_X, "float32"), y: T.StridedTensor((M, N), OF_Y, "float32")):
    with T.Kernel(T.ceildiv(M + 1, 16), T.ceildiv(N + 1, 16), threads=128) as (p, q):  # a block where there is nothing, too
        for i, j in T.Parallel(16, 16):
            if p * 16 + i < M and q * 16 + j < N:
                y[p * 16 + i, q * 16 + j] = x[p * 16 + i, q * 16 + j] * 2


@T.prim_func
def doubled_matrix(x: T.Tensor((M, N), "float32"), y: T.Tensor((M, N), "float32")):
    with T.Kernel(M, threads=128) as p:
        for j in T.Parallel(N):
            y[p, j] = x[p, j] * 2


LAYOUTS = {
    "rows in order": lambda memory: memory[:13, :21],
    "rows reversed": lambda memory: memory[:13, :21][::-1],
    "columns reversed": lambda memory: memory[:13, :21][:, ::-1],
    "both reversed": lambda memory: memory[:13, :21][::-1, ::-1],
    "turned": lambda memory: memory[:21, :13].T,
    "a slice": lambda memory: memory[5:18, 3:24],
    "every second and third": lambda memory: memory[1:27:2, 2:65:3],
    "every second, reversed": lambda memory: memory[27:1:-2, 2:65:3],
    "no rows": lambda memory: memory[:0, :21][::-1],
    "no columns": lambda memory: memory[:13, :0],
}
EXPANDED = {
    "one row": lambda memory: np.broadcast_to(memory[3, :21], (13, 21)),
    "one row, reversed": lambda memory: np.broadcast_to(memory[3, :21][::-1], (13, 21)),
    "one column": lambda memory: np.broadcast_to(memory[:13, 3:4], (13, 21)),
    "one element": lambda memory: np.broadcast_to(memory[3:4, 3:4], (13, 21)),
}


def strided_entries():
    signature = "*fp32, *fp32, i64, i64, i64, i64, i32, i32, 32"
    yield "doubled_rows", library(entry_of(doubled_rows, "doubled_rows", Hints(doubled_rows, signature), ("host",), {}))
    yield "doubled", library(of_ninetoothed())
    yield "doubled_points", library(tilelang.compile(doubled_points).library_entry("doubled_points", ("host",)))


@pytest.fixture(scope="module")
def strided():
    return dict(strided_entries())


@pytest.mark.parametrize("name", ["doubled_rows", "doubled", "doubled_points"])
@pytest.mark.parametrize("layout", [*LAYOUTS, *EXPANDED])
def test_tensors_of_any_strides(strided, name, layout):
    """Read as they lie, and written there and nowhere else."""
    memory = np.random.default_rng(0).standard_normal((40, 70)).astype(np.float32)
    x = (LAYOUTS | EXPANDED)[layout](memory)
    for written in LAYOUTS.values():
        room, expected = np.full((40, 70), np.nan, np.float32), np.full((40, 70), np.nan, np.float32)
        y, wanted = written(room), written(expected)
        if y.shape != x.shape:
            continue
        wanted[:] = 2 * x
        numbers = (*(step // 4 for each in (x, y) for step in each.strides), *x.shape) if name == "doubled_rows" else ()
        strided[name].call(name, x, y, *numbers, grid=(len(x), 1, 1) if numbers else None)
        np.testing.assert_array_equal(room, expected)


@pytest.mark.parametrize("layout", [each for each in LAYOUTS if each not in ("no rows", "no columns")] + [*EXPANDED])
def test_strides_that_code_was_not_compiled_for_are_named(layout):
    called = library(tilelang.compile(doubled_matrix).library_entry("doubled_matrix", ("host",)))
    memory, y = np.ones((40, 70), np.float32), np.full((13, 21), np.nan, np.float32)
    told = (
        r"doubled_matrix\.x\.strides\[[01]\] .*\(it is not contiguous\)\n"
        r"  hint: pass a copy of x without gaps \(x\.contiguous\(\) in Python\)"
    )
    with pytest.raises(ValueError, match=told):
        called.call("doubled_matrix", (LAYOUTS | EXPANDED)[layout](memory), y)
    assert np.isnan(y).all()


def test_tensors_that_share_memory():
    """In place and beside each other in one tensor by code that expects it; of what is only read, any."""
    base = np.random.default_rng(0).standard_normal(300).astype(np.float32)
    for entry in (of_tileon("*fp32, *fp32, *fp32, i32, 64"), of_tileon("*fp32:16, *fp32:16, *fp32:16, i32, 64")):
        x = at(0, 300)
        x[:] = base
        library(entry).call("add", x, x, x, 300, grid=5)
        np.testing.assert_array_equal(x, 2 * base)
    packed = np.random.default_rng(1).standard_normal((40, 30)).astype(np.float32)
    left, right, before = packed[:, :15], packed[:, 15:], packed.copy()
    library(of_ninetoothed()).call("doubled", left, right)
    np.testing.assert_array_equal(packed[:, :15], before[:, :15])
    np.testing.assert_array_equal(packed[:, 15:], 2 * before[:, :15])

    called = library(tilelang.compile(product).library_entry("product", ("host",)))
    a, c = at(0, 64, 64), at(0, 64, 64)
    a[:] = np.random.default_rng(2).standard_normal((64, 64))
    called.call("product", a, a, c)
    np.testing.assert_allclose(c, a.astype(np.float64) @ a, rtol=0, atol=64 * 2**-23 * (abs(a) @ abs(a)).max())
    before = a.copy()
    with refused("product", "arguments 'a' and 'c' share memory, and 'c' is written; a tensor of its own is expected"):
        called.call("product", a, c, a)
    np.testing.assert_array_equal(a, before)


def test_tensors_of_a_wrong_size_that_reach_into_others():
    """The size is what is wrong, not where the tensors lie."""
    called = library(tilelang.compile(product).library_entry("product", ("host",)))
    memory, b = at(0, 128, 64), at(0, 64, 64)
    memory[:] = 1
    with refused("product", "Argument product.a.shape[0] has an unsatisfied constraint: 65 == 64 (given, declared)"):
        called.call("product", memory[:65], b, memory[64:])
    assert (memory == 1).all()
    with refused("product", "arguments 'a' and 'c' share memory, and 'c' is written; a tensor of its own is expected"):
        called.call("product", memory[:64], b, memory[63:127])
    assert (memory == 1).all()
