"""T.Parallel over one number of an element: its places are quotients and remainders, reflected, or read from a tensor."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T


def permuted(A, B, C, D, block, dtype):
    @T.prim_func
    def main(X: T.Tensor((A, B, C, D), dtype), Y: T.Tensor((A, C, B, D), dtype)):
        with T.Kernel(T.ceildiv(A * B * C * D, block), threads=128) as bx:
            for i in T.Parallel(block):
                at = bx * block + i
                d, b, c, a = at % D, at // D % B, at // (D * B) % C, at // (D * B * C)
                if at < A * B * C * D:
                    Y[a, c, b, d] = X[a, b, c, d]

    return main


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (2, 3, 4, 5), (2, 5, 3, 32), (1, 7, 9, 50), (3, 2, 2, 8)])
def test_permutations(shape, device):
    for block in (256,):
        for dtype in ("float32", "int8"):
            x = torch.randint(-100, 100, shape, device="cpu").to(getattr(torch, dtype))
            y = torch.full((shape[0], shape[2], shape[1], shape[3]), 77, device="cpu").to(x.dtype).to(device)
            tilelang.compile(permuted(*shape, block, dtype))(x.to(device), y)
            assert torch.equal(y.cpu(), x.permute(0, 2, 1, 3)), (block, dtype)


def convolved(N, C, H, W, K, block):
    @T.prim_func
    def main(X: T.Tensor((N, C, H, W), "float32"), F: T.Tensor((C, K, K), "float32"), Y: T.Tensor((N, C, H, W), "float32")):
        with T.Kernel(T.ceildiv(N * C * H * W, block), threads=128) as bx:
            total = T.alloc_fragment((block,), "float32")
            T.clear(total)
            for kh, kw in T.grid(K, K):
                for i in T.Parallel(block):
                    at = bx * block + i
                    w, h, c, n = at % W, at // W % H, at // (W * H) % C, at // (W * H * C)
                    r, q = h + kh - K // 2, w + kw - K // 2
                    inside = (r >= 0) & (r < H) & (q >= 0) & (q < W) & (n < N)
                    total[i] += T.if_then_else(inside, X[n, c, r, q], 0.0) * F[c, kh, kw]
            for i in T.Parallel(block):
                at = bx * block + i
                if at < N * C * H * W:
                    Y[at // (W * H * C), at // (W * H) % C, at // W % H, at % W] = total[i]

    return main


@pytest.mark.parametrize("width", [1, 8, 30, 70])
def test_windows(width, device):
    for kernel, block in ((3, 64), (3, 512)):
        x = torch.randint(-9, 9, (2, 3, 4, width), device="cpu").float()
        w = torch.randint(-9, 9, (3, kernel, kernel), device="cpu").float()
        y = torch.full_like(x, torch.nan, device=device)
        tilelang.compile(convolved(2, 3, 4, width, kernel, block))(x.to(device), w.to(device), y)
        wanted = torch.nn.functional.conv2d(x, w[:, None], padding=kernel // 2, groups=3)
        assert torch.equal(y.cpu(), wanted), (kernel, block)


def gathered(N, M, block):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), P: T.Tensor((M,), "int32"), Q: T.Tensor((M,), "int32"), Y: T.Tensor((M,), "float32")):
        with T.Kernel(T.ceildiv(M, block), threads=128) as bx:
            for i in T.Parallel(block):
                if bx * block + i < M:
                    Y[Q[bx * block + i]] = X[P[bx * block + i]] * 2.0

    return main


@pytest.mark.parametrize("count", [1, 63, 300])
def test_places_in_tensors(count, device):
    x, order = torch.randn(50, device="cpu"), torch.randperm(count, dtype=torch.int32, device="cpu")
    where = torch.randint(0, 50, (count,), dtype=torch.int32, device="cpu")
    y = torch.full((count,), torch.nan, device=device)
    tilelang.compile(gathered(50, count, 64))(x.to(device), where.to(device), order.to(device), y)
    wanted = torch.full((count,), torch.nan, device="cpu")
    wanted[order.long()] = x[where.long()] * 2
    assert torch.equal(y.cpu(), wanted)
