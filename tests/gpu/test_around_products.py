"""Products in loops over tiles, in parts that memory adds up or programs hand on: they take Hopper's path, and are right."""

from pathlib import Path

import pytest
import torch

from tilery import _native, compat

PEERS = Path(__file__).resolve().parents[2] / "benchmarks" / "peers"
PROGRAMS = compat.load(PEERS / "product_programs.py")
SPELLINGS = compat.load(PEERS / "matmul_spellings.py")
TILES = {"BM": 128, "BN": 128, "BK": 64}
KINDS = ("split_k_atomics", "split_k_semaphores", "stream_k", "persistent", "residual", "plain")
CHANGES = {"split_k_atomics": "c: box", "split_k_semaphores": "c: stored from registers", "persistent": "c: box",
           "stream_k": "c: box"}


def launched(kind, device, m=300, n=400, k=1040):
    """(module, result in f32, what it should be, sum of the products' absolute values)."""
    dtype = torch.float16
    a, b = (torch.randn(*shape, device=device).to(dtype) for shape in ((m, k), (k, n)))
    exact, most = a.double() @ b.double(), a.double().abs() @ b.double().abs()
    c = torch.zeros(m, n, device=device)
    tiles = -(-m // 128) * -(-n // 128)
    if kind == "stream_k":
        compiled = PROGRAMS.stream_k[(5,)](a, b, c, m, n, k, **TILES)
    elif kind == "split_k_semaphores":
        locks = torch.zeros(tiles, dtype=torch.int32, device=device)
        compiled = PROGRAMS.split_k_semaphores[(tiles, 3)](a, b, c, locks, m, n, k, SPLIT=3, **TILES)
    elif kind == "split_k_atomics":
        compiled = PROGRAMS.split_k_atomics[(tiles, 3)](a, b, c, m, n, k, SPLIT=3, **TILES)
    else:
        if kind == "residual":
            c += 3
            exact += 3
        strides = (*a.stride(), *b.stride(), *c.stride())
        grid = (4,) if kind == "persistent" else (tiles,)
        compiled = getattr(SPELLINGS, kind)[grid](a, b, c, c, m, n, k, *strides, GROUP=8, **TILES)
    return compiled.module, c, exact, most


@pytest.mark.parametrize("kind", KINDS)
def test_takes_the_path(kind, assemble):
    compiled = _native.compile(launched(kind, "cpu", 256, 256, 1024)[0], disjoint=True, texts=True, target="sm_90a")
    assert ": blocks consumers=" in compiled.plan, compiled.plan
    assert CHANGES.get(kind, "") in compiled.plan
    text = assemble(compiled.asm, "sm_90a")
    assert "0 bytes spill stores, 0 bytes spill loads" in text
    assert "C75" not in text


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(300, 400, 528), (256, 256, 512), (1000, 520, 64), (64, 2048, 4096)], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_is_right(kind, shape):
    _, c, exact, most = launched(kind, "cuda", *shape)
    assert ((c.double() - exact).abs() <= (shape[2] + 8) * 2.0**-23 * most + 2.0**-22 * exact.abs()).all()


def test_residuals_come_through_the_ring(assemble):
    """No thread loads them: the copy engine brings them in place of the step behind the last."""
    compiled = _native.compile(launched("residual", "cpu", 256, 256, 1024)[0], disjoint=True, texts=True, target="sm_90a")
    assert "boxed=1" in compiled.plan
    assert "ld.global" not in compiled.asm
    text = assemble(compiled.asm, "sm_90a")
    assert "0 bytes spill stores, 0 bytes spill loads" in text
    assert "C75" not in text


def test_whole_tiles_ask_for_no_bounds(monkeypatch):
    """A residual is loaded by one of two codes: one asks for each vector's bounds, the other for none."""
    monkeypatch.setenv("TILERY_SCHEDULE", "consumers=2 early=64 boxed=0")
    compiled = _native.compile(launched("residual", "cpu", 256, 256, 1024)[0], disjoint=True, texts=True, target="sm_90a")
    loads = [line.strip() for line in compiled.asm.splitlines() if "ld.global" in line]
    asking = [line for line in loads if line.startswith("@")]
    assert len(asking) >= 16
    assert len(loads) - len(asking) >= len(asking)


def test_packed_weights_are_unpacked_in_few_instructions(assemble):
    """Eight weights of a word are loaded once, and become floats without conversions of integers."""
    m, n, k = 16, 256, 256
    a, scales, c = (torch.zeros(*shape, dtype=torch.float16) for shape in ((m, k), (k // 128, n), (m, n)))
    packed = torch.zeros(k // 8, n, dtype=torch.int32)
    tiles = {"BM": 16, "BN": 128, "BK": 64}
    module = PROGRAMS.int4_weights[(2,)](a, packed, scales, c, m, n, k, SCALED=128, **tiles).module
    compiled = _native.compile(module, disjoint=True, texts=True, target="sm_90a")
    assert ": blocks consumers=" in compiled.plan, compiled.plan
    assert "unpacked in registers" in compiled.plan
    step = compiled.asm[compiled.asm.index("mbarrier.try_wait") : compiled.asm.index("wgmma.mma_async")]
    assert "cvt.rn.f32.s32" not in step and "cvt.rn.f64" not in step
    assert step.count("ld.global") == 0 and step.count("ld.shared") <= 18 and step.count("add.f16x2") == 16
    assert "0 bytes spill stores, 0 bytes spill loads" in assemble(compiled.asm, "sm_90a")
