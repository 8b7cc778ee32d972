"""Attention backward in one pass over the keys: dK and dV stay with their program, dQ is added up in memory by all.

Five products a step, where a kernel of its own for dQ takes seven; sums of dQ come in any order. Two small kernels are around it:
one clears dQ's sums and multiplies O with dO row by row, one rounds dQ.

Runs as it is: `./run python -m tilery run examples/tileon/attention_backward_once.py`.
"""

import tileon
import tileon.language as tl
import torch


@tileon.jit
def begin_kernel(
    out_ptr, dout_ptr, dots_ptr, sums_ptr, heads, stride_b, stride_h, stride_n, N, BLOCK: tl.constexpr, D: tl.constexpr
):
    head = tl.program_id(1)
    base = (head // heads).to(tl.int64) * stride_b + (head % heads).to(tl.int64) * stride_h
    rows, columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.arange(0, D)
    place = base + rows[:, None] * stride_n + columns[None, :]
    out = tl.load(out_ptr + place).to(tl.float32)
    dout = tl.load(dout_ptr + place).to(tl.float32)
    tl.store(dots_ptr + head * N + rows, tl.sum(out * dout, 1))
    tl.store(sums_ptr + (head.to(tl.int64) * N + rows[:, None]) * D + columns[None, :], tl.zeros([BLOCK, D], dtype=tl.float32))


@tileon.jit
def over_queries(
    dk, dv, k, v, q_ptr, dout_ptr, logs_ptr, dots_ptr, sums_ptr, stride_n, scale, low, high, offs_n, offs_d,
    BLOCK_M: tl.constexpr, D: tl.constexpr, MASKED: tl.constexpr
):
    for start in tl.range(low, high, BLOCK_M):
        start = tl.multiple_of(start, BLOCK_M)
        m = start + tl.arange(0, BLOCK_M)
        q = tl.load(q_ptr + m[:, None] * stride_n + offs_d[None, :])
        logs = tl.load(logs_ptr + m)
        weights = tl.math.exp2(tl.dot(k, q.T) * scale - logs[None, :])
        if MASKED:
            weights = tl.where(m[None, :] >= offs_n[:, None], weights, 0.0)
        dout = tl.load(dout_ptr + m[:, None] * stride_n + offs_d[None, :])
        dv = tl.dot(weights.to(dout.dtype), dout, dv)
        dots = tl.load(dots_ptr + m)
        dscores = (weights * (tl.dot(v, dout.T) - dots[None, :])).to(q.dtype)
        dk = tl.dot(dscores, q, dk)
        tl.atomic_add(sums_ptr + m[:, None] * D + offs_d[None, :], tl.dot(dscores.T, k), sem="relaxed")
    return dk, dv


@tileon.jit
def keys_kernel(
    q_ptr, k_ptr, v_ptr, dout_ptr, logs_ptr, dots_ptr, sums_ptr, dk_ptr, dv_ptr, sm_scale,
    heads, stride_b, stride_h, stride_n, N,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr
):
    first = tl.program_id(0) * BLOCK_N
    head = tl.program_id(1)
    base = (head // heads).to(tl.int64) * stride_b + (head % heads).to(tl.int64) * stride_h
    offs_n, offs_d = first + tl.arange(0, BLOCK_N), tl.arange(0, D)
    place = base + offs_n[:, None] * stride_n + offs_d[None, :]
    k, v = tl.load(k_ptr + place), tl.load(v_ptr + place)
    dk = tl.zeros([BLOCK_N, D], dtype=tl.float32)
    dv = tl.zeros([BLOCK_N, D], dtype=tl.float32)
    scale = sm_scale * 1.44269504
    q_ptr, dout_ptr, logs_ptr, dots_ptr = q_ptr + base, dout_ptr + base, logs_ptr + head * N, dots_ptr + head * N
    sums_ptr += head.to(tl.int64) * N * D
    if CAUSAL:
        dk, dv = over_queries(dk, dv, k, v, q_ptr, dout_ptr, logs_ptr, dots_ptr, sums_ptr, stride_n, scale, first,
                              first + BLOCK_N, offs_n, offs_d, BLOCK_M, D, True)
        first += BLOCK_N
    else:
        first = 0
    dk, dv = over_queries(dk, dv, k, v, q_ptr, dout_ptr, logs_ptr, dots_ptr, sums_ptr, stride_n, scale, first, N,
                          offs_n, offs_d, BLOCK_M, D, False)
    tl.store(dv_ptr + place, dv.to(dv_ptr.dtype.element_ty))
    tl.store(dk_ptr + place, (dk * sm_scale).to(dk_ptr.dtype.element_ty))


@tileon.jit
def end_kernel(sums_ptr, dq_ptr, sm_scale, heads, stride_b, stride_h, stride_n, N, BLOCK: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1)
    base = (head // heads).to(tl.int64) * stride_b + (head % heads).to(tl.int64) * stride_h
    rows, columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.arange(0, D)
    sums = tl.load(sums_ptr + (head.to(tl.int64) * N + rows[:, None]) * D + columns[None, :])
    tl.store(dq_ptr + base + rows[:, None] * stride_n + columns[None, :], (sums * sm_scale).to(dq_ptr.dtype.element_ty))


def attention_backward(q, k, v, out, dout, logs, dq, dk, dv, causal=False, block=128, step=64, warps=8, stages=2):
    """Tensors of [batches, heads, rows, columns] with the same strides, columns in one piece; rows are a multiple of `block`,
    which is one of `step`. `logs`: logarithms (base 2) of the rows' sums, as the forward gives them. Writes dq, dk and dv."""
    batches, heads, n, d = q.shape
    dots, sums = torch.empty_like(logs), torch.empty(q.shape, dtype=torch.float32, device=q.device)
    grid, strides = (n // block, batches * heads), (heads, q.stride(0), q.stride(1), q.stride(2), n)
    begin_kernel[(n // 32, grid[1])](out, dout, dots, sums, *strides, BLOCK=32, D=d)
    sizes = {"CAUSAL": causal, "BLOCK_M": step, "BLOCK_N": block, "D": d, "num_warps": warps, "num_stages": stages}
    keys_kernel[grid](q, k, v, dout, logs, dots, sums, dk, dv, d**-0.5, *strides, **sizes)
    end_kernel[(n // 32, grid[1])](sums, dq, d**-0.5, *strides, BLOCK=32, D=d)


if __name__ == "__main__":
    shape = (2, 3, 256, 64)
    q, k, v, dout = (torch.randn(shape, dtype=torch.float16) for _ in range(4))
    dq, dk, dv = (torch.empty_like(q) for _ in range(3))
    for causal in (False, True):
        x, y, z = (tensor.double().requires_grad_() for tensor in (q, k, v))
        scores = x @ y.mT * shape[-1] ** -0.5
        if causal:
            scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
        out = scores.softmax(-1) @ z
        out.backward(dout.double())
        logs = (scores.logsumexp(-1) / torch.tensor(2.0).log()).float().detach()
        attention_backward(q, k, v, out.detach().half(), dout, logs, dq, dk, dv, causal)
        for ours, exact in ((dq, x.grad), (dk, y.grad), (dv, z.grad)):
            torch.testing.assert_close(ours.double(), exact, rtol=2**-8, atol=2**-7)  # weights and results are rounded to f16
    print("attention's gradients agree with torch")
