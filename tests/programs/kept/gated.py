# CPUs: the compiler crashed: vectors side by side, one of which took what the other had not computed yet.
# triton 3
# Argument(name='G', shape=(64, 32), dtype='float32', fill='positive', strides=None)
# Argument(name='A', shape=(64, 64), dtype='float32', fill='normal', strides=None)
# Argument(name='Q', shape=(64, 32), dtype='float32', fill='normal', strides=None)
# Argument(name='OUT', shape=(64, 32), dtype='float32', fill='none', strides=None)
import triton, triton.language as tl


@triton.jit
def gated(G, A, Q, OUT, rows, W: tl.constexpr, L: tl.constexpr, S: tl.constexpr):
    block = tl.program_id(0)
    i = tl.arange(0, S); col = tl.arange(0, W); mine = block * S + i
    gate = tl.load(G + mine[:, None] * W + col[None, :], mask=(mine < rows)[:, None], other=0.0)
    total = tl.zeros([S, W], tl.float32)
    last = tl.cdiv(rows, S)
    if block < last - 1:
        edge = tl.load(G + (block * S + S - 1) * W + col)
        for other in range(block + 1, last):
            j = other * S + i; here = j < rows
            q = tl.load(Q + j[:, None] * W + col[None, :], mask=here[:, None], other=0.0)
            g = tl.load(G + j[:, None] * W + col[None, :], mask=here[:, None], other=0.0)
            a = tl.load(A + mine[:, None] + j[None, :] * L, mask=here[None, :], other=0.0)
            total += tl.dot(a, tl.where(here[:, None], q * tl.exp2(g - edge[None, :]), 0.0))
        total *= tl.exp2(edge[None, :] - gate)
    for j in range(0, min(S, rows - block * S)):
        at = block * S + j
        a = tl.load(A + at * L + mine)
        q = tl.load(Q + at * W + col)
        g = tl.load(G + at * W + col)
        total += tl.where(i[:, None] <= j, a[:, None] * q[None, :] * tl.exp2(g[None, :] - gate), 0.0)
    tl.store(OUT + mine[:, None] * W + col[None, :], total, mask=(mine < rows)[:, None])


def launch(debug, G, A, Q, OUT):
    gated[(4,)](G, A, Q, OUT, 64, W=32, L=64, S=16, debug=debug)
