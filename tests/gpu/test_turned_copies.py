"""Copies that read along one dimension of memory and write along another: 16 bytes at once on both sides."""

import pytest
import torch

from tilery import _native, tileon
from tilery.tileon import language as tl


@tileon.jit
def by_strides(x_ptr, xm, xn, z_ptr, zm, zn, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    tl.store(z_ptr + m * zm + n * zn, tl.load(x_ptr + m * xm + n * xn))


@tileon.jit
def by_trans(x_ptr, z_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N)
    x = tl.load(x_ptr + m[:, None] * columns + n[None, :], mask=(m[:, None] < rows) & (n[None, :] < columns))
    tl.store(z_ptr + n[:, None] * rows + m[None, :], tl.trans(x), mask=(n[:, None] < columns) & (m[None, :] < rows))


@tileon.jit
def by_permute(x_ptr, z_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a, b, c = tl.arange(0, A)[:, None, None], tl.arange(0, B)[None, :, None], tl.arange(0, C)[None, None, :]
    x = tl.permute(tl.load(x_ptr + (a * B + b) * C + c), (2, 0, 1))
    c, a, b = tl.arange(0, C)[:, None, None], tl.arange(0, A)[None, :, None], tl.arange(0, B)[None, None, :]
    tl.store(z_ptr + (c * A + a) * B + b, x)


def data(dtype, *shape, device):
    return torch.randint(-128, 127, shape, device=device).to(dtype)


def strided(dtype, device, size=64, swap=False):
    x, z = data(dtype, size, size, device=device), torch.zeros(size, size, dtype=dtype, device=device)
    steps = (x.stride(1), x.stride(0), z, z.stride(0), z.stride(1)) if swap else (*x.stride(), z, z.stride(1), z.stride(0))
    return by_strides[(1,)](x, *steps, M=size, N=size), z, x.T


def transposed(dtype, device, rows=272, columns=144):
    x, z = data(dtype, rows, columns, device=device), torch.zeros(columns, rows, dtype=dtype, device=device)
    return by_trans[(-(-rows // 128), -(-columns // 64))](x, z, rows, columns, M=128, N=64), z, x.T


def permuted(dtype, device):
    x, z = data(dtype, 8, 16, 32, device=device), torch.zeros(32, 8, 16, dtype=dtype, device=device)
    return by_permute[(1,)](x, z, A=8, B=16, C=32), z, x.permute(2, 0, 1)


PROGRAMS = {
    "strides": strided,
    "strides, the other way round": lambda *a: strided(*a, swap=True),
    "strides, 128": lambda *a: strided(*a, size=128),
    "trans": transposed,
    "trans, odd ends": lambda *a: transposed(*a, rows=131, columns=77),
    "permute": permuted,
}
TYPES = (torch.int8, torch.float16, torch.float32, torch.float64)


@pytest.mark.pairs
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", [name for name in PROGRAMS if "odd" not in name and "128" not in name])
def test_sixteen_bytes_on_both_sides(name, dtype, arch, assemble):
    kernel, z, expected = PROGRAMS[name](dtype, "cpu")
    assert torch.equal(z, expected)
    compiled = _native.compile(kernel.module, disjoint=True, texts=True, target=arch)
    wide = ("v2.b64", "v4.b32") if dtype == torch.float64 else ("v4.b32",)
    for access in ("ld.global", "st.global"):
        lines = [line for line in compiled.asm.splitlines() if access in line]
        assert lines and all(any(w in line for w in wide) for line in lines), lines
    assemble(compiled.asm, arch)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_against_torch(name, dtype):
    _, z, expected = PROGRAMS[name](dtype, "cuda")
    assert torch.equal(z, expected)
