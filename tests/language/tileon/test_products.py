"""Products of batches of any rank, with every accumulator, against torch in float64."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def batches(a_ptr, b_ptr, acc_ptr, c_ptr, A: tl.constexpr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    a = tl.load(a_ptr + tl.arange(0, A * B * M * K)).reshape(A, B, M, K)
    b = tl.load(b_ptr + tl.arange(0, A * B * K * N)).reshape(A, B, K, N)
    acc = tl.load(acc_ptr + tl.arange(0, A * B * M * N)).reshape(A, B, M, N)
    c = tl.dot(a, b, acc) + tl.dot(a, b)
    tl.store(c_ptr + tl.arange(0, A * B * M * N), c.reshape(A * B * M * N))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_batches_of_two_dimensions(device, dtype):
    a, b = torch.randn(2, 3, 16, 32).to(dtype), torch.randn(2, 3, 32, 16).to(dtype)
    acc, c = torch.randn(2, 3, 16, 16), torch.empty(2, 3, 16, 16)
    batches[(1,)](a, b, acc, c, 2, 3, 16, 16, 32)
    torch.testing.assert_close(c.double(), acc.double() + 2 * (a.double() @ b.double()), atol=1e-4, rtol=1e-4)


@tileon.jit
def half(a_ptr, b_ptr, acc_ptr, c_ptr, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    acc = tl.load(acc_ptr + at)
    acc = tl.dot(tl.load(a_ptr + at), tl.load(b_ptr + at), acc, out_dtype=acc.dtype)
    tl.store(c_ptr + at, acc)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float8_e5m2, torch.float8_e4m3fn])
def test_sums_in_float16(device, dtype):
    a, b = (torch.randint(-3, 4, (32, 32)).float().to(dtype) for _ in range(2))
    acc, c = torch.randint(-9, 9, (32, 32)).half(), torch.empty(32, 32, dtype=torch.float16)
    half[(1,)](a, b, acc, c, 32)
    assert torch.equal(c.double(), acc.double() + a.double() @ b.double())  # small integers are exact
