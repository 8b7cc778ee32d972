"""Stream-K, attention over a window, persistent loops with descriptors: programs that deal out their own work."""

import pytest
import torch
from language.attention import attention_with_bound
from language.tileon import scheduled_kernels as kernels

from tilery import triton


def fresh(kernel):
    """The kernel, compiled for this test alone."""
    return triton.jit(kernel.fn)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("programs", [1, 7])
@pytest.mark.parametrize("m, n, k", [(100, 70, 333), (64, 32, 500), (33, 1, 40), (128, 96, 32), (3, 2, 0)])
def test_stream_k_matmul(m, n, k, programs):
    a, b = torch.randn(m, k, dtype=torch.float16), torch.randn(n, k, dtype=torch.float16).T
    around = torch.full((m + 1, n + 3), float("nan"))
    c = around[:m, :n].zero_()
    fresh(kernels.stream_k_matmul)[(programs,)](
        a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), BLOCK_M=32, BLOCK_N=32, BLOCK_K=32
    )
    # Products of 16-bit floats are exact in float32; k of them and a program's part each are added, each sum rounded by 2^-24.
    bound = (k + programs) * 2.0**-24 * 1.01 * (a.double().abs() @ b.double().abs())
    assert ((c.double() - a.double() @ b.double()).abs() <= bound).all()
    assert around[m:].isnan().all() and around[:, n:].isnan().all()


@pytest.mark.parametrize("window", [1, 20, 33, 1000])
@pytest.mark.parametrize(
    "batch, heads, group, n, d, dtype",
    [(2, 4, 2, 75, 16, torch.float16), (1, 3, 3, 64, 32, torch.bfloat16), (1, 2, 1, 40, 16, torch.float32)],
)
def test_window_attention(batch, heads, group, n, d, dtype, window):
    q = torch.randn(batch, n, heads, d).to(dtype).transpose(1, 2)  # heads beside each other, as projections make them
    k, v = (torch.randn(batch, n, heads // group, d).to(dtype).transpose(1, 2) for _ in range(2))
    out = torch.full_like(q, float("nan"))
    assert out.stride() == q.stride()
    kernels.window_attention[(triton.cdiv(n, 32), batch * heads)](
        q, k, v, out, *q.stride(), *k.stride(), heads, n, d**-0.5,
        WINDOW=window, GROUP=group, BLOCK_M=32, BLOCK_N=16, D=d, num_warps=4
    )  # fmt: skip
    distance = torch.arange(n)[:, None] - torch.arange(n)[None, :]
    seen = (distance >= 0) & (distance < window)
    whole = [t.repeat_interleave(group, 1) for t in (k, v)]
    expected, bound = attention_with_bound(q, *whole, block=16, scale=d**-0.5, mask=seen)
    assert ((out.double() - expected).abs() <= bound).all()
    limits = {torch.float32: 5e-2 if q.is_cuda else 1e-3, torch.float16: 6e-3, torch.bfloat16: 4e-2}
    assert bound.max() < limits[dtype]  # the bound says something


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("programs", [1, 5, 64])
@pytest.mark.parametrize("m, n, k", [(100, 72, 136), (64, 64, 64), (33, 8, 40), (129, 40, 8)])
def test_persistent_linear_gelu(m, n, k, programs):
    a, b = torch.randn(m, k, dtype=torch.float16), torch.randn(n, k, dtype=torch.float16)
    bias = torch.randn(n)
    around = torch.full((m + 1, n), float("nan"), dtype=torch.float16)
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8))
    fresh(kernels.persistent_linear_gelu)[(programs,)](
        a, b, bias, around, m, n, k, BLOCK_M=32, BLOCK_N=32, BLOCK_K=32, GROUP=2
    )
    x = a.double() @ b.double().T + bias.double()
    expected = torch.nn.functional.gelu(x)
    # Of x: k products, exact in float32, and the bias are added, each sum rounded by u = 2^-24; gelu's slope is at most 1.13.
    # Of gelu: its three products, the sum and erf, of 2 units, are off by 8u of x; the result is rounded to float16.
    u = 2.0**-24
    size = a.double().abs() @ b.double().abs().T + bias.double().abs()
    bound = 1.13 * (k + 1) * u * size + 8 * u * x.abs() + 2.0**-11 * expected.abs() + 2.0**-25
    assert ((around[:m].double() - expected).abs() <= 1.01 * bound).all()
    assert around[m:].isnan().all()
