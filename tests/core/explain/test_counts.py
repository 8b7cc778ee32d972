"""Bytes and operations of kernels whose numbers are known."""

import pytest
import torch
from core.explain.faulty_kernels import add_kernel, gemm_kernel, matmul_kernel, plus_kernel, softmax_kernel

from tilery import tilelang, tileon
from tilery.tilelang import language as T
from tilery.tileon import language as tl


def one(report):
    (entry,) = report.launches
    return entry


def moved(entry):
    return {name: (asked, least) for name, asked, least in entry.found.moved()}


@pytest.mark.parametrize("n", [1, 255, 4000, 4096])
def test_sums_of_vectors(n):
    x, y, o = torch.rand(n), torch.rand(n), torch.empty(n)
    entry = one(add_kernel.explain(x, y, o, n, B=1024, grid=(tileon.cdiv(n, 1024),), seconds=0))
    assert moved(entry) == {"x": (4 * n, 4 * n), "y": (4 * n, 4 * n), "o": (4 * n, 4 * n)}
    assert entry.operations == tileon.cdiv(n, 1024) * 1024  # all lanes
    assert entry.products == 0 and not entry.unsure


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.int64])
def test_element_types(dtype):
    x = torch.ones(3000).to(dtype)
    entry = one(add_kernel.explain(x, x.clone(), torch.empty_like(x), 3000, B=1024, grid=(3,), seconds=0))
    assert all(pair == (3000 * x.itemsize,) * 2 for pair in moved(entry).values())


@pytest.mark.parametrize("shape", [(64, 64, 32), (250, 130, 192), (65, 1, 33), (7, 200, 100)])
def test_products(shape):
    m, n, k = shape
    a, b, c = torch.rand(m, k), torch.rand(k, n), torch.full((m, n), float("nan"))
    grid = (tileon.cdiv(m, 64), tileon.cdiv(n, 64))
    entry = one(matmul_kernel.explain(a, b, c, m, n, k, BM=64, BN=64, BK=32, grid=grid, seconds=0))
    torch.testing.assert_close(c, a @ b)
    assert entry.products == 2 * m * n * k
    columns = tileon.cdiv(n, 16) * 16  # on a CPU vectors are filled, and nothing else is padded
    assert entry.padding == pytest.approx(1 - n / columns)
    assert moved(entry) == {
        "a": (4 * m * k * grid[1], 4 * m * k),
        "b": (4 * k * n * grid[0], 4 * k * n),
        "c": (4 * m * n, 4 * m * n),
    }
    assert not entry.unsure


def test_tilelang_makes_its_output():
    entry = one(gemm_kernel(130, 192, 70).explain(torch.rand(130, 70), torch.rand(70, 192), seconds=0))
    assert entry.products == 2 * 130 * 192 * 70
    assert [least for _, _, least in entry.found.moved()] == [4 * 130 * 70 * 1, 4 * 70 * 192, 4 * 130 * 192]


def test_ninetoothed_strides():
    x = torch.rand(4000, 2)[:, 0]
    entry = one(plus_kernel.explain(x, torch.rand(4000), torch.empty(4000), seconds=0))
    assert {least for _, _, least in entry.found.moved()} == {16000}


def test_rows():
    entry = one(softmax_kernel.explain(torch.rand(64, 1000), torch.empty(64, 1000), 1000, B=1024, grid=(64,), seconds=0))
    # maximum and sum: one less than there are lanes; difference, exponential, quotient: one each
    assert entry.operations == 64 * (2 * 1023 + 3 * 1024)
    assert moved(entry) == {"x": (256000, 256000), "o": (256000, 256000)}


@tileon.jit
def loop_kernel(x, o, n, starts, B: tl.constexpr):
    p = tl.program_id(0)
    s = tl.zeros((B,), tl.float32)
    for i in range(p, n):  # programs differ in their turns
        s += tl.load(x + i * B + tl.arange(0, B))
    tl.store(o + p * B + tl.arange(0, B), s)


def test_loops_that_programs_differ_in():
    x, o = torch.rand(10, 64), torch.empty(4, 64)
    entry = one(loop_kernel.explain(x, o, 10, o, B=64, grid=(4,), seconds=0))
    turns = 10 + 9 + 8 + 7
    assert moved(entry)["x"] == (turns * 64 * 4, 10 * 64 * 4) and entry.operations == turns * 64
    torch.testing.assert_close(o[1], x[1:].sum(0))


@tileon.jit
def data_kernel(x, count, o, B: tl.constexpr):
    s = tl.zeros((B,), tl.float32)
    for i in range(tl.load(count)):
        s += tl.load(x + i * B + tl.arange(0, B))
    tl.store(o + tl.arange(0, B), s)


def test_what_hangs_on_data_is_said_to():
    x, count = torch.rand(10, 64), torch.tensor([3], dtype=torch.int32)
    report = data_kernel.explain(x, count, torch.empty(64), B=64, grid=(1,), seconds=0)
    (unsure,) = one(report).unsure
    assert "hangs on data" in unsure.message and unsure.chain[0].line and "not exact" in str(report)


@tileon.jit
def unrolled_kernel(x, o, B: tl.constexpr):
    r = tl.arange(0, B)
    for i in tl.static_range(3):
        tl.store(o + i * B + r, 2.0, mask=tl.load(x + i * B + r) > 0)


def test_what_hangs_on_data_is_said_once():
    report = unrolled_kernel.explain(torch.rand(192), torch.empty(192), B=64, grid=(1,), seconds=0)
    assert len(one(report).unsure) > 1 and str(report).count("hangs on data") == 1


@tilelang.jit
def neighbours_kernel(n):
    @T.prim_func
    def neighbours(x: T.Tensor((n,), "float32"), o: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.serial(n):
                o[i] = T.if_then_else(i > 0, x[i - 1], 0.0)

    return neighbours


def test_masks_that_hang_on_a_loop_are_counted():
    entry = one(neighbours_kernel(100).explain(torch.rand(100), torch.empty(100), seconds=0))
    assert not entry.unsure, [each.message for each in entry.unsure]
    assert {name: asked for name, (asked, _) in moved(entry).items()} == {"x": 4 * 99, "o": 4 * 100}


@tileon.jit
def every_other_kernel(x, o, B: tl.constexpr):
    r = tl.arange(0, B)
    tl.store(o + r, tl.load(x + r, mask=r % 2 == 0, other=0.0))


def test_masks_of_places_are_not_said_to_hang_on_data():
    (unsure,) = one(every_other_kernel.explain(torch.rand(64), torch.empty(64), B=64, grid=(1,), seconds=0)).unsure
    assert unsure.message == "a condition leaves out other elements than those behind the end of a tile: all are counted"


def test_short_launches_are_mostly_the_launch():
    small, large = torch.rand(64), torch.rand(1 << 22)
    said = str(add_kernel.explain(small, small, torch.empty(64), 64, B=64, grid=(1,), seconds=0.01))
    assert "the launch itself is most of so short a time" in said
    report = add_kernel.explain(large, large, torch.empty(1 << 22), 1 << 22, B=1024, grid=(4096,), seconds=0.01)
    assert "launch itself" not in str(report)


def test_many_programs_are_counted_quickly_and_exactly():
    n = (1 << 22) - 5
    x = torch.zeros(n)
    entry = one(add_kernel.explain(x, x, x, n, B=64, grid=(1 << 16,), seconds=0))
    assert [work.arguments[0].loaded for work in entry.found.works] == [4 * n] and not entry.unsure


def test_nothing_is_launched_but_once():
    x, o = torch.ones(1024), torch.zeros(1024)
    add_kernel.explain(o, x, o, 1024, B=1024, grid=(1,), seconds=0)
    assert o.eq(1).all()
