"""output = beta * input + alpha * (lhs @ rhs), with masks for whatever the tiles do not fill.

Runs as it is: `./run python -m tilery run examples/tileon/addmm.py`.
"""

import tileon
import tileon.language as tl
import torch


@tileon.jit
def addmm_kernel(
    input_ptr, lhs_ptr, rhs_ptr, output_ptr,
    beta, alpha,
    M, N, K,
    stride_im, stride_in,
    stride_lm, stride_lk,
    stride_rk, stride_rn,
    stride_om, stride_on,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    pid = tl.program_id(0)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    rows = pid // num_pid_n * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = pid % num_pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        inner = start + tl.arange(0, BLOCK_K)
        lhs_mask = (rows[:, None] < M) & (inner[None, :] < K)
        rhs_mask = (inner[:, None] < K) & (cols[None, :] < N)
        lhs = tl.load(lhs_ptr + rows[:, None] * stride_lm + inner[None, :] * stride_lk, mask=lhs_mask, other=0.0)
        rhs = tl.load(rhs_ptr + inner[:, None] * stride_rk + cols[None, :] * stride_rn, mask=rhs_mask, other=0.0)
        accumulator += tl.dot(lhs, rhs)
    added = tl.load(input_ptr + rows[:, None] * stride_im + cols[None, :] * stride_in, mask=mask, other=0.0)
    output_ptrs = output_ptr + rows[:, None] * stride_om + cols[None, :] * stride_on
    tl.store(output_ptrs, beta * added + alpha * accumulator, mask=mask)


def addmm(input, lhs, rhs, beta, alpha, out, blocks=(128, 256, 32)):
    (M, K), N = lhs.shape, rhs.shape[1]
    block_m, block_n, block_k = blocks
    addmm_kernel[(tl.cdiv(M, block_m) * tl.cdiv(N, block_n),)](
        input, lhs, rhs, out,
        beta, alpha,
        M, N, K,
        *input.stride(), *lhs.stride(), *rhs.stride(), *out.stride(),
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k
    )
    return out


if __name__ == "__main__":
    input, lhs, rhs = (torch.randn(shape, dtype=torch.float16) for shape in ((300, 200), (300, 500), (500, 200)))
    output = addmm(input, lhs, rhs, 0.5, 2.0, torch.empty_like(input))
    expected = torch.addmm(input.double(), lhs.double(), rhs.double(), beta=0.5, alpha=2.0)
    torch.testing.assert_close(output.double(), expected, rtol=2**-11, atol=1e-4)  # one rounding to f16
    print("addmm agrees with torch")
