"""Matrix programs as libraries write them: split-K, stream-K, persistent blocks, roles, experts, block-sparse operands, few bits.
Operands are small integers, so that every sum is exact in any order."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T

pytestmark = pytest.mark.usefixtures("engine")


def integers(*shape, dtype=torch.float16, most=4):
    return torch.randint(-most, most + 1, shape).to(dtype)


def check(kernel, *operands, shape, right, dtype=torch.float32):
    out = torch.zeros(shape, dtype=dtype)
    kernel(*operands, out)
    assert torch.equal(out, right.to(dtype))


@pytest.mark.parametrize("splits", [1, 4])
def test_split_k(splits):
    M, N, K, BM, BN, BK = 70, 48, 256, 32, 32, 16

    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((N, K), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, BN), T.ceildiv(M, BM), splits, threads=128) as (bx, by, bz):
            a, b = T.alloc_shared((BM, BK), "float16"), T.alloc_shared((BN, BK), "float16")
            c = T.alloc_fragment((BM, BN), "float32")
            T.clear(c)
            for k in T.Pipelined(K // splits // BK, num_stages=2):
                T.copy(A[by * BM, bz * (K // splits) + k * BK], a)
                T.copy(B[bx * BN, bz * (K // splits) + k * BK], b)
                T.gemm(a, b, c, transpose_B=True)
            for i, j in T.Parallel(BM, BN):
                if by * BM + i < M and bx * BN + j < N:
                    T.atomic_add(C[by * BM + i, bx * BN + j], c[i, j])

    a, b = integers(M, K), integers(N, K)
    check(tilelang.compile(main), a, b, shape=(M, N), right=a.float() @ b.float().T)


def test_stream_k():
    """Workers share all steps of all tiles evenly; a tile's sum may come from several of them."""
    M, N, K, B, BK, workers = 64, 96, 128, 32, 16, 5
    steps = K // BK
    total = (M // B) * (N // B) * steps
    share = -(-total // workers)

    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), W: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(workers, threads=128) as worker:
            a, w = T.alloc_shared((B, BK), "float16"), T.alloc_shared((BK, B), "float16")
            c = T.alloc_fragment((B, B), "float32")
            at = T.alloc_var("int32", init=0)
            end = T.alloc_var("int32", init=0)
            at = worker * share
            end = T.min(at + share, total)
            while at < end:
                tile = at // steps
                first = at % steps
                count = T.min(end - at, steps - first)
                row, column = tile // (N // B), tile % (N // B)
                T.clear(c)
                for k in T.serial(count):
                    T.copy(A[row * B, (first + k) * BK], a)
                    T.copy(W[(first + k) * BK, column * B], w)
                    T.gemm(a, w, c)
                T.atomic_add(C[row * B, column * B], c)
                at += count

    a, w = integers(M, K), integers(K, N)
    check(tilelang.compile(main), a, w, shape=(M, N), right=a.float() @ w.float())


def test_persistent_blocks():
    M, N, K, B, BK, workers = 128, 96, 64, 32, 32, 5

    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), W: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(workers, threads=128) as worker:
            a, w = T.alloc_shared((B, BK), "float16"), T.alloc_shared((BK, B), "float16")
            c = T.alloc_fragment((B, B), "float32")
            for by, bx in T.Persistent([T.ceildiv(M, B), T.ceildiv(N, B)], workers, worker):
                T.clear(c)
                for k in T.Pipelined(K // BK, num_stages=2):
                    T.copy(A[by * B, k * BK], a)
                    T.copy(W[k * BK, bx * B], w)
                    T.gemm(a, w, c)
                T.copy(c, C[by * B, bx * B])

    a, w = integers(M, K), integers(K, N)
    check(tilelang.compile(main), a, w, shape=(M, N), right=a.float() @ w.float())


def test_persistent_roles():
    """A producer and a consumer that go on over tiles: their barriers' phases run through."""
    M, N, K, B, BK, workers, stages = 64, 96, 80, 32, 16, 2, 2
    steps = K // BK

    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), W: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(workers, threads=256) as worker:
            a, w = T.alloc_shared((stages, B, BK), "float16"), T.alloc_shared((stages, BK, B), "float16")
            c = T.alloc_fragment((B, B), "float32")
            full, empty = T.alloc_barrier([128] * stages), T.alloc_barrier([128] * stages)
            for wave in T.serial(T.ceildiv((M // B) * (N // B), workers)):
                tile = wave * workers + worker
                row, column = tile // (N // B), tile % (N // B)
                if tile < (M // B) * (N // B):
                    with T.ws(1):
                        for k in T.serial(steps):
                            turn = wave * steps + k
                            T.mbarrier_wait_parity(empty[turn % stages], ((turn // stages) & 1) ^ 1)
                            T.tma_copy(A[row * B, k * BK], a[turn % stages, :, :], barrier=full[turn % stages])
                            T.tma_copy(W[k * BK, column * B], w[turn % stages, :, :], barrier=full[turn % stages])
                            T.mbarrier_arrive(full[turn % stages])
                    with T.ws(0):
                        T.clear(c)
                        for k in T.serial(steps):
                            turn = wave * steps + k
                            T.mbarrier_wait_parity(full[turn % stages], (turn // stages) & 1)
                            T.gemm(a[turn % stages, :, :], w[turn % stages, :, :], c)
                            T.mbarrier_arrive(empty[turn % stages])
                        T.copy(c, C[row * B, column * B])

    a, w = integers(M, K), integers(K, N)
    check(tilelang.compile(main), a, w, shape=(M, N), right=a.float() @ w.float())


def test_groups_of_experts():
    """Rows are sorted by expert; each expert's rows begin at a multiple of the block, and a table says whose block it is."""
    tokens, experts, N, K, B, BK = 50, 4, 48, 64, 16, 32
    blocks = 8

    @T.prim_func
    def main(
        X: T.Tensor((tokens, K), "float16"),
        W: T.Tensor((experts, N, K), "float16"),
        order: T.Tensor((blocks * B,), "int32"),
        owner: T.Tensor((blocks,), "int32"),
        Y: T.Tensor((tokens, N), "float32"),
    ):
        with T.Kernel(T.ceildiv(N, B), blocks, threads=128) as (bx, by):
            x, w = T.alloc_shared((B, BK), "float16"), T.alloc_shared((B, BK), "float16")
            y = T.alloc_fragment((B, B), "float32")
            T.clear(y)
            for k in T.Pipelined(K // BK, num_stages=2):
                for i, j in T.Parallel(B, BK):
                    row = order[by * B + i]
                    x[i, j] = T.if_then_else(row >= 0, X[T.max(row, 0), k * BK + j], T.float16(0))
                T.copy(W[owner[by], bx * B : bx * B + B, k * BK : k * BK + BK], w)
                T.gemm(x, w, y, transpose_B=True)
            for i, j in T.Parallel(B, B):
                row = order[by * B + i]
                if row >= 0:
                    Y[row, bx * B + j] = y[i, j]

    x, w = integers(tokens, K), integers(experts, N, K)
    expert = torch.randint(0, experts, (tokens,))
    order, owner = [], []
    for number in range(experts):
        rows = [int(r) for r in (expert == number).nonzero().flatten()]
        rows += [-1] * (-len(rows) % B)
        order += rows
        owner += [number] * (len(rows) // B)
    order += [-1] * (blocks * B - len(order))
    owner += [0] * (blocks - len(owner))
    right = torch.einsum("tk,tnk->tn", x.float(), w.float()[expert])
    tables = torch.tensor(order, dtype=torch.int32), torch.tensor(owner, dtype=torch.int32)
    check(tilelang.compile(main), x, w, *tables, shape=(tokens, N), right=right)


def test_block_sparse_operand():
    M, N, K, B = 64, 64, 96, 32

    @T.prim_func
    def main(
        A: T.Tensor((M, K), "float16"),
        W: T.Tensor((K, N), "float16"),
        mask: T.Tensor((M // B, N // B, K // B), "bool"),
        C: T.Tensor((M, N), "float32"),
    ):
        with T.Kernel(N // B, M // B, threads=128) as (bx, by):
            a, w = T.alloc_shared((B, B), "float16"), T.alloc_shared((B, B), "float16")
            c = T.alloc_fragment((B, B), "float32")
            T.clear(c)
            for k in T.Pipelined(K // B, num_stages=2):
                if mask[by, bx, k]:
                    T.copy(A[by * B, k * B], a)
                    T.copy(W[k * B, bx * B], w)
                    T.gemm(a, w, c)
            T.copy(c, C[by * B, bx * B])

    a, w, mask = integers(M, K), integers(K, N), torch.rand(M // B, N // B, K // B) < 0.5
    kept = mask.repeat_interleave(B, 0).repeat_interleave(B, 1)
    parts = torch.einsum("msk,skn->mns", a.float().reshape(M, K // B, B), w.float().reshape(K // B, B, N))
    check(tilelang.compile(main), a, w, mask, shape=(M, N), right=(parts * kept).sum(-1))


def test_scales_of_blocks():
    """Operands of 8 bits with a scale for each 32 of a row: each step's product is scaled on its way into the sum."""
    M, N, K, B, BK = 64, 32, 128, 32, 32

    @T.prim_func
    def main(
        A: T.Tensor((M, K), "float8_e4m3fn"),
        W: T.Tensor((N, K), "float8_e4m3fn"),
        SA: T.Tensor((M, K // BK), "float32"),
        SW: T.Tensor((N, K // BK), "float32"),
        C: T.Tensor((M, N), "float32"),
    ):
        with T.Kernel(N // B, M // B, threads=128) as (bx, by):
            a, w = T.alloc_shared((B, BK), "float8_e4m3fn"), T.alloc_shared((B, BK), "float8_e4m3fn")
            part, c = T.alloc_fragment((B, B), "float32"), T.alloc_fragment((B, B), "float32")
            T.clear(c)
            for k in T.Pipelined(K // BK, num_stages=2):
                T.copy(A[by * B, k * BK], a)
                T.copy(W[bx * B, k * BK], w)
                T.gemm(a, w, part, transpose_B=True, clear_accum=True)
                for i, j in T.Parallel(B, B):
                    c[i, j] += part[i, j] * SA[by * B + i, k] * SW[bx * B + j, k]
            T.copy(c, C[by * B, bx * B])

    a, w = integers(M, K).to(torch.float8_e4m3fn), integers(N, K).to(torch.float8_e4m3fn)
    sa, sw = 2.0 ** torch.randint(-2, 3, (M, K // BK)), 2.0 ** torch.randint(-2, 3, (N, K // BK))
    wide_a, wide_w = a.float() * sa.repeat_interleave(BK, 1), w.float() * sw.repeat_interleave(BK, 1)
    check(tilelang.compile(main), a, w, sa, sw, shape=(M, N), right=wide_a @ wide_w.T)


@pytest.mark.parametrize("kind", ["int4", "float4_e2m1fn"])
def test_weights_of_four_bits(kind):
    """The buffer of weights holds codes; T.copy converts them for the product."""
    M, N, K, B, BK = 40, 48, 128, 16, 64

    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), W: T.Tensor((N, K), kind), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, B), T.ceildiv(M, B), threads=128) as (bx, by):
            a, w = T.alloc_shared((B, BK), "float16"), T.alloc_shared((B, BK), kind)
            wide, c = T.alloc_fragment((B, BK), "float16"), T.alloc_fragment((B, B), "float32")
            T.clear(c)
            for k in T.Pipelined(K // BK, num_stages=2):
                T.copy(A[by * B, k * BK], a)
                T.copy(W[bx * B, k * BK], w)
                T.copy(w, wide)
                T.gemm(a, wide, c, transpose_B=True)
            T.copy(c, C[by * B, bx * B])

    a, codes = integers(M, K), torch.randint(0, 16, (N, K))
    if kind == "int4":
        values = torch.where(codes > 7, codes - 16, codes).float()
    else:
        values = torch.tensor([0.0, 0.5, 1, 1.5, 2, 3, 4, 6])[codes % 8] * torch.where(codes > 7, -1.0, 1.0)
    packed = (codes[:, 0::2] | codes[:, 1::2] << 4).to(torch.uint8)
    check(tilelang.compile(main), a, packed, shape=(M, N), right=a.float() @ values.T)


def test_convolution():
    samples, H, W, C, F, R, stride, pad = 2, 9, 8, 16, 24, 3, 2, 1
    OH, OW = (H + 2 * pad - R) // stride + 1, (W + 2 * pad - R) // stride + 1
    BM, BN, BK = 16, 16, 16

    @T.prim_func
    def main(
        X: T.Tensor((samples, H, W, C), "float16"),
        K: T.Tensor((R, R, C, F), "float16"),
        Y: T.Tensor((samples, OH, OW, F), "float32"),
    ):
        with T.Kernel(T.ceildiv(F, BN), T.ceildiv(samples * OH * OW, BM), threads=128) as (bx, by):
            x, k = T.alloc_shared((BM, BK), "float16"), T.alloc_shared((BK, BN), "float16")
            y = T.alloc_fragment((BM, BN), "float32")
            flat = T.Tensor((R * R * C, F), "float16", K.data)
            out = T.Tensor((samples * OH * OW, F), "float32", Y.data)
            T.clear(y)
            for step in T.Pipelined(T.ceildiv(R * R * C, BK), num_stages=2):
                T.im2col(X, x, by, step, R, stride, 1, pad)
                T.copy(flat[step * BK, bx * BN], k)
                T.gemm(x, k, y)
            T.copy(y, out[by * BM, bx * BN])

    x, k = integers(samples, H, W, C), integers(R, R, C, F)
    right = torch.nn.functional.conv2d(x.float().permute(0, 3, 1, 2), k.float().permute(3, 2, 0, 1), stride=stride, padding=pad)
    check(tilelang.compile(main), x, k, shape=(samples, OH, OW, F), right=right.permute(0, 2, 3, 1))


def test_two_products_in_one_kernel():
    """y = relu(x W1) W2, the middle kept in the block."""
    M, K, H, N, B = 48, 32, 64, 32, 16

    @T.prim_func
    def main(
        X: T.Tensor((M, K), "float16"),
        W1: T.Tensor((K, H), "float16"),
        W2: T.Tensor((H, N), "float16"),
        Y: T.Tensor((M, N), "float32"),
    ):
        with T.Kernel(M // B, threads=128) as bx:
            x, w1, w2 = T.alloc_shared((B, K), "float16"), T.alloc_shared((K, B), "float16"), T.alloc_shared((B, N), "float16")
            h, middle = T.alloc_fragment((B, B), "float32"), T.alloc_fragment((B, B), "float16")
            y = T.alloc_fragment((B, N), "float32")
            T.copy(X[bx * B, 0], x)
            T.clear(y)
            for k in T.Pipelined(H // B, num_stages=2):
                T.copy(W1[0, k * B], w1)
                T.copy(W2[k * B, 0], w2)
                T.gemm(x, w1, h, clear_accum=True)
                for i, j in T.Parallel(B, B):
                    middle[i, j] = T.max(h[i, j], 0)
                T.gemm(middle, w2, y)
            T.copy(y, Y[bx * B, 0])

    x, w1, w2 = integers(M, K, most=2), integers(K, H, most=2), integers(H, N, most=2)
    right = (x.float() @ w1.float()).clamp(min=0) @ w2.float()  # the middle is at most 128: exact in float16
    check(tilelang.compile(main), x, w1, w2, shape=(M, N), right=right)


def test_two_tiles_of_columns_in_two_stages():
    """Each loop turn multiplies two pairs of tiles twice: four products, of which two share a factor."""
    M = N = K = 128
    BM, BN, BK = 64, 64, 32

    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float16")):
        with T.Kernel(N // BN, M // BM, threads=128) as (bx, by):
            a, c = T.alloc_shared((2, BM, BK), "float16"), T.alloc_fragment((BM, BN // 2), "float32")
            left, right = T.alloc_shared((2, BK, BN // 2), "float16"), T.alloc_shared((2, BK, BN // 2), "float16")
            d = T.alloc_fragment((BM, BN // 2), "float32")
            T.clear(c)
            T.clear(d)
            for k in T.serial(K // BK // 2):
                for stage in T.unroll(2):
                    T.copy(A[by * BM, (2 * k + stage) * BK], a[stage, :, :])
                    T.copy(B[(2 * k + stage) * BK, bx * BN], left[stage, :, :])
                    T.copy(B[(2 * k + stage) * BK, bx * BN + BN // 2], right[stage, :, :])
                    T.gemm(a[stage, :, :], left[stage, :, :], c)
                    T.gemm(a[stage, :, :], right[stage, :, :], d)
            T.copy(c, C[by * BM, bx * BN])
            T.copy(d, C[by * BM, bx * BN + BN // 2])

    a, b = torch.randn(M, K).half(), torch.randn(K, N).half()
    out = tilelang.compile(main, out_idx=-1)(a, b)
    # A rounding to f16; near 0 the error of 128 products added up in f32: 130 units (2^-24) of the sum of their sizes, some 80.
    torch.testing.assert_close(out.double(), a.double() @ b.double(), rtol=2**-10, atol=1e-3)
