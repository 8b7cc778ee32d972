"""Linear attention, retention and Mamba's chunks."""

import torch
import torch.nn.functional as F
from blocks import gradients
from case import Case, S, case, example, randn

HALF = torch.float16
BATCH, LENGTH, HEADS, DIM = S((8, 4096, 32, 128), (1, 128, 1, 128))


def normal(x):
    return F.normalize(x.float(), dim=-1).to(HALF)


def inputs(batch=BATCH):
    return [randn(batch, LENGTH, HEADS, DIM, dtype=HALF) for _ in range(3)]


def in_chunks(x, size):
    return x.float().reshape(x.shape[0], -1, size, *x.shape[2:])


@case("retention_fwd", "linear")
def _():
    m = example("linear_attention/example_retention_fwd")
    batch = S(4, 1)
    q, k, v = inputs(batch)
    kernel = m.chunk_retention_fwd_kernel(batch, LENGTH, HEADS, DIM, DIM)

    def expected():  # chunk by chunk, as a decay of all of the past
        decay = (1 - 2.0 ** (-5 - torch.arange(HEADS, device="cuda"))).log2()
        state, results, size = torch.zeros(batch, HEADS, DIM, DIM, device="cuda"), [], 64
        t = torch.arange(size, device="cuda")
        near = torch.where(t[:, None] >= t, torch.exp2((t[:, None] - t) * decay[:, None, None]), 0.0)
        for a, b, c in zip(*(in_chunks(x, size).unbind(1) for x in (q, k, v))):
            a = a * DIM**-0.5
            own = torch.einsum("bihd,bjhd,hij,bjhe->bihe", a, b, near, c)
            past = torch.einsum("bihd,bhde,hi->bihe", a, state, torch.exp2((t + 1) * decay[:, None]))
            results.append(own + past)
            fresh = torch.einsum("bjhd,bjhe,hj->bhde", b, c, torch.exp2((size - 1 - t) * decay[:, None]))
            state = state * torch.exp2(size * decay)[:, None, None] + fresh
        return torch.cat(results, 1)

    return Case(lambda: m.postprocess(kernel(q, k, v)), expected)


@case("linear_attn_fwd", "linear")
def _():
    m = example("linear_attention/example_linear_attn_fwd")
    q, k, v = inputs()
    q, k = normal(q), normal(k)
    kernel = m.tl_fused_chunk_fwd_kernel(BATCH, LENGTH, HEADS, DIM, DIM)

    def call():
        o = torch.zeros(BATCH, LENGTH, HEADS, DIM, device="cuda")
        return o, kernel(q, k, v, o)

    return Case(call, lambda: m.ref_program(q, k, v))


@case("linear_attn_bwd", "linear")
def _():
    m = example("linear_attention/example_linear_attn_bwd")
    batch = S(4, 1)
    q, k, v = inputs(batch)
    q, k, do = normal(q), normal(k), randn(batch, LENGTH, HEADS, DIM, dtype=HALF)
    return Case(
        lambda: m.tl_fused_chunk_bwd(q, k, v, do),
        lambda: gradients(lambda *x: m.ref_program(*x)[0], (q, k, v), do),
        tolerance=2e-2,
    )


def mamba():
    batch, heads, length, size = S((8, 80, 4096, 256), (1, 2, 128, 64))
    width, state = 64, 128
    x, b = randn(batch, length, heads, width, dtype=HALF), randn(batch, length, 1, state, dtype=HALF)
    dt, decay = (torch.rand(batch, heads, length // size, size, device="cuda").to(HALF) for _ in range(2))
    decay = (-0.1 * decay.float()).cumsum(-1).to(HALF)
    return batch, heads, length // size, size, width, state, x, b, dt, decay


@case("mamba_chunk_state", "linear")
def _():
    m = example("linear_attention/example_mamba_chunk_state")
    *_, x, b, dt, decay = mamba()
    blocks = dict(block_M=64, block_N=128, block_K=64, num_stages=4, threads=128)
    return Case(
        lambda: m.chunk_state_fwd(b, x, dt, decay, **blocks), lambda: m.ref_program(*(t.float() for t in (b, x, dt, decay)))
    )


@case("mamba_chunk_scan", "linear")
def _():
    m = example("linear_attention/example_mamba_chunk_scan")
    batch, heads, chunks, size, width, state, x, c, dt, decay = mamba()
    cb, states = randn(batch, chunks, 1, size, size, dtype=HALF), randn(batch, chunks, heads, width, state, dtype=HALF)
    given = cb, x, dt, decay, c, states, randn(heads, dtype=HALF)
    blocks = dict(block_M=64, block_N=64, block_K=64, block_Dstate=128, num_stages=2, threads=128)
    return Case(lambda: m.chunk_scan_fwd(*given, **blocks), lambda: m.ref_program(*(t.float() for t in given)))
