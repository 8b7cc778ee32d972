"""Operands that are no boxes: their products take Hopper's path, threads fetch them, and all is right."""

from pathlib import Path

import pytest
import torch

from tilery import _native, compat, ninetoothed

PROGRAMS = compat.load(Path(__file__).parent / "fetched_programs.py")
CONVOLUTION = Path(__file__).resolve().parents[2] / "benchmarks" / "peers" / "tilelang_convolution.py"
BLOCKS = (64, 64, 64)
HOW = {  # which operand, and how
    "gathered": "a: copied by threads, 16 bytes",
    "sparse": "a: copied by threads, 16 bytes",
    "counted": "a: copied by threads, 16 bytes",
    "counted_relu": "a: fetched by threads",
    "ragged": "a: fetched by threads",
    "int4": "b, unpacked in registers, of: box of B",
    "bytes": "b, unpacked in registers, of: box of B",
    "rows": "a, unpacked in registers, of: box of A",
    "relu": "a, unpacked in registers, of: box of A",
}
STEPS = (3, 0, 4)  # of the tiles of rows, which the kernel loads
WITHOUT_BOXES = ("ragged", "int4", "bytes", "rows", "relu")  # of launches that break their conditions


def products(kind, device):
    """(A, B, a spoilt result, the extra argument, sizes, what A and B mean in f64)."""
    m, n, k = (100, 75, 197) if kind == "ragged" else (192 if kind.startswith("counted") else 128, 192, 256)
    a, b = torch.randn(m, k, device=device).half(), torch.randn(k, n, device=device).half()
    extra = a
    exact_a, exact_b = a.double(), b.double()
    if kind == "gathered":
        extra = torch.randint(0, m, (m,), dtype=torch.int32, device=device)
        exact_a = exact_a[extra.long()]
    elif kind.startswith("counted"):
        rows = torch.randint(0, m, (m,), dtype=torch.int32, device=device)
        steps = torch.tensor(STEPS, dtype=torch.int32, device=device)
        extra = torch.cat([rows, steps])
        among = torch.arange(k, device=device)[None, :] < (steps * BLOCKS[2]).repeat_interleave(BLOCKS[0])[:, None]
        exact_a = torch.where(among, exact_a[rows.long()], 0)
        exact_a = exact_a.clamp(min=0) if kind == "counted_relu" else exact_a
    elif kind == "sparse":
        extra = torch.tensor([2, 0, 1, 3], dtype=torch.int32, device=device)
    elif kind == "int4":
        packed = torch.randint(-(2**31), 2**31 - 1, (k // 8, n), dtype=torch.int32, device=device)
        extra = torch.rand(n, device=device).half()
        places = torch.arange(0, 32, 4, dtype=torch.int32, device=device)
        numbers = ((packed[:, None, :] >> places[None, :, None]) & 15) - 8
        b, exact_b = packed, (numbers.reshape(k, n).half() * extra).double()
    elif kind == "bytes":
        b, extra = torch.randint(-128, 128, (k, n), dtype=torch.int8, device=device), torch.rand(n, device=device).half() / 64
        exact_b = (b.half() * extra).double()
    elif kind == "rows":
        extra = torch.rand(m, device=device).half()
        exact_a = (a * extra[:, None]).double()
    elif kind == "relu":
        exact_a = exact_a.clamp(min=0)
    c = torch.full((m, n), 77, dtype=torch.float16, device=device)
    return a, b, c, extra, (m, n, k), exact_a, exact_b


def launched(kind, device):
    a, b, c, extra, (m, n, k), exact_a, exact_b = products(kind, device)
    grid = (-(-m // BLOCKS[0]), -(-n // BLOCKS[1]))
    compiled = PROGRAMS.product[grid](a, b, c, extra, m, n, k, kind, *BLOCKS)
    return compiled.module, c, exact_a, exact_b


def check(c, exact_a, exact_b):
    """Sums in f32, rounded once to f16."""
    exact, sizes = exact_a @ exact_b, exact_a.abs() @ exact_b.abs()
    bound = (exact_a.shape[-1] + 2) * 2.0**-23 * sizes * 1.01 + 2.0**-11 * exact.abs() + 2.0**-24
    assert ((c.double() - exact).abs() <= bound).all()


@pytest.mark.parametrize("kind", HOW)
def test_they_take_the_path(kind, assemble):
    module, c, exact_a, exact_b = launched(kind, "cpu")
    check(c, exact_a, exact_b)
    compiled = _native.compile(module, disjoint=True, texts=True, target="sm_90a", boxes=kind != "ragged")
    assert ": blocks consumers=" in compiled.plan, compiled.plan
    assert "\n  " + HOW[kind] in compiled.plan, compiled.plan
    assert "wgmma.mma_async" in compiled.asm
    assert "0 bytes spill stores, 0 bytes spill loads" in assemble(compiled.asm, "sm_90a")


@pytest.mark.parametrize("kind", WITHOUT_BOXES)
def test_without_boxes_threads_fetch(kind, assemble):
    module = launched(kind, "cpu")[0]
    compiled = _native.compile(module, disjoint=True, texts=True, target="sm_90a", boxes=False)
    assert f"\n  {HOW[kind][0]}: fetched by threads" in compiled.plan, compiled.plan
    assert "0 bytes spill stores, 0 bytes spill loads" in assemble(compiled.asm, "sm_90a")


@pytest.mark.gpu
@pytest.mark.parametrize("kind", HOW)
def test_they_are_right(kind):
    _, c, exact_a, exact_b = launched(kind, "cuda")
    check(c, exact_a, exact_b)


def convolved(by_index, device):
    x, w = torch.randn(2, 10, 9, 64, device=device).half(), torch.randn(3, 3, 64, 64, device=device).half()
    y = torch.full((2 * 10 * 9, 64), 77, dtype=torch.float16, device=device)
    kernel = compat.load(CONVOLUTION).convolution(2, 10, 9, 64, 64, 3, 1, *BLOCKS, by_index)
    kernel(x, w.reshape(-1, 64), y)
    patches = torch.nn.functional.unfold(x.double().permute(0, 3, 1, 2), 3, padding=1)  # (N, C * 9, places)
    patches = patches.reshape(2, 64, 9, -1).permute(0, 3, 2, 1).reshape(-1, 9 * 64)
    check(y, patches, w.double().reshape(-1, 64))
    return kernel._latest().module


@pytest.mark.parametrize("by_index", [False, True])
def test_windows_take_the_path(by_index, assemble):
    compiled = _native.compile(convolved(by_index, "cpu"), disjoint=True, texts=True, target="sm_90a")
    assert "\n  a: copied by threads, 16 bytes at a time along dimension 1" in compiled.plan, compiled.plan
    assert "cp.async.cg.shared.global" in compiled.asm
    assert "0 bytes spill stores, 0 bytes spill loads" in assemble(compiled.asm, "sm_90a")


@pytest.mark.gpu
@pytest.mark.parametrize("by_index", [False, True])
def test_windows_are_right(by_index):
    convolved(by_index, "cuda")


def test_windows_of_arrangements_take_the_path(assemble):
    program = compat.load(Path(__file__).resolve().parents[2] / "examples" / "ninetoothed" / "conv2d.py")
    program.BLOCK_SIZE_M, program.BLOCK_SIZE_N, program.BLOCK_SIZE_K = BLOCKS
    tensors = tuple(ninetoothed.Tensor(4, shape_options={"constexpr": True}) for _ in range(3))
    kernel = ninetoothed.make(program.arrangement, program.application, tensors)
    x, w = torch.randn(2, 64, 18, 18).half(), torch.randn(64, 64, 3, 3).half()
    y = torch.full((2, 64, 16, 16), 77, dtype=torch.float16)
    kernel(x, w, y)
    patches = torch.nn.functional.unfold(x.double(), 3).transpose(1, 2)  # (N, places, C * 9)
    check(y.permute(0, 2, 3, 1).reshape(-1, 64), patches.reshape(-1, 64 * 9), w.double().reshape(64, -1).T)
    compiled = _native.compile(list(kernel.compiled.values())[-1].module, disjoint=True, texts=True, target="sm_90a")
    assert "\n  a: fetched by threads, 8 at a time along dimension 1" in compiled.plan, compiled.plan
    assert "shfl.sync.idx" in compiled.asm  # numbers of k, from lane to lane
    assert "mul.wide.s32" in compiled.asm or "mad.wide.s32" in compiled.asm  # which are of 32 bits
    assert "0 bytes spill stores, 0 bytes spill loads" in assemble(compiled.asm, "sm_90a")
