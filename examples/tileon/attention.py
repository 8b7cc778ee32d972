"""Attention forward, softmax(scale q k^T) v, with a running maximum, over whole blocks of queries and keys.

Causal: a loop up to the diagonal and one over it.

Runs as it is: `./run python -m tilery run examples/tileon/attention.py`.
"""

import tileon
import tileon.language as tl
import torch


@tileon.jit
def over_keys(
    acc, total, top, q, k_ptr, v_ptr, stride_n, scale, low, high, offs_m, offs_n, offs_d,
    BLOCK_N: tl.constexpr, MASKED: tl.constexpr
):
    for start in tl.range(low, high, BLOCK_N):
        start = tl.multiple_of(start, BLOCK_N)
        n = start + offs_n
        k = tl.load(k_ptr + n[:, None] * stride_n + offs_d[None, :])
        scores = tl.dot(q, k.T)
        if MASKED:
            scores = scores * scale + tl.where(offs_m[:, None] >= n[None, :], 0, -1.0e6)
            new_top = tl.maximum(top, tl.max(scores, 1))
            scores -= new_top[:, None]
        else:
            new_top = tl.maximum(top, tl.max(scores, 1) * scale)
            scores = scores * scale - new_top[:, None]
        weights = tl.math.exp2(scores)
        old = tl.math.exp2(top - new_top)
        acc = acc * old[:, None]
        v = tl.load(v_ptr + n[:, None] * stride_n + offs_d[None, :])
        acc = tl.dot(weights.to(v.dtype), v, acc)
        total = total * old + tl.sum(weights, 1)
        top = new_top
    return acc, total, top


@tileon.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, logs_ptr, sm_scale, heads, stride_b, stride_h, stride_n, N,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr
):
    first = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1)
    base = (head // heads).to(tl.int64) * stride_b + (head % heads).to(tl.int64) * stride_h
    offs_m, offs_n, offs_d = first + tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_N), tl.arange(0, D)
    place = base + offs_m[:, None] * stride_n + offs_d[None, :]
    top = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    total = tl.zeros([BLOCK_M], dtype=tl.float32) + 1.0
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    scale = sm_scale * 1.44269504
    q = tl.load(q_ptr + place)
    if CAUSAL:
        acc, total, top = over_keys(acc, total, top, q, k_ptr + base, v_ptr + base, stride_n, scale, 0, first,
                                    offs_m, offs_n, offs_d, BLOCK_N, False)
        acc, total, top = over_keys(acc, total, top, q, k_ptr + base, v_ptr + base, stride_n, scale, first, first + BLOCK_M,
                                    offs_m, offs_n, offs_d, BLOCK_N, True)
    else:
        acc, total, top = over_keys(acc, total, top, q, k_ptr + base, v_ptr + base, stride_n, scale, 0, N,
                                    offs_m, offs_n, offs_d, BLOCK_N, False)
    tl.store(logs_ptr + head * N + offs_m, top + tl.math.log2(total))
    tl.store(out_ptr + place, (acc / total[:, None]).to(out_ptr.dtype.element_ty))


def attention(q, k, v, out, causal=False, blocks=(128, 128)):
    """Tensors of [batches, heads, rows, columns] with the same strides, columns in one piece; rows are a multiple of both blocks.
    Gives logarithms (base 2) of the rows' sums."""
    batches, heads, n, d = q.shape
    logs = torch.empty(q.shape[:3], device=q.device)
    attention_kernel[(n // blocks[0], batches * heads)](
        q, k, v, out, logs,
        d**-0.5, heads, q.stride(0), q.stride(1), q.stride(2), n,
        CAUSAL=causal, BLOCK_M=blocks[0], BLOCK_N=blocks[1], D=d, num_warps=8, num_stages=3
    )
    return logs


if __name__ == "__main__":
    q, k, v = (torch.randn(2, 3, 256, 64, dtype=torch.float16) for _ in range(3))
    for causal in (False, True):
        out = torch.empty_like(q)
        attention(q, k, v, out, causal)
        expected = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=causal)
        torch.testing.assert_close(out.double(), expected, rtol=2**-9, atol=2**-9)  # weights and results are rounded to f16
    print("attention agrees with torch")
