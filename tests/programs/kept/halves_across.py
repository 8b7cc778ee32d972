# GPUs: halves that were read across in two lanes were put together as a vector of one word, which was none (the code did not verify).
# triton 110108
# Argument(name='X1', shape=(3, 14, 1), dtype='bfloat16', fill='normal', strides=(84, 6, 1))
# Argument(name='Z4', shape=(3, 14, 1), dtype='float16', fill='normal', strides=None)
# Argument(name='Z7', shape=(3, 14, 1), dtype='float32', fill='normal', strides=None)
# Argument(name='O10', shape=(3, 14, 1), dtype='float16', fill='none', strides=(14, 1, 14))
import torch, triton, triton.language as tl


@triton.jit
def kernel(X1, Z4, Z7, O10, n: tl.constexpr, m: tl.constexpr, BR: tl.constexpr, BC: tl.constexpr):
    pr = tl.program_id(0)
    pc = tl.program_id(1)
    pb = tl.program_id(2)
    r = pr * BR + tl.arange(0, BR)
    c = pc * BC + tl.arange(0, BC)
    inside = (r < n)[:, None] & (c < m)[None, :]
    bp = tl.make_block_ptr(X1 + pb * 84, (n, m), (6, 1), (pr * BR, pc * BC), (BR, BC), (1, 0))
    x2 = tl.load(bp, boundary_check=(0, 1), padding_option="zero").to(tl.float32)
    acc3 = tl.zeros((BR, BC), tl.float32)
    for i in range(1):
        for j in range(2):
            acc3 += ((x2 * (x2 > 0)) - (x2).to(tl.bfloat16).to(tl.float32)) * (i - j + 1)
        acc3 = acc3 * 0.5 + i
    z5 = tl.load(Z4 + pb * n * m + r[:, None] * m + c[None, :], mask=inside, other=0.0).to(tl.float32)
    tl.store(Z4 + pb * n * m + r[:, None] * m + c[None, :], tl.floor((x2 - z5) * (x2 - z5)), mask=inside)
    t6 = tl.where((r[:, None] <= c[None, :]), tl.exp(acc3), (x2 - z5))
    z8 = tl.load(Z7 + pb * n * m + r[:, None] * m + c[None, :], mask=inside, other=0.0).to(tl.float32)
    tl.store(Z7 + pb * n * m + r[:, None] * m + c[None, :], tl.maximum(tl.exp(z8), z8), mask=inside)
    t9 = tl.where(inside, tl.minimum(z8, 1.5), tl.exp(acc3 - acc3))
    tl.store(O10 + pb * 14 + r[:, None] * 1 + c[None, :] * 14, (tl.floor(tl.sqrt(tl.abs(z5) + 0.5)) / (tl.abs(t6) + 1.0)), mask=inside)


def launch(debug, X1, Z4, Z7, O10):
    kernel[(2, 1, 3)](X1, Z4, Z7, O10, 14, 1, BR=8, BC=64, debug=debug)
