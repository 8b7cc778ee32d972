"""Products with an operand that is no box: threads fetch it. Tiles divide the sizes, but where the name says otherwise."""

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def product(A, B, C, EXTRA, M, N, K, KIND: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C = f(A) @ g(B) where KIND says what is done on the way; EXTRA: a table, scales, or nothing that is read."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    if KIND == "gathered" or KIND == "counted" or KIND == "counted_relu":
        m_from = tl.load(EXTRA + m)
    else:
        m_from = m
    steps = tl.cdiv(K, BK)
    if KIND == "counted" or KIND == "counted_relu":
        steps = tl.load(EXTRA + M + tl.program_id(0))
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, steps):
        k = step * BK + tl.arange(0, BK)
        if KIND == "ragged":
            a = tl.load(A + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
            b = tl.load(B + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        else:
            if KIND == "sparse":  # only the blocks of k that a table names
                k = tl.load(EXTRA + step) * BK + tl.arange(0, BK)
            a = tl.load(A + m_from[:, None] * K + k[None, :])
            if KIND == "int4":
                packed = tl.load(B + (k[:, None] // 8) * N + n[None, :])
                b = (((packed >> ((k % 8) * 4)[:, None]) & 15) - 8).to(tl.float16) * tl.load(EXTRA + n)[None, :]
            else:
                b = tl.load(B + k[:, None] * N + n[None, :]).to(tl.float16)
            if KIND == "bytes":
                b = b * tl.load(EXTRA + n)[None, :]
            if KIND == "rows":
                a = a * tl.load(EXTRA + m)[:, None]
            if KIND == "relu" or KIND == "counted_relu":
                a = tl.where(a > 0, a, 0.0).to(tl.float16)
        total += tl.dot(a, b)
    out = C + m[:, None] * N + n[None, :]
    if KIND == "ragged":
        tl.store(out, total.to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N))
    else:
        tl.store(out, total.to(tl.float16))
