"""Products of many matrices, C[i] = A[i] @ B[i], with the batch written in every way that users write it."""

import ninetoothed
import ninetoothed.language as ntl
import tilelang
import tilelang.language as T
import tileon
import tileon.language as tl
from ninetoothed import Tensor


@tileon.jit
def product(a, b, c, x, y, M, N, K, am, ak, bk, bn, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Tile (x, y) of c = a @ b."""
    m = x * BM + tl.arange(0, BM)
    n = y * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a_at = a + m[:, None] * am + k[None, :] * ak
    b_at = b + k[:, None] * bk + n[None, :] * bn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(0, tl.cdiv(K, BK)):
        left = K - i * BK
        left_a = tl.load(a_at, mask=(m[:, None] < M) & (k[None, :] < left), other=0.0)
        left_b = tl.load(b_at, mask=(k[:, None] < left) & (n[None, :] < N), other=0.0)
        acc = tl.dot(left_a, left_b, acc)
        a_at += BK * ak
        b_at += BK * bk
    tl.store(c + m[:, None] * cm + n[None, :] * cn, acc.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@tileon.jit
def moved_pointers(a, b, c, B, M, N, K, ab, am, ak, bb, bk, bn, cb, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The batch is a second axis of the grid, and moves the pointers."""
    i, z = tl.program_id(0), tl.program_id(1)
    columns = tl.cdiv(N, BN)
    a += z * ab
    b += z * bb
    c += z * cb
    product(a, b, c, i // columns, i % columns, M, N, K, am, ak, bk, bn, cm, cn, BM, BN, BK)


@tileon.jit
def three_axes(a, b, c, B, M, N, K, ab, am, ak, bb, bk, bn, cb, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Columns, rows, batches: an axis each."""
    z = tl.program_id(2)
    y, x = tl.program_id(0), tl.program_id(1)
    product(a + z * ab, b + z * bb, c + z * cb, x, y, M, N, K, am, ak, bk, bn, cm, cn, BM, BN, BK)


@tileon.jit
def long_offsets(a, b, c, B, M, N, K, ab, am, ak, bb, bk, bn, cb, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Offsets in 64 bits, as where all batches together are more than 2^31 elements."""
    i = tl.program_id(0)
    z = tl.program_id(1).to(tl.int64)
    columns = tl.cdiv(N, BN)
    a, b, c = a + z * ab, b + z * bb, c + z * cb
    product(a, b, c, (i // columns).to(tl.int64), i % columns, M, N, K, am, ak, bk, bn, cm, cn, BM, BN, BK)


@tileon.jit
def flattened(a, b, c, B, M, N, K, ab, am, ak, bb, bk, bn, cb, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """One axis of programs."""
    i = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    z, tile = i // (rows * columns), i % (rows * columns)
    a, b, c = a + z * ab, b + z * bb, c + z * cb
    product(a, b, c, tile // columns, tile % columns, M, N, K, am, ak, bk, bn, cm, cn, BM, BN, BK)


@tileon.jit
def grouped(a, b, c, B, M, N, K, ab, am, ak, bb, bk, bn, cb, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Tiles in groups of four rows, within the batch."""
    i = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = i // (4 * columns) * 4
    height = min(rows - first, 4)
    x, y = first + i % (4 * columns) % height, i % (4 * columns) // height
    z = tl.program_id(1)
    product(a + z * ab, b + z * bb, c + z * cb, x, y, M, N, K, am, ak, bk, bn, cm, cn, BM, BN, BK)


@tileon.jit
def two_batches(a, b, c, B, M, N, K, ab, am, ak, bb, bk, bn, cb, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Pairs of batches: a quotient and a remainder with strides of their own."""
    i, z = tl.program_id(0), tl.program_id(1)
    columns = tl.cdiv(N, BN)
    major, minor = z // 2, z % 2
    a += major * (2 * ab) + minor * ab
    b += major * 2 * bb + minor * bb
    c += (major * 2 + minor) * cb
    product(a, b, c, i // columns, i % columns, M, N, K, am, ak, bk, bn, cm, cn, BM, BN, BK)


@tileon.jit
def packed(a, b, c, B, M, N, K, ab, am, ak, bb, bk, bn, cb, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Matrices one behind the other: the host's products are strides."""
    i, z = tl.program_id(0), tl.program_id(1)
    columns = tl.cdiv(N, BN)
    product(
        a + z * M * K, b + z * K * N, c + z * M * N, i // columns, i % columns, M, N, K, K, 1, N, 1, N, 1, BM, BN, BK
    )  # fmt: skip


@tileon.jit
def masked_batch(a, b, c, B, M, N, K, ab, am, ak, bb, bk, bn, cb, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Programs beyond the last batch exist and do nothing."""
    i, z = tl.program_id(0), tl.program_id(1)
    columns = tl.cdiv(N, BN)
    m = i // columns * BM + tl.arange(0, BM)
    n = i % columns * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        k = step * BK + tl.arange(0, BK)
        inside = (m[:, None] < M) & (k[None, :] < K) & (z < B)
        left = tl.load(a + z * ab + m[:, None] * am + k[None, :] * ak, mask=inside, other=0.0)
        inside = (k[:, None] < K) & (n[None, :] < N) & (z < B)
        acc += tl.dot(left, tl.load(b + z * bb + k[:, None] * bk + n[None, :] * bn, mask=inside, other=0.0))
    inside = (m[:, None] < M) & (n[None, :] < N) & (z < B)
    tl.store(c + z * cb + m[:, None] * cm + n[None, :] * cn, acc.to(c.dtype.element_ty), mask=inside)


@tileon.jit
def wrapped_rows(a, b, c, B, M, N, K, ab, am, ak, bb, bk, bn, cb, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Rows and columns begin again behind the last, as in the tutorial."""
    i, z = tl.program_id(0), tl.program_id(1)
    columns = tl.cdiv(N, BN)
    m, n, k = i // columns * BM + tl.arange(0, BM), i % columns * BN + tl.arange(0, BN), tl.arange(0, BK)
    a_at = a + z * ab + (m % M)[:, None] * am + k[None, :] * ak
    b_at = b + z * bb + k[:, None] * bk + (n % N)[None, :] * bn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        left = tl.load(a_at, mask=k[None, :] < K - step * BK, other=0.0)
        acc += tl.dot(left, tl.load(b_at, mask=k[:, None] < K - step * BK, other=0.0))
        a_at += BK * ak
        b_at += BK * bk
    c_at = c + z * cb + m[:, None] * cm + n[None, :] * cn
    tl.store(c_at, acc.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@tileon.jit
def block_pointers(a, b, c, B, M, N, K, ab, am, ak, bb, bk, bn, cb, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i, z = tl.program_id(0), tl.program_id(1)
    columns = tl.cdiv(N, BN)
    x, y = i // columns * BM, i % columns * BN
    a_at = tl.make_block_ptr(a + z * ab, (M, K), (am, ak), (x, 0), (BM, BK), (1, 0))
    b_at = tl.make_block_ptr(b + z * bb, (K, N), (bk, bn), (0, y), (BK, BN), (1, 0))
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        left = tl.load(tl.advance(a_at, (0, step * BK)), boundary_check=(0, 1), padding_option="zero")
        right = tl.load(tl.advance(b_at, (step * BK, 0)), boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(left, right, acc)
    c_at = tl.make_block_ptr(c + z * cb, (M, N), (cm, cn), (x, y), (BM, BN), (1, 0))
    tl.store(c_at, acc.to(c.dtype.element_ty), boundary_check=(0, 1))


@tileon.jit
def descriptors(a, b, c, B, M, N, K, ab, am, ak, bb, bk, bn, cb, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Descriptors of three dimensions: tiles with a leading extent of 1."""
    i, z = tl.program_id(0), tl.program_id(1)
    columns = tl.cdiv(N, BN)
    x, y = i // columns * BM, i % columns * BN
    a_desc = tl.make_tensor_descriptor(a, [B, M, K], [ab, am, 1], [1, BM, BK])
    b_desc = tl.make_tensor_descriptor(b, [B, K, N], [bb, bk, 1], [1, BK, BN])
    c_desc = tl.make_tensor_descriptor(c, [B, M, N], [cb, cm, 1], [1, BM, BN])
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        left = a_desc.load([z, x, step * BK]).reshape(BM, BK)
        acc = tl.dot(left, b_desc.load([z, step * BK, y]).reshape(BK, BN), acc)
    c_desc.store([z, x, y], acc.to(c.dtype.element_ty).reshape(1, BM, BN))


@tileon.jit
def loaded_batch(a, b, c, B, M, N, K, ab, am, ak, bb, bk, bn, cb, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Where A begins is read from memory: a large element of B would move it."""
    i, z = tl.program_id(0), tl.program_id(1)
    columns = tl.cdiv(N, BN)
    a += (tl.load(b) > 1000).to(tl.int32) * ab + z * ab
    product(a, b + z * bb, c + z * cb, i // columns, i % columns, M, N, K, am, ak, bk, bn, cm, cn, BM, BN, BK)


@tileon.jit
def backwards(a, b, c, B, M, N, K, ab, am, ak, bb, bk, bn, cb, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The last batch first."""
    i, z = tl.program_id(0), tl.num_programs(1) - 1 - tl.program_id(1)
    columns = tl.cdiv(N, BN)
    a, b, c = a + z * ab, b + z * bb, c + z * cb
    product(a, b, c, i // columns, i % columns, M, N, K, am, ak, bk, bn, cm, cn, BM, BN, BK)


@tileon.jit
def narrow_steps(a, b, c, B, M, N, K, ab, am, ak, bb, bk, bn, cb, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Batches of A begin 3 elements apart."""
    i, z = tl.program_id(0), tl.program_id(1)
    columns = tl.cdiv(N, BN)
    product(a + 3 * z, b + z * bb, c + z * cb, i // columns, i % columns, M, N, K, am, ak, bk, bn, cm, cn, BM, BN, BK)


@tileon.jit
def many_strides(a, b, c, B, M, N, K, ab, am, ak, bb, bk, bn, cb, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Four strides beside those of the matrix; all batches but one are 0."""
    i, z = tl.program_id(0), tl.program_id(1)
    columns = tl.cdiv(N, BN)
    a += z * ab + z // B * bb + z // B * cb + z // B * N
    product(a, b + z * bb, c + z * cb, i // columns, i % columns, M, N, K, am, ak, bk, bn, cm, cn, BM, BN, BK)


@tileon.jit
def wide_mask(a, b, c, B, M, N, K, ab, am, ak, bb, bk, bn, cb, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A mask that joins rows and columns of A."""
    i, z = tl.program_id(0), tl.program_id(1)
    columns = tl.cdiv(N, BN)
    m, n = i // columns * BM + tl.arange(0, BM), i % columns * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        k = step * BK + tl.arange(0, BK)
        inside = (m[:, None] < M) & (k[None, :] < K) & (m[:, None] + k[None, :] < M + K)
        left = tl.load(a + z * ab + m[:, None] * am + k[None, :] * ak, mask=inside, other=0.0)
        inside = (k[:, None] < K) & (n[None, :] < N)
        acc += tl.dot(left, tl.load(b + z * bb + k[:, None] * bk + n[None, :] * bn, mask=inside, other=0.0))
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c + z * cb + m[:, None] * cm + n[None, :] * cn, acc.to(c.dtype.element_ty), mask=inside)


REFUSED = {
    backwards: "a coordinate may be negative",
    narrow_steps: "a stride of 6 bytes is no multiple of 16",
    many_strides: "it moves along more than five strides",
    wide_mask: "its mask joins several dimensions",
}
POINTERS = [
    moved_pointers, three_axes, long_offsets, flattened, grouped, two_batches, packed, masked_batch, wrapped_rows,
    block_pointers, descriptors, loaded_batch,
]  # fmt: skip


@tilelang.jit
def four_dimensions(B, H, M, N, K, block_M, block_N, block_K, dtype="bfloat16"):
    """Heads of batches, in TileLang; the heads of the result are neighbours."""

    @T.prim_func
    def main(X: T.Tensor((B, H, M, K), dtype), W: T.Tensor((B, H, K, N), dtype), Y: T.Tensor((B, M, H, N), dtype)):
        with T.Kernel(T.ceildiv(M, block_M), T.ceildiv(N, block_N), B * H, threads=256) as (bx, by, bz):
            X_shared = T.alloc_shared((block_M, block_K), dtype)
            W_shared = T.alloc_shared((block_K, block_N), dtype)
            acc = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(acc)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=3):
                T.copy(X[bz // H, bz % H, bx * block_M, k * block_K], X_shared)
                T.copy(W[bz // H, bz % H, k * block_K, by * block_N], W_shared)
                T.gemm(X_shared, W_shared, acc)
            rows, columns = bx * block_M, by * block_N
            T.copy(acc, Y[bz // H, rows : rows + block_M, bz % H, columns : columns + block_N])

    return main


@tileon.jit
def bits_of_float8(a, b, c, M, N, K, am, bn, cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A (M, K) and B (N, K) are bytes that hold numbers of 8 bits."""
    i = tl.program_id(0)
    columns = tl.cdiv(N, BN)
    m, n, k = i // columns * BM + tl.arange(0, BM), i % columns * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        left = K - step * BK
        x = tl.load(a + m[:, None] * am + (step * BK + k)[None, :], mask=(m[:, None] < M) & (k[None, :] < left), other=0)
        w = tl.load(b + n[:, None] * bn + (step * BK + k)[None, :], mask=(n[:, None] < N) & (k[None, :] < left), other=0)
        acc = tl.dot(x.to(tl.float8e4nv, bitcast=True), tl.trans(w.to(tl.float8e4nv, bitcast=True)), acc)
    tl.store(c + m[:, None] * cm + n[None, :], acc.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def _arrangement(a, b, c, BM=128, BN=128, BK=64):
    c_tiles = c.tile((1, BM, BN))
    c_tiles.dtype = c_tiles.dtype.squeeze(0)
    a_tiles = a.tile((1, BM, BK)).tile((1, 1, -1)).expand((-1, -1, c_tiles.shape[-1]))
    a_tiles.dtype = a_tiles.dtype.squeeze((0, 1))
    a_tiles.dtype.dtype = a_tiles.dtype.dtype.squeeze(0)
    b_tiles = b.tile((1, BK, BN)).tile((1, -1, 1)).expand((-1, c_tiles.shape[-2], -1))
    b_tiles.dtype = b_tiles.dtype.squeeze((0, 2))
    b_tiles.dtype.dtype = b_tiles.dtype.dtype.squeeze(0)
    return a_tiles, b_tiles, c_tiles


def _application(a, b, c):
    accumulator = ntl.zeros(c.shape, dtype=ntl.float32)
    for k in range(a.shape[0]):
        accumulator += ntl.dot(a[k], b[k])
    c = accumulator  # noqa: F841


arranged = ninetoothed.make(_arrangement, _application, (Tensor(3), Tensor(3), Tensor(3)))
