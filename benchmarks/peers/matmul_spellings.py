"""C = A @ B in ten spellings, all with the same tiles: how Triton's users write what is one program to the compiler."""

import tileon
import tileon.language as tl


@tileon.jit
def place(pid, M, N, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    """The tile of a program, in groups of GROUP rows, as in the tutorial."""
    per_group = GROUP * tl.cdiv(N, BN)
    first = pid // per_group * GROUP
    rows = min(tl.cdiv(M, BM) - first, GROUP)
    return first + (pid % per_group) % rows, (pid % per_group) // rows


@tileon.jit
def product(a, b, m, n, K, am, ak, bk, bn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    k = tl.arange(0, BK)
    a_ptrs = a + m[:, None] * am + k[None, :] * ak
    b_ptrs = b + k[:, None] * bk + n[None, :] * bn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(0, tl.cdiv(K, BK)):
        x = tl.load(a_ptrs, mask=k[None, :] < K - i * BK, other=0.0)
        y = tl.load(b_ptrs, mask=k[:, None] < K - i * BK, other=0.0)
        acc = tl.dot(x, y, acc)
        a_ptrs += BK * ak
        b_ptrs += BK * bk
    return acc


@tileon.jit
def store(c, acc, m, n, M, N, cm, cn):
    tl.store(c + m[:, None] * cm + n[None, :] * cn, acc.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@tileon.jit
def plain(
    a, b, c, extra, M, N, K, am, ak, bk, bn, cm, cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
):
    i, j = place(tl.program_id(0), M, N, BM, BN, GROUP)
    m, n = i * BM + tl.arange(0, BM), j * BN + tl.arange(0, BN)
    acc = product(a, b, m % M, n % N, K, am, ak, bk, bn, BM, BN, BK)
    store(c, acc, m, n, M, N, cm, cn)


@tileon.jit
def batch_axis(
    a, b, c, extra, M, N, K, am, ak, bk, bn, cm, cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
):
    """The second axis of the grid moves the pointers by whole matrices."""
    batch = tl.program_id(1)
    i, j = place(tl.program_id(0), M, N, BM, BN, GROUP)
    m, n = i * BM + tl.arange(0, BM), j * BN + tl.arange(0, BN)
    acc = product(a + batch * M * K, b + batch * K * N, m % M, n % N, K, am, ak, bk, bn, BM, BN, BK)
    store(c + batch * M * N, acc, m, n, M, N, cm, cn)


@tileon.jit
def int64_offsets(
    a, b, c, extra, M, N, K, am, ak, bk, bn, cm, cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
):
    i, j = place(tl.program_id(0), M, N, BM, BN, GROUP)
    m = i.to(tl.int64) * BM + tl.arange(0, BM).to(tl.int64)
    n = j.to(tl.int64) * BN + tl.arange(0, BN).to(tl.int64)
    acc = product(a, b, m, n, K, am, ak, bk, bn, BM, BN, BK)
    store(c, acc, m, n, M, N, cm, cn)


@tileon.jit
def block_pointer(
    a, b, c, extra, M, N, K, am, ak, bk, bn, cm, cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
):
    i, j = place(tl.program_id(0), M, N, BM, BN, GROUP)
    x_ptr = tl.make_block_ptr(a, (M, K), (am, ak), (i * BM, 0), (BM, BK), (1, 0))
    y_ptr = tl.make_block_ptr(b, (K, N), (bk, bn), (0, j * BN), (BK, BN), (1, 0))
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        x = tl.load(x_ptr, boundary_check=(0, 1), padding_option="zero")
        y = tl.load(y_ptr, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(x, y, acc)
        x_ptr = tl.advance(x_ptr, (0, BK))
        y_ptr = tl.advance(y_ptr, (BK, 0))
    c_ptr = tl.make_block_ptr(c, (M, N), (cm, cn), (i * BM, j * BN), (BM, BN), (1, 0))
    tl.store(c_ptr, acc.to(c.dtype.element_ty), boundary_check=(0, 1))


@tileon.jit
def by_descriptors(a, b, c, i, j, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TYPE: tl.constexpr):
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        acc = tl.dot(a.load([i * BM, k * BK]), b.load([k * BK, j * BN]), acc)
    c.store([i * BM, j * BN], acc.to(TYPE))


@tileon.jit
def host_descriptor(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, TYPE: tl.constexpr
):
    i, j = place(tl.program_id(0), M, N, BM, BN, GROUP)
    by_descriptors(a, b, c, i, j, K, BM, BN, BK, TYPE)


@tileon.jit
def device_descriptor(
    a, b, c, extra, M, N, K, am, ak, bk, bn, cm, cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
):
    i, j = place(tl.program_id(0), M, N, BM, BN, GROUP)
    x = tl.make_tensor_descriptor(a, [M, K], [am, 1], [BM, BK])
    y = tl.make_tensor_descriptor(b, [K, N], [bk, 1], [BK, BN])
    z = tl.make_tensor_descriptor(c, [M, N], [cm, 1], [BM, BN])
    by_descriptors(x, y, z, i, j, K, BM, BN, BK, c.dtype.element_ty)


@tileon.jit
def persistent(
    a, b, c, extra, M, N, K, am, ak, bk, bn, cm, cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
):
    """As many programs as there are multiprocessors, each with every so-manieth tile."""
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * tl.cdiv(N, BN), tl.num_programs(0), flatten=True):
        i, j = place(tile, M, N, BM, BN, GROUP)
        m, n = i * BM + tl.arange(0, BM), j * BN + tl.arange(0, BN)
        acc = product(a, b, m % M, n % N, K, am, ak, bk, bn, BM, BN, BK)
        store(c, acc, m, n, M, N, cm, cn)


@tileon.jit
def bias_gelu(
    a, b, c, extra, M, N, K, am, ak, bk, bn, cm, cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
):
    i, j = place(tl.program_id(0), M, N, BM, BN, GROUP)
    m, n = i * BM + tl.arange(0, BM), j * BN + tl.arange(0, BN)
    x = product(a, b, m % M, n % N, K, am, ak, bk, bn, BM, BN, BK)
    x += tl.load(extra + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    x = 0.5 * x * (1 + tl.erf(x * 0.7071067811865476))
    store(c, x, m, n, M, N, cm, cn)


@tileon.jit
def residual(
    a, b, c, extra, M, N, K, am, ak, bk, bn, cm, cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
):
    """C += A @ B."""
    i, j = place(tl.program_id(0), M, N, BM, BN, GROUP)
    m, n = i * BM + tl.arange(0, BM), j * BN + tl.arange(0, BN)
    acc = product(a, b, m % M, n % N, K, am, ak, bk, bn, BM, BN, BK)
    inside = (m[:, None] < M) & (n[None, :] < N)
    acc += tl.load(c + m[:, None] * cm + n[None, :] * cn, mask=inside, other=0.0).to(tl.float32)
    store(c, acc, m, n, M, N, cm, cn)


@tileon.jit
def transposed(
    a, b, c, extra, M, N, K, am, ak, bk, bn, cm, cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
):
    """Tiles of B^T, turned by tl.trans."""
    i, j = place(tl.program_id(0), M, N, BM, BN, GROUP)
    m, n, k = i * BM + tl.arange(0, BM), j * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for first in range(0, K, BK):
        left = K - first
        x = tl.load(a + m[:, None] * am + (first + k)[None, :] * ak, mask=(m[:, None] < M) & (k[None, :] < left), other=0.0)
        y = tl.load(b + n[:, None] * bn + (first + k)[None, :] * bk, mask=(n[:, None] < N) & (k[None, :] < left), other=0.0)
        acc += tl.dot(x, tl.trans(y))
    store(c, acc, m, n, M, N, cm, cn)


@tileon.jit
def other_order(
    a, b, c, extra, M, N, K, am, ak, bk, bn, cm, cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
):
    """Groups of rows by tl.swizzle2d."""
    pid, columns = tl.program_id(0), tl.cdiv(N, BN)
    i, j = tl.swizzle2d(pid // columns, pid % columns, tl.cdiv(M, BM), columns, GROUP)
    m, n = i * BM + tl.arange(0, BM), j * BN + tl.arange(0, BN)
    acc = product(a, b, m % M, n % N, K, am, ak, bk, bn, BM, BN, BK)
    store(c, acc, m, n, M, N, cm, cn)
