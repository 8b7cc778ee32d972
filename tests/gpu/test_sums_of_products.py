"""Of a sum of two products a GPU rounds one alone, the other, whose factors are there first, with the sum, as Triton does.

What Triton and nvcc compile these sums to was looked at in their PTX."""

import numpy as np
import pytest
import torch
from gpu.programs import EXAMPLES

from tilery import compat, ninetoothed, tileon
from tilery.ninetoothed import Tensor
from tilery.ninetoothed import language as ntl
from tilery.tileon import language as tl

pytestmark = pytest.mark.gpu


@tileon.jit
def sums(A, B, C, D, OUT, WHICH: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b, c, d = tl.load(A + i), tl.load(B + i), tl.load(C + i), tl.load(D + i)
    if WHICH == 0:
        result = a * b + c * d
    elif WHICH == 1:
        result = c * d + a * b
    elif WHICH == 2:
        result = c * d - a * b
    elif WHICH == 3:
        result = a * b + c
    elif WHICH == 4:
        result = d * c + b * a + c * a
    else:
        result = a * a * a * a * a * b + c * d  # deeper than what is loaded later
    tl.store(OUT + i, result)


@tileon.jit
def addmm(X, A, B, OUT, beta, alpha, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        depth = k + tl.arange(0, BK)
        a, b = tl.load(A + rows[:, None] * K + depth[None, :]), tl.load(B + depth[:, None] * BN + columns[None, :])
        total = tl.dot(a, b, total)
    at = rows[:, None] * BN + columns[None, :]
    beta, alpha = beta.to(tl.float16), alpha.to(tl.float16)
    tl.store(OUT + at, beta * tl.load(X + at) + alpha * total.to(tl.float16))


def application(input, lhs, rhs, beta, alpha, output):
    product = ntl.zeros(output.shape, dtype=ntl.float32)
    for k in range(lhs.shape[0]):
        product += ntl.dot(lhs[k], rhs[k])
    output = beta * input + alpha * ntl.cast(product, ntl.float16)  # noqa: F841


def numbers(dtype, shape, seed):
    """Of 9 bits: float64 holds what is rounded here, the product of any two results and the sum of a product and a result."""
    random = np.random.default_rng(seed)
    return (random.integers(-511, 512, shape) * 2.0 ** random.integers(-10, -7, shape)).astype(dtype)


def fused(x, y, z):
    """x * y + z in one rounding."""
    return (x.astype(np.float64) * y.astype(np.float64) + z.astype(np.float64)).astype(x.dtype)


@pytest.mark.gpu(emulated=False)  # which of two products is fused with their sum, the assembler and LLVM decide
@pytest.mark.parametrize("dtype", [np.float16, np.float32], ids=["f16", "f32"])
@pytest.mark.parametrize("which", range(6))
def test_exactly(which, dtype):
    count = 4096
    a, b, c, d = (numbers(dtype, count, seed) for seed in range(4))
    if dtype == np.float32:  # whose products of 9 bits are exact
        a, b, c, d = (x + numbers(dtype, count, 9 + seed) * dtype(2.0**-9) for seed, x in enumerate((a, b, c, d)))
    out = torch.empty(count, dtype=torch.from_numpy(a).dtype, device="cuda")
    sums[(1,)](*(torch.from_numpy(x).cuda() for x in (a, b, c, d)), out, WHICH=which, N=count)
    wanted, other = {
        0: lambda: (fused(a, b, c * d), fused(c, d, a * b)),
        1: lambda: (fused(a, b, c * d), fused(c, d, a * b)),
        2: lambda: (fused(c, d, -(a * b)), fused(-a, b, c * d)),
        3: lambda: (fused(a, b, c), a * b + c),
        4: lambda: (fused(c, a, fused(a, b, c * d)), fused(c, a, fused(c, d, a * b))),
        5: lambda: (fused(c, d, a * a * a * a * a * b), fused(a * a * a * a * a, b, c * d)),
    }[which]()
    assert (wanted != other).any()
    np.testing.assert_array_equal(out.cpu().numpy(), wanted)


@pytest.mark.gpu(emulated=False)
@pytest.mark.parametrize("language", ["tileon", "ninetoothed"])
def test_addmm_of_16_bits(language):
    """The product is there before the tensor that is added: alpha * product is rounded with the sum.

    Products of small whole numbers are exact in f16."""
    m, n, k = 256, 128, 192
    x, beta, alpha = numbers(np.float16, (m, n), 1), np.float16(0.3701), np.float16(1.297)
    random = np.random.default_rng(2)
    a, b = (random.integers(-2, 3, shape).astype(np.float16) for shape in ((m, k), (k, n)))
    product = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float16)
    out = torch.empty(m, n, dtype=torch.float16, device="cuda")
    tensors = [torch.from_numpy(t).cuda() for t in (x, a, b)]
    if language == "tileon":
        addmm[(m // 64,)](*tensors, out, float(beta), float(alpha), K=k, BM=64, BN=128, BK=64)
    else:
        arrangement = compat.load(EXAMPLES / "ninetoothed" / "addmm.py").addmm_arrangement
        types = [Tensor(rank, dtype=ninetoothed.float16) for rank in (2, 2, 2, 0, 0, 2)]
        ninetoothed.make(arrangement, application, types)(*tensors, torch.tensor(beta), torch.tensor(alpha), out)
    wanted = fused(np.broadcast_to(alpha, product.shape), product, beta * x)
    assert (wanted != fused(np.broadcast_to(beta, x.shape), x, alpha * product)).any()
    np.testing.assert_array_equal(out.cpu().numpy(), wanted)
