"""Programs in the style of TileLang's users, each beside torch: {name: (a launch of ours, torch's, our result)}."""

import torch

from tilery import tilelang
from tilery.tilelang import language as T


def dequantised(N, K, block_n, block_k, out="float16"):
    """Two weights of 4 bits in a byte along K."""

    @T.prim_func
    def main(B: T.Tensor((N, K // 2), "uint8"), C: T.Tensor((N, K), out)):
        with T.Kernel(T.ceildiv(K, block_k), T.ceildiv(N, block_n), threads=128) as (bx, by):
            packed = T.alloc_shared((block_n, block_k // 2), "uint8")
            local = T.alloc_fragment((block_n, block_k // 2), "uint8")
            whole = T.alloc_fragment((block_n, block_k), out)
            T.copy(B[by * block_n, bx * block_k // 2], packed)
            T.copy(packed, local)
            for i, j in T.Parallel(block_n, block_k):
                whole[i, j] = ((local[i, j // 2] >> ((j % 2) * 4).astype("uint8")) & 15).astype(out) - 8.0
            T.copy(whole, C[by * block_n, bx * block_k])

    return main


def dequantised_scales(N, K, block_n, block_k, group, out="float16"):
    @T.prim_func
    def main(B: T.Tensor((N, K // 2), "uint8"), S: T.Tensor((N, K // group), out), C: T.Tensor((N, K), out)):
        with T.Kernel(T.ceildiv(K, block_k), T.ceildiv(N, block_n), threads=128) as (bx, by):
            for i, j in T.Parallel(block_n, block_k):
                n, k = by * block_n + i, bx * block_k + j
                bits = (B[n, k // 2] >> ((k % 2) * 4).astype("uint8")) & 15
                C[n, k] = bits.astype(out) * S[n, k // group]

    return main


def dequantised_words(N, K, block_n, block_k, out="float16"):
    """Eight in a word."""

    @T.prim_func
    def main(B: T.Tensor((N, K // 8), "int32"), C: T.Tensor((N, K), out)):
        with T.Kernel(T.ceildiv(K, block_k), T.ceildiv(N, block_n), threads=128) as (bx, by):
            for i, j in T.Parallel(block_n, block_k):
                n, k = by * block_n + i, bx * block_k + j
                C[n, k] = ((B[n, k // 8] >> ((k % 8) * 4)) & 15).astype(out)

    return main


def permuted(A, B, C, D, block):
    @T.prim_func
    def main(X: T.Tensor((A, B, C, D), "float32"), Y: T.Tensor((A, C, B, D), "float32")):
        with T.Kernel(T.ceildiv(A * B * C * D, block), threads=128) as bx:
            for i in T.Parallel(block):
                at = bx * block + i
                d, b, c, a = at % D, at // D % B, at // (D * B) % C, at // (D * B * C)
                Y[a, c, b, d] = X[a, b, c, d]

    return main


def depthwise(N, C, H, W, K, block):
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
                    inside = (r >= 0) & (r < H) & (q >= 0) & (q < W)
                    total[i] += T.if_then_else(inside, X[n, c, r, q], 0.0) * F[c, kh, kw]
            for i in T.Parallel(block):
                at = bx * block + i
                Y[at // (W * H * C), at // (W * H) % C, at // W % H, at % W] = total[i]

    return main


def reflected(P, H, W, pad, block):
    @T.prim_func
    def main(X: T.Tensor((P, H, W), "float32"), Y: T.Tensor((P, H + 2 * pad, W + 2 * pad), "float32")):
        with T.Kernel(T.ceildiv(W + 2 * pad, block), H + 2 * pad, P, threads=128) as (bx, by, bz):
            for i in T.Parallel(block):
                w, h = T.abs(bx * block + i - pad), T.abs(by - pad)
                w2 = T.if_then_else(w >= W, 2 * (W - 1) - w, w)
                h2 = T.if_then_else(h >= H, 2 * (H - 1) - h, h)
                if bx * block + i < W + 2 * pad:
                    Y[bz, by, bx * block + i] = X[bz, h2, w2]

    return main


def column_sums(M, N, rows, columns):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, columns), threads=128) as bx:
            a, sums = T.alloc_fragment((rows, columns), "float32"), T.alloc_fragment((columns,), "float32")
            T.clear(sums)
            for k in T.serial(M // rows):
                T.copy(A[k * rows, bx * columns], a)
                T.reduce_sum(a, sums, dim=0, clear=False)
            T.copy(sums, B[bx * columns])

    return main


def row_cumsum(M, N):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), "float32")):
        with T.Kernel(M, threads=128) as bx:
            row = T.alloc_shared((N,), "float32")
            T.copy(A[bx, 0], row)
            T.cumsum(row)
            T.copy(row, B[bx, 0])

    return main


def histogram(N, bins, block):
    @T.prim_func
    def main(A: T.Tensor((N,), "int32"), B: T.Tensor((bins,), "int32")):
        with T.Kernel(N // block, threads=128) as bx:
            for i in T.Parallel(block):
                T.atomic_add(B[A[bx * block + i]], 1)

    return main


def matvec(N, K, block_n, block_k):
    @T.prim_func
    def main(A: T.Tensor((1, K), "float32"), B: T.Tensor((N, K), "float32"), C: T.Tensor((1, N), "float32")):
        with T.Kernel(T.ceildiv(N, block_n), threads=128) as bx:
            a, b = T.alloc_shared((1, block_k), "float32"), T.alloc_shared((block_n, block_k), "float32")
            c = T.alloc_fragment((1, block_n), "float32")
            T.clear(c)
            for k in T.Pipelined(K // block_k, num_stages=2):
                T.copy(A[0, k * block_k], a)
                T.copy(B[bx * block_n, k * block_k], b)
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C[0, bx * block_n])

    return main


def halves(packed):
    return torch.stack([packed & 15, packed >> 4], -1).flatten(-2)


def programs():
    torch.manual_seed(0)
    found = {}

    def add(name, program, arguments, theirs):
        kernel = tilelang.compile(program)
        found[name] = (lambda: kernel(*arguments), theirs, arguments[-1])

    N, K = 1024, 1024
    packed = torch.randint(0, 256, (N, K // 2), dtype=torch.uint8)
    for out, dtype in (("float16", torch.float16), ("float32", torch.float32)):
        r = torch.empty(N, K, dtype=dtype)
        add(f"int4 {out}", dequantised(N, K, 64, 64, out), [packed, r], lambda dtype=dtype: halves(packed).to(dtype) - 8)
        scales = torch.rand(N, K // 32).to(dtype)
        add(f"int4 with scales {out}", dequantised_scales(N, K, 64, 64, 32, out), [packed, scales, torch.empty_like(r)],
            lambda dtype=dtype, scales=scales: halves(packed).to(dtype) * scales.repeat_interleave(32, 1))
        words = torch.randint(-(2**31), 2**31 - 1, (N, K // 8), dtype=torch.int32)
        add(f"int4 in words {out}", dequantised_words(N, K, 64, 64, out), [words, torch.empty_like(r)],
            lambda dtype=dtype, words=words: ((words[..., None] >> torch.arange(0, 32, 4)) & 15).flatten(1).to(dtype))
    t, r = torch.randn(8, 64, 32, 64), torch.empty(8, 32, 64, 64)
    add("permutation 0213", permuted(8, 64, 32, 64, 1024), [t, r], lambda: t.permute(0, 2, 1, 3).contiguous())
    for size in (3, 5):
        image, w = torch.randn(2, 64, 56, 56), torch.randn(64, size, size)
        add(f"depthwise {size}x{size}", depthwise(2, 64, 56, 56, size, 1024), [image, w, torch.empty_like(image)],
            lambda image=image, w=w, size=size: torch.nn.functional.conv2d(image, w[:, None], padding=size // 2, groups=64))
    planes = torch.randn(8, 250, 250)
    add("reflect padding", reflected(8, 250, 250, 3, 128), [planes, torch.empty(8, 256, 256)],
        lambda: torch.nn.functional.pad(planes, (3, 3, 3, 3), mode="reflect"))
    m = torch.randn(1024, 1024)
    for R, C in ((32, 64), (64, 32), (128, 128)):
        add(f"column sums {R}x{C}", column_sums(1024, 1024, R, C), [m, torch.empty(1024)], lambda: m.sum(0))
    add("row cumsum", row_cumsum(1024, 1024), [m, torch.empty_like(m)], lambda: m.cumsum(1))
    v = torch.randint(0, 256, (1 << 20,), dtype=torch.int32)
    counts = torch.zeros(256, dtype=torch.int32)
    kernel = tilelang.compile(histogram(1 << 20, 256, 1024))

    def counted():
        counts.zero_()
        kernel(v, counts)

    found["histogram 256"] = (counted, lambda: torch.bincount(v, minlength=256), counts)
    a, b = torch.randn(1, 2048), torch.randn(2048, 2048)
    add("matvec", matvec(2048, 2048, 64, 64), [a, b, torch.empty(1, 2048)], lambda: a @ b.T)
    return found
