"""Products of bytes whose second factor has its rows in one piece: threads turn it in their registers, in any spelling."""

from pathlib import Path

import pytest
import torch

from tilery import _native, compat
from tilery.tileon.tools.tensor_descriptor import TensorDescriptor

PEERS = Path(__file__).resolve().parents[2] / "benchmarks" / "peers"
SPELLINGS = compat.load(PEERS / "matmul_spellings.py")
TILELANG = compat.load(PEERS / "tilelang_matmul.py")
NAMES = ("plain", "batch_axis", "int64_offsets", "block_pointer", "host_descriptor", "device_descriptor", "persistent",
         "bias_gelu", "residual", "other_order", "tilelang")  # fmt: skip
TYPES = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}


def launched(name, device, m, n, k, dtype=torch.float8_e4m3fn, blocks=(128, 128, 128), turned=False):
    """(module, result, what it should be, what its sums may lose). turned: A has its columns in one piece, and B, too."""
    a, b = (torch.randn(rows, columns, device=device).to(dtype) for rows, columns in ((m, k), (k, n)))
    if turned:
        a, b = a.t().contiguous().t(), b.t().contiguous().t()
    c = torch.ones(m, n, device=device, dtype=torch.bfloat16)
    bias = torch.randn(n, device=device).bfloat16()
    exact = a.double() @ b.double()
    # The tensor cores keep 13 bits behind the leading one of the largest of 32 products and the sum: each step may lose one.
    lost = (k / 32 + 2) * 2.0**-12 * (a.double().abs() @ b.double().abs())
    tiles = -(-m // blocks[0]) * -(-n // blocks[1])
    names = dict(zip(("BM", "BN", "BK"), blocks, strict=True), GROUP=8)
    if name == "tilelang":
        element = {torch.float8_e4m3fn: "float8_e4m3", torch.float8_e5m2: "float8_e5m2"}[dtype]
        kernel = TILELANG.matmul(m, n, k, False, 2, *blocks, dtype=element, out="bfloat16")
        kernel(a, b, c)
        return kernel._latest().module, c, exact, lost
    if name == "host_descriptor":
        boxes = ((blocks[0], blocks[2]), (blocks[2], blocks[1]), blocks[:2])
        described = [TensorDescriptor.from_tensor(t, list(box)) for t, box in zip((a, b, c), boxes, strict=True)]
        compiled = SPELLINGS.host_descriptor[(tiles,)](*described, m, n, k, TYPE=SPELLINGS.tl.bfloat16, **names)
        return compiled.module, c, exact, lost
    grid = {"batch_axis": (tiles, 1), "persistent": (3,)}.get(name, (tiles,))
    strides = (*a.stride(), *b.stride(), *c.stride())
    compiled = getattr(SPELLINGS, name)[grid](a, b, c, bias, m, n, k, *strides, **names)
    if name == "residual":
        exact = exact + 1
    elif name == "bias_gelu":
        exact = torch.nn.functional.gelu(exact + bias.double())
        lost = 1.2 * lost  # gelu's slope
    return compiled.module, c, exact, lost


def assert_turned(module, assemble):
    compiled = _native.compile(module, disjoint=True, texts=True, target="sm_90a")
    assert ": blocks consumers=" in compiled.plan, compiled.plan
    assert ": bytes across k, which threads read into registers and turn" in compiled.plan
    assert compiled.asm.count("ldmatrix") and "prmt.b32" in compiled.asm
    text = assemble(compiled.asm, "sm_90a")
    assert "0 bytes spill stores, 0 bytes spill loads" in text
    assert "C75" not in text
    return compiled


@pytest.mark.parametrize("name", NAMES)
def test_takes_the_path(name, assemble):
    assert "swapped" in assert_turned(launched(name, "cpu", 256, 256, 256)[0], assemble).plan


@pytest.mark.parametrize("blocks", [(128, 256, 128), (256, 128, 128), (128, 192, 64), (64, 128, 128), (64, 64, 32)], ids=str)
def test_tiles(blocks, assemble):
    assert_turned(launched("plain", "cpu", 256, 384, 256, blocks=blocks)[0], assemble)


def test_a_first_factor_that_lies_across(assemble):
    assert "swapped" not in assert_turned(launched("plain", "cpu", 256, 256, 256, turned=True)[0], assemble).plan


@pytest.mark.gpu
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", NAMES)
def test_is_right(name, kind):
    m, n, k = (256, 384, 512) if name == "tilelang" else (300, 400, 272)
    _, c, exact, lost = launched(name, "cuda", m, n, k, TYPES[kind])
    assert ((c.double() - exact).abs() <= lost + 2.0**-8 * exact.abs() + 2.0**-20).all()


@pytest.mark.gpu
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("blocks", [(128, 256, 128), (256, 128, 128), (128, 192, 64), (64, 128, 128), (64, 64, 32)], ids=str)
def test_tiles_are_right(blocks, turned):
    for shape in ((300, 400, 272), (304, 1008, 1040)):
        _, c, exact, lost = launched("plain", "cuda", *shape, blocks=blocks, turned=turned)
        assert ((c.double() - exact).abs() <= lost + 2.0**-8 * exact.abs() + 2.0**-20).all()


def test_sums_with_all_bits_are_of_128_columns(assemble):
    """Products of half the width would wait as often as they multiply; their registers are there: work on results comes later."""
    a, b = (torch.randn(256, 256).to(torch.float8_e4m3fn) for _ in range(2))
    c = torch.empty(256, 256, dtype=torch.float16)
    matmul = compat.load(PEERS.parents[1] / "examples" / "tileon" / "matmul.py").matmul_kernel
    strides = (*a.stride(), *b.stride(), *c.stride())
    module = matmul[(2,)](a, b, c, 256, 256, 256, *strides, BLOCK_M=256, BLOCK_N=128, BLOCK_K=128).module
    compiled = _native.compile(module, disjoint=True, texts=True, target="sm_90a")
    assert "partial=128 partial_columns=128" in compiled.plan
    assert "0 bytes spill stores, 0 bytes spill loads" in assemble(compiled.asm, "sm_90a")
