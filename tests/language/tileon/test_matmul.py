"""The documentation's matmul as printed and corrected, and matmuls with epilogues."""

import numpy as np
import pytest
import torch
from language.tileon import kernels

SEED_BLOCKS = dict(BLOCK_M=128, BLOCK_N=256, BLOCK_K=64)


def launch(kernel, a, b, c, blocks, **more):
    (m, k), n = a.shape, b.shape[1]

    def grid(meta):
        return (kernels.tl.cdiv(m, meta["BLOCK_M"]) * kernels.tl.cdiv(n, meta["BLOCK_N"]),)

    kernel[grid](a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), **blocks, **more)
    return c


def test_the_printed_program_adds_up_half_of_k():
    a, b = torch.rand(150, 256), torch.rand(256, 70)
    c = launch(kernels.printed_matmul, a, b, torch.full((150, 70), float("nan")), dict(BLOCK_M=32, BLOCK_N=32, BLOCK_K=64))
    torch.testing.assert_close(c, (a[:, :128].double() @ b[:128].double()).float(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("m, n, k", [(64, 64, 64), (100, 70, 50), (1, 1, 1), (33, 17, 129), (5, 3, 0), (0, 4, 4)])
def test_corrected(m, n, k):
    a, b = torch.randn(m, k), torch.randn(k, n)
    c = launch(kernels.matmul, a, b, torch.full((m, n), float("nan")), dict(BLOCK_M=32, BLOCK_N=16, BLOCK_K=32))
    torch.testing.assert_close(c, (a.double() @ b.double()).float(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_types(dtype):
    a, b = torch.randn(40, 48).to(dtype), torch.randn(48, 24).to(dtype)
    out = torch.float64 if dtype == torch.float64 else torch.float32
    c = launch(
        kernels.matmul,
        a,
        b,
        torch.full((40, 24), float("nan"), dtype=out),
        dict(BLOCK_M=16, BLOCK_N=16, BLOCK_K=16),
        ACC="fp64" if dtype == torch.float64 else "fp32",
    )
    torch.testing.assert_close(c, (a.double() @ b.double()).to(out), rtol=1e-5, atol=1e-5)


def test_transposed_strided_and_requiring_grad():
    a, b = torch.randn(48, 40).t().requires_grad_(), torch.randn(24, 96)[:, ::2].t()
    c = launch(kernels.matmul, a, b, torch.full((24, 40), float("nan")).t(), dict(BLOCK_M=16, BLOCK_N=16, BLOCK_K=16))
    torch.testing.assert_close(c, (a.detach().double() @ b.double()).float(), rtol=1e-5, atol=1e-5)


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
    torch.testing.assert_close(c.double(), expected, rtol=2e-3, atol=2e-3)


def test_integers():
    a = torch.randint(-128, 128, (33, 40), dtype=torch.int8)
    b = torch.randint(-128, 128, (40, 20), dtype=torch.int8)
    c = launch(
        kernels.matmul, a, b, torch.full((33, 20), -7, dtype=torch.int32), dict(BLOCK_M=16, BLOCK_N=16, BLOCK_K=16), ACC="int32"
    )
    assert torch.equal(c, (a.long() @ b.long()).int())


def test_numpy_arrays():
    a, b = np.random.randn(20, 30).astype(np.float32), np.random.randn(30, 10).astype(np.float32)
    c = np.full((20, 10), np.nan, np.float32)
    kernels.matmul[(2,)](a, b, c, 20, 10, 30, 30, 1, 10, 1, 10, 1, BLOCK_M=16, BLOCK_N=16, BLOCK_K=16)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=1e-5, atol=1e-5)
