"""The documentation's matmul as printed and corrected, and matmuls of other types and with epilogues."""

from pathlib import Path

import numpy as np
import pytest
import torch
from language.tileon import kernels

from tilery import compat
from tilery.tileon import language as tl

EXAMPLE = Path(__file__).parents[3] / "examples" / "tileon" / "matmul.py"
UNIT = 2.0**-24 * 1.01  # of float32, with what is of second order


@pytest.fixture(scope="module")
def example():
    return compat.load(EXAMPLE)


@pytest.fixture
def printed(tmp_path):
    """The program as the documentation prints it: the pointers advance and the offsets that the masks are made of do, too."""
    last = "        b_ptrs += BLOCK_K * stride_bk\n"
    text = EXAMPLE.read_text()
    assert text.count(last) == 1
    program = tmp_path / "printed.py"
    program.write_text(text.replace(last, last + "        offs_k += BLOCK_K\n"))
    return compat.load(program)


def check(c, a, b):
    """c = a @ b, where each of K products and sums was rounded to float32 (those of 16-bit floats are exact)."""
    a, b = a.detach().double(), b.detach().double()
    assert ((c.double() - a @ b).abs() <= (a.shape[1] + 1) * UNIT * (a.abs() @ b.abs())).all()


def test_the_printed_program_adds_up_half_of_k(printed):
    a, b = torch.rand(150, 256), torch.rand(256, 70)
    check(printed.matmul(a, b, torch.full((150, 70), float("nan")), blocks=(32, 32, 64)), a[:, :128], b[:128])


@pytest.mark.parametrize("m, n, k", [(64, 64, 64), (100, 70, 50), (1, 1, 1), (33, 17, 129), (5, 3, 0), (0, 4, 4)])
def test_corrected(example, m, n, k):
    a, b = torch.randn(m, k), torch.randn(k, n)
    check(example.matmul(a, b, torch.full((m, n), float("nan")), blocks=(32, 16, 32)), a, b)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_narrow_floats(example, dtype):
    a, b = torch.randn(40, 48).to(dtype), torch.randn(48, 24).to(dtype)
    check(example.matmul(a, b, torch.full((40, 24), float("nan")), blocks=(16, 16, 16)), a, b)


def test_double():
    a, b, c = torch.randn(32, 56).double(), torch.randn(56, 16).double(), torch.full((32, 16), float("nan"), dtype=torch.float64)
    kernels.small_matmul[(2,)](a, b, c, 56, 16, BLOCK_M=16, BLOCK_K=16, ACC=tl.float64)
    # Both sums round each of 56 products and sums to float64.
    assert ((c - a @ b).abs() <= 2 * 57 * 2.0**-53 * 1.01 * (a.abs() @ b.abs())).all()


def test_integers():
    a = torch.randint(-128, 128, (32, 40), dtype=torch.int8)
    b = torch.randint(-128, 128, (40, 16), dtype=torch.int8)
    c = torch.full((32, 16), -7, dtype=torch.int32)
    kernels.small_matmul[(2,)](a, b, c, 40, 16, BLOCK_M=16, BLOCK_K=16, ACC=tl.int32)
    assert torch.equal(c, (a.double() @ b.double()).int())


def test_transposed_strided_and_requiring_grad(example):
    a, b = torch.randn(48, 40).t().requires_grad_(), torch.randn(24, 96)[:, ::2].t()
    check(example.matmul(a, b, torch.full((24, 40), float("nan")).t(), blocks=(16, 16, 16)), a, b)


@pytest.mark.parametrize("activation", ["", "leaky_relu", "relu"])
def test_bias_and_activation(activation):
    a, b, bias = torch.randn(50, 40), torch.randn(40, 30), torch.randn(30)
    c = torch.full((50, 30), float("nan"), dtype=torch.float16)
    kernels.matmul_bias[(2, 2)](
        a,
        b,
        bias,
        c,
        50,
        30,
        40,
        *a.stride(),
        *b.stride(),
        *c.stride(),
        BLOCK_M=32,
        BLOCK_N=16,
        BLOCK_K=16,
        ACTIVATION=activation,
        num_warps=8,
        num_stages=3,
    )
    x = a.double() @ b.double() + bias.double()
    expected = {"": x, "leaky_relu": torch.where(x >= 0, x, 0.01 * x), "relu": x.clamp(min=0)}[activation]
    # Rounded to float16 (2^-11, 2^-25 below its normal numbers); in float32 K products and sums, the bias, the slope.
    bound = 43 * UNIT * (a.double().abs() @ b.double().abs() + bias.double().abs()) + 2.0**-11 * expected.abs() + 2.0**-25
    assert ((c.double() - expected).abs() <= 1.01 * bound).all()


def test_numpy_arrays(example):
    a, b = np.random.randn(20, 30).astype(np.float32), np.random.randn(30, 10).astype(np.float32)
    c = np.full((20, 10), np.nan, np.float32)
    example.matmul_kernel[(2,)](a, b, c, 20, 10, 30, 30, 1, 10, 1, 10, 1, BLOCK_M=16, BLOCK_N=16, BLOCK_K=16)
    check(torch.from_numpy(c), torch.from_numpy(a), torch.from_numpy(b))
