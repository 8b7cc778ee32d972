"""The matmuls of the three languages, as the tests of both kinds run them."""

from pathlib import Path

import torch

from tilery import compat

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def tileon(m, n, k, dtype, device, blocks=(128, 256, 64), out=torch.float32, transposed=False):
    """(module of tile IR, result, operands): C = A @ B by examples/tileon/matmul.py. transposed: B's columns are contiguous."""
    program = compat.load(EXAMPLES / "tileon" / "matmul.py")
    a, b = operands(m, n, k, dtype, device)
    if transposed:
        b = b.t().contiguous().t()
    c = torch.full((m, n), float("nan"), dtype=out, device=device)
    bm, bn, bk = blocks
    grid = (-(-m // bm) * -(-n // bn),)
    names = {"BLOCK_M": bm, "BLOCK_N": bn, "BLOCK_K": bk}
    compiled = program.matmul_kernel[grid](a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), **names)
    return compiled.module, c, a, b


def ninetoothed(m, n, k, dtype, device, blocks=(128, 256, 64)):
    """The same by examples/ninetoothed/matmul.py; its result is float16."""
    program = compat.load(EXAMPLES / "ninetoothed" / "matmul.py")
    a, b = operands(m, n, k, dtype, device)
    c = torch.full((m, n), float("nan"), dtype=torch.float16, device=device)
    names = dict(zip(("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K"), blocks, strict=True))
    program.matmul_kernel(a, b, c, **names)
    return list(program.matmul_kernel.compiled.values())[-1].module, c, a, b


def tilelang(m, n, k, dtype, device, blocks=(128, 256, 64)):
    """The same by examples/tilelang/matmul.py."""
    program = compat.load(EXAMPLES / "tilelang" / "matmul.py")
    kernel = program.matmul_kernel_builder(m, n, k, *blocks, str(dtype).removeprefix("torch."))
    a, b = operands(m, n, k, dtype, device)
    c = torch.full((m, n), float("nan"), dtype=dtype, device=device)
    kernel(a, b, c)
    return kernel._latest().module, c, a, b


def tilelang_column_major(m, n, k, dtype, device, blocks=(128, 256, 64)):
    """The TileLang program of benchmarks/peers, which takes B as its columns one after the other."""
    program = compat.load(EXAMPLES.parent / "benchmarks" / "peers" / "tilelang_matmul.py")
    kernel = program.matmul(m, n, k, True, 3, *blocks, str(dtype).removeprefix("torch."))
    a, b = operands(m, n, k, dtype, device)
    c = torch.full((m, n), float("nan"), dtype=dtype, device=device)
    kernel(a, b.t().contiguous(), c)
    return kernel._latest().module, c, a, b


def operands(m, n, k, dtype, device):
    return torch.randn(m, k, device=device).to(dtype), torch.randn(k, n, device=device).to(dtype)


LANGUAGES = {
    "tileon": tileon,
    "ninetoothed": ninetoothed,
    "tilelang": tilelang,
    "tilelang_column_major": tilelang_column_major,
}
