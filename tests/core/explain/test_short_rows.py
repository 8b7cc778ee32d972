"""Short rows of tiles that lie far apart, and the advice of small tiles: what is said leads to tiles that are large enough."""

import pytest
import torch
from core.explain.faulty_kernels import matmul_kernel
from core.explain.small_kernels import column_sums_kernel

from tilery import tileon
from tilery.core.explain import entry
from tilery.tileon import language as tl


@tileon.jit
def sums_kernel(x, y, n, rows, R: tl.constexpr, C: tl.constexpr):
    c = tl.program_id(0) * C + tl.arange(0, C)
    sums = tl.zeros((C,), tl.float32)
    for k in range(0, rows, R):
        sums += tl.sum(tl.load(x + (k + tl.arange(0, R))[:, None] * n + c[None, :]), axis=0)
    tl.store(y + c, sums)


def sums_of(columns, n, rows=256, block=64):
    x = torch.rand(rows, n)
    (launch,) = sums_kernel.explain(x, torch.empty(n), n, rows, R=block, C=columns, grid=(n // columns,), seconds=0).launches
    return launch


def said_of_rows(launch):
    return [each for each in launch.found.findings if each.fault == "rows"]


@pytest.mark.parametrize("columns", [8, 16, 32])
def test_short_rows_far_apart(columns):
    (found,) = said_of_rows(sums_of(columns, 1024))
    assert found.message.startswith(f"rows of {columns} elements ({4 * columns} bytes) are read 4096 bytes apart")
    assert found.hint.startswith("widen the last dimension to 64 elements or more, and to hundreds where other programs read")
    assert found.chain[0].file == __file__


@pytest.mark.parametrize("columns, n, block", [(64, 1024, 64), (256, 1024, 16), (16, 512, 64), (16, 1024, 4)])
def test_rows_that_are_long_or_near_or_few(columns, n, block):
    assert not said_of_rows(sums_of(columns, n, block=block))


def test_caches_answer_as_fast_for_short_rows(monkeypatch):
    launch = sums_of(16, 1024)
    launch.kind.times[:] = [launch.limits[0][1] * 10 + 1]
    for caches, faults in ((1 << 40, set()), (0, {"rows"})):
        monkeypatch.setattr(entry.roofline, "last_caches", lambda: caches)
        assert {each.fault for each in launch.findings} & {"rows"} == faults


def test_factors_of_products_are_read_again():
    a, b, c = torch.rand(64, 256), torch.rand(256, 1024), torch.empty(64, 1024)
    (launch,) = matmul_kernel.explain(a, b, c, 64, 1024, 256, BM=32, BN=16, BK=64, grid=(2, 64), seconds=0).launches
    assert not said_of_rows(launch)


def hints(launch, fault):
    return [each.hint for each in launch.found.findings if each.fault == fault]


@pytest.mark.parametrize("m, n, k, fault", [(4, 4, 4, "ragged"), (8, 8, 8, "small"), (8, 8, 64, "small"), (64, 8, 64, "small")])
def test_small_products_are_led_to_tiles_of_32(m, n, k, fault, monkeypatch):
    monkeypatch.setenv("TILERY_CPU_TARGET", "avx2")
    a, b, c = torch.rand(128, 128), torch.rand(128, 128), torch.empty(128, 128)
    (launch,) = matmul_kernel.explain(a, b, c, 128, 128, 128, BM=m, BN=n, BK=k, grid=(128 // m, 128 // n), seconds=0).launches
    (hint,) = hints(launch, fault)
    assert hint.startswith("take tiles of products of 32 x 32 or more")
    (launch,) = matmul_kernel.explain(a, b, c, 128, 128, 128, BM=32, BN=32, BK=32, grid=(4, 4), seconds=0).launches
    assert not hints(launch, "small") and not hints(launch, "ragged")


def test_one_column_is_led_to_a_cache_line_at_least():
    (hint,) = hints(sums_of(1, 256), "gather")
    assert "to 16 elements (a cache line) or more, and to hundreds where other programs read or write" in hint
    (launch,) = column_sums_kernel(64, 1, 4).explain(torch.rand(256, 64), torch.empty(64), seconds=0).launches
    (hint,) = hints(launch, "small")
    lanes = int(hint.split("(")[1].split()[0])
    assert lanes in (64, 128)  # eight vectors, of AVX2 or AVX-512
