"""Products whose results are f16: their sums are f32 and rounded once, so they take the path of others."""

import pytest
import torch

from tilery.tileon import jit
from tilery.tileon import language as tl


@jit
def steps(A, B, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, CARRIED: tl.constexpr):
    """Sums that a loop carries as f16, or each step's product rounded and added to what is carried as f32."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float16 if CARRIED else tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        k = step * BK + tl.arange(0, BK)
        a = tl.load(A + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(B + k[:, None] * N + n[None, :], mask=(n[None, :] < N) & (k[:, None] < K), other=0.0)
        if CARRIED:
            total = tl.dot(a, b, total, out_dtype=tl.float16)
        else:
            total = total * 0.5 + tl.dot(a, b, out_dtype=tl.float16)
    tl.store(C + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


@jit
def attend(Q, K, V, S, OUT, T, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Keys of 8 bits, and values whose products are f16."""
    m, n, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    q = tl.load(Q + m[:, None] * D + d[None, :], mask=m[:, None] < T, other=0)
    most = tl.full((BM,), float("-inf"), tl.float32)
    sums, total = tl.zeros((BM,), tl.float32), tl.zeros((BM, D), tl.float32)
    for start in range(0, T, BN):
        k = tl.load(K + (start + n[None, :]) * D + d[:, None], mask=start + n[None, :] < T, other=0)
        s = tl.dot(q, k).to(tl.float32) * tl.load(S + start // BN)
        s = tl.where(start + n[None, :] < T, s, float("-inf"))
        now = tl.maximum(most, tl.max(s, 1))
        p = tl.math.exp2(s - now[:, None])
        scale = tl.math.exp2(most - now)
        sums, total = sums * scale + tl.sum(p, 1), total * scale[:, None]
        v = tl.load(V + (start + n[:, None]) * D + d[None, :], mask=start + n[:, None] < T, other=0.0)
        total += tl.dot(p.to(tl.float16), v, out_dtype=tl.float16)
        most = now
    tl.store(OUT + m[:, None] * D + d[None, :], total / sums[:, None], mask=m[:, None] < T)


def multiply(m, n, k, carried, device):
    g = torch.Generator().manual_seed(m + n + k)
    a, b = (torch.randint(-2, 3, shape, generator=g, device="cpu").half() for shape in ((m, k), (k, n)))
    c = torch.full((m, n), float("nan"), dtype=torch.float16 if carried else torch.float32, device=device)
    run = steps[(-(-m // 64), -(-n // 128))](a.to(device), b.to(device), c, m, n, k, 64, 128, 64, carried)
    wanted = torch.zeros(m, n, dtype=torch.float64, device="cpu")
    for at in range(0, k, 64):
        wanted = (wanted if carried else wanted * 0.5) + a[:, at : at + 64].double() @ b[at : at + 64].double()
    return run, c, wanted


def look(t, d, device):
    g = torch.Generator().manual_seed(t + d)
    q, k = (torch.randint(-100, 101, (t, d), generator=g, device="cpu").to(torch.int8) for _ in range(2))
    v = torch.randn(t, d, generator=g, device="cpu").half()
    scale = (torch.rand(-(-t // 64), generator=g, device="cpu") + 0.5) / 8000
    o = torch.full((t, d), float("nan"), device=device)
    run = attend[(-(-t // 128),)](q.to(device), k.to(device), v.to(device), scale.to(device), o, t, 128, 64, d)
    p = torch.softmax(q.double() @ k.double().T * scale.double().repeat_interleave(64)[:t] * 0.6931471805599453, 1)
    return run, o, p @ v.double()


@pytest.mark.gpu
@pytest.mark.parametrize("carried", [False, True], ids=["added", "carried"])
@pytest.mark.parametrize("shape", [(64, 128, 256), (100, 136, 200), (3, 8, 64), (65, 130, 192)], ids=str)
def test_products(shape, carried):
    _, c, wanted = multiply(*shape, carried, "cuda")
    assert wanted.abs().max() < 1024, "f16 has all such integers"
    assert (c.cpu().double() == wanted).all()


@pytest.mark.gpu
@pytest.mark.parametrize("t, d", [(256, 64), (200, 128), (65, 64)])
def test_attention(t, d):
    _, o, wanted = look(t, d, "cuda")
    assert (o.cpu().double() - wanted).abs().max() < 4e-3


def test_takes_the_path(goes_through_blocks):
    for carried in (False, True):
        goes_through_blocks(multiply(64, 128, 256, carried, "cpu")[0].module)
    goes_through_blocks(look(256, 64, "cpu")[0].module)
