"""Problems of a table: maps made on the device, of what the kernel has loaded."""

from pathlib import Path

import pytest
import torch

from tilery import _native, compat

PROGRAMS = compat.load(Path(__file__).parent / "grouped_programs.py")
EVEN = ((256, 384, 192), (128, 128, 64), (0, 256, 128), (384, 128, 0), (128, 512, 1024))
RAGGED = ((250, 300, 200), (1, 7, 9), (0, 40, 64), (130, 130, 0), (64, 129, 65), (300, 1, 520))
KINDS = {"pointers": EVEN, "masked": RAGGED, "descriptors": RAGGED}
TILES = {"BM": 128, "BN": 128, "BK": 64}


def tensor(rows, columns, device, pad=8):
    """Rows that begin at multiples of 16 bytes."""
    return torch.randn(rows, -(-columns // 8) * 8 + pad, device=device).half()[:, :columns]


def launched(kind, device, problems, programs=3, **tiles):
    """(module, results, what they should be, sums of the products' absolute values)."""
    tensors = []
    for m, n, k in problems:
        b = tensor(n, k, device).T if kind == "descriptors" else tensor(k, n, device)
        tensors.append((tensor(m, k, device), b, tensor(m, n, device)))
    table = torch.tensor([[t.data_ptr() for t in each] for each in tensors], device=device)
    sizes = torch.tensor(problems, dtype=torch.int32, device=device)
    strides = torch.tensor([[max(t.stride()) for t in each] for each in tensors], dtype=torch.int32, device=device)
    for i, (_, b, _) in enumerate(tensors):
        strides[i, 1] = b.stride(1) if kind == "descriptors" else b.stride(0)
    options = {**TILES, **tiles}
    compiled = getattr(PROGRAMS, kind)[(programs,)](table, sizes, strides, len(problems), NUM=programs, **options)
    exact = [a.double() @ b.double() for a, b, _ in tensors]
    most = [a.double().abs() @ b.double().abs() for a, b, _ in tensors]
    return compiled.module, [c for _, _, c in tensors], exact, most


def within(c, exact, most, k):
    return ((c.double() - exact).abs() <= (k + 8) * 2.0**-23 * most + 2.0**-11 * exact.abs() + 2.0**-24).all()


@pytest.mark.parametrize("kind", KINDS)
def test_takes_the_path(kind, assemble):
    compiled = _native.compile(launched(kind, "cpu", EVEN)[0], disjoint=True, texts=True, target="sm_90a")
    assert ": blocks consumers=" in compiled.plan, compiled.plan
    assert "a: box of" in compiled.plan and "b: box of" in compiled.plan and "c: box of" in compiled.plan
    assert compiled.asm.count("tensormap.replace.tile.global_address") == 3
    text = assemble(compiled.asm, "sm_90a")
    assert "0 bytes spill stores, 0 bytes spill loads" in text


def test_an_old_driver_makes_no_maps():
    compiled = _native.compile(launched("pointers", "cpu", EVEN)[0], disjoint=True, texts=True, target="sm_90a:cuda12040")
    assert "no blocks, for before CUDA 12.5" in compiled.plan and "tensormap" not in compiled.asm


@pytest.mark.parametrize("kind", KINDS)
def test_is_right_on_the_cpu(kind):
    for c, exact, most, (_, _, k) in zip(*launched(kind, "cpu", KINDS[kind])[1:], KINDS[kind]):
        assert within(c, exact, most, k)


@pytest.mark.gpu
@pytest.mark.parametrize("programs", [1, 3, 132, 400])
@pytest.mark.parametrize("kind", KINDS)
def test_is_right(kind, programs):
    problems = KINDS[kind] + ((640, 1024, 512), (128, 128, 64), (1024, 256, 2048))
    for c, exact, most, (_, _, k) in zip(*launched(kind, "cuda", problems, programs)[1:], problems):
        assert within(c, exact, most, k)


def routed(device, rows=(100, 0, 257, 128), n=200, k=136):
    first = [0]
    for count in rows:
        first.append(first[-1] + count)
    a, c = torch.randn(first[-1], k, device=device).half(), torch.zeros(first[-1], n, device=device).half()
    b = torch.randn(len(rows), k, n, device=device).half()
    grid = (-(-max(rows) // 128), -(-n // 128), len(rows))
    compiled = PROGRAMS.experts[grid](a, b, c, torch.tensor(first, dtype=torch.int32, device=device), n, k, **TILES)
    exact = torch.cat([a[x:y].double() @ b[e].double() for e, (x, y) in enumerate(zip(first, first[1:]))])
    most = torch.cat([a[x:y].double().abs() @ b[e].double().abs() for e, (x, y) in enumerate(zip(first, first[1:]))])
    return compiled.module, c, exact, most


def test_rows_of_experts_take_the_path(assemble):
    compiled = _native.compile(routed("cpu")[0], disjoint=True, texts=True, target="sm_90a")
    assert "a: box of" in compiled.plan and "b: box of" in compiled.plan, compiled.plan
    assert "tensormap.replace" in compiled.asm
    assemble(compiled.asm, "sm_90a")


@pytest.mark.gpu
def test_rows_of_experts_are_right():
    _, c, exact, most = routed("cuda")
    assert within(c, exact, most, 136)
