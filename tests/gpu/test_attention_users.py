"""Attention as libraries write it, on Hopper: it goes through block IR, and is right."""

from pathlib import Path

import pytest
import torch
from language.attention import attention_with_bound

from tilery import _native, compat

PROGRAMS = compat.load(Path(__file__).parent / "attention_users.py")
HEADS, N, D, BLOCKS = 2, 256, 64, {"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 8}


def draw(*shape, device):
    return torch.randn(*shape, device=device).half()


def nothing_yet(like):
    return torch.full_like(like, float("nan"))


def check(out, q, k, v, seen=None, scale=None, causal=False):
    exact, bound = attention_with_bound(q, k, v, block=64, scale=scale or q.shape[-1] ** -0.5, mask=seen, causal=causal)
    # The bound is for sums that round; tensor cores may cut off, which is twice that.
    assert ((out.double() - exact).abs() <= 2 * bound).all()


def packed(device, causal):
    """Lengths 100, 0 and 256: of the second sequence no program does anything."""
    starts = torch.tensor([0, 100, 100, 356], dtype=torch.int32, device=device)
    rows, heads, group = 356, 4, 2
    q = draw(rows, heads * D, device=device)
    k, v = (draw(rows, heads // group * D, device=device) for _ in range(2))
    out = nothing_yet(q)
    kernel = PROGRAMS.packed[(2, heads, 3)](
        q, k, v, out, starts, D**-0.5, heads * D, heads // group * D, group, CAUSAL=causal, D=D, **BLOCKS
    )
    for begin, end in ((0, 100), (100, 356)):
        for head in range(heads):
            own, shared = slice(head * D, (head + 1) * D), slice(head // group * D, (head // group + 1) * D)
            check(out[begin:end, own], q[begin:end, own], k[begin:end, shared], v[begin:end, shared], causal=causal)
    return kernel.module


def biased(device, form):
    q, k, v = (draw(HEADS, N, D, device=device) for _ in range(3))
    out, bias = nothing_yet(q), draw(N, N, device=device)
    slopes, sinks = (torch.rand(HEADS, device=device) for _ in range(2))
    kernel = PROGRAMS.biased[(N // 128, HEADS)](q, k, v, out, bias, slopes, sinks, D**-0.5, 30.0, N, FORM=form, D=D, **BLOCKS)
    at = torch.arange(N, device=device)
    scores = (q.double() @ k.double().mT) * D**-0.5
    if form == "cap":
        scores = 30 * torch.tanh(scores / 30)
    elif form == "slopes":
        scores = scores + slopes.double()[:, None, None] * (at[None, :] - at[:, None])
    elif form == "bias":
        scores = scores + bias.double()
    scores = scores.masked_fill(at[:, None] < at, float("-inf"))
    if form == "sink":
        scores = torch.cat([scores, sinks.double()[:, None, None].expand(HEADS, N, 1)], -1)
    weights = scores.softmax(-1)[..., :N]
    # Weights and results are rounded to f16, as in `attention_with_bound`; what is added to scores, to f32 as they are.
    size = weights @ v.double().abs()
    bound = 2 * (2.0**-11 * (size + (weights @ v.double()).abs()) + 2.0**-16 * size + N * 2.0**-25 * v.abs().max())
    assert ((out.double() - weights @ v.double()).abs() <= bound).all()
    return kernel.module


def paged(device, page, d=D, rows=128, keys=64):
    length = 320  # 64 keys before the first query
    q = draw(1, HEADS, N, d, device=device)
    k, v = (draw(512, d, device=device) for _ in range(2))
    out = nothing_yet(q)
    table = torch.randperm(512 // page, device=device).int()
    lengths = torch.tensor([length], dtype=torch.int32, device=device)
    kernel = PROGRAMS.paged_prefill[(N // rows, HEADS, 1)](
        q, k, v, out, table, lengths, d**-0.5, HEADS, 512 // page, N, PAGE=page, D=d, BLOCK_M=rows, BLOCK_N=keys
    )
    rows = (table.long()[:, None] * page + torch.arange(page, device=device)).flatten()[:length]
    seen = torch.arange(length - N, length, device=device)[:, None] >= torch.arange(length, device=device)
    for head in range(HEADS):
        check(out[0, head], q[0, head], k[rows], v[rows], seen)
    return kernel.module


def packed_heads(device):
    group = 4
    q = draw(HEADS, N, group, D, device=device)
    k, v = (draw(HEADS, N, D, device=device) for _ in range(2))
    out = nothing_yet(q)
    kernel = PROGRAMS.packed_heads[(N * group // 128, HEADS)](q, k, v, out, D**-0.5, N, GROUP=group, D=D, **BLOCKS)
    for one in range(group):
        check(out[:, :, one], q[:, :, one], k, v, causal=True)
    return kernel.module


def widths(device, d, dv, wide, wide_v):
    q, k = (draw(HEADS, N, d, device=device) for _ in range(2))
    v = draw(HEADS, N, dv, device=device)
    out = nothing_yet(v)
    kernel = PROGRAMS.widths[(N // 128, HEADS)](q, k, v, out, d**-0.5, N, D=d, DV=dv, WIDE=wide, WIDEV=wide_v, **BLOCKS)
    check(out, q, k, v)
    return kernel.module


CASES = {
    "packed sequences": lambda device: packed(device, False),
    "packed sequences, causal": lambda device: packed(device, True),
    "a cap": lambda device: biased(device, "cap"),
    "slopes": lambda device: biased(device, "slopes"),
    "a bias": lambda device: biased(device, "bias"),
    "sinks": lambda device: biased(device, "sink"),
    "pages of 64": lambda device: paged(device, 64),
    "pages of 16": lambda device: paged(device, 16),
    "a page a key": lambda device: paged(device, 1),
    "pages of 16, 16 rows": lambda device: paged(device, 16, 128, 16, 32),
    "pages of 16, 16 rows, 256 wide": lambda device: paged(device, 16, 256, 16, 32),
    "heads in rows": packed_heads,
    "192 and 128 wide": lambda device: widths(device, 192, 128, 192, 128),
    "256 wide": lambda device: widths(device, 256, 256, 256, 256),
    "96 wide": lambda device: widths(device, 96, 96, 96, 96),
    "32 wide": lambda device: widths(device, 32, 32, 32, 32),
    "80 wide in 128": lambda device: widths(device, 80, 80, 128, 128),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_takes_the_path(case, goes_through_blocks):
    goes_through_blocks(case("cpu"))


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_is_right(case):
    case("cuda")


def test_products_of_as_many_columns_as_a_launch_gives_registers_for():
    """Two blocks a multiprocessor: the assembler takes 128 registers for all that an instruction may have."""
    asm = _native.compile(paged("cpu", 16, 256, 16, 32), disjoint=True, texts=True, target="sm_90a").asm
    assert ".minnctapersm 2" in asm
    assert "wgmma.mma_async.sync.aligned.m64n128k16" in asm and "m64n256k16" not in asm
