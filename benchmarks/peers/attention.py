"""Attention forward beside cuDNN, and beside Triton and TileLang on the same sources."""

import functools

import torch
from gpu_rounds import Contest
from loaded_programs import EXAMPLES, HERE, as_triton, ours, rivals
from torch.nn.attention import SDPBackend, sdpa_kernel

TILEON, TILELANG, NINETOOTHED = (
    EXAMPLES / "tileon" / "attention.py",
    HERE / "tilelang_attention.py",
    HERE / "ninetoothed_attention.py",
)
BLOCKS = ((128, 128), (128, 64))
TYPES = {"bf16": torch.bfloat16, "f16": torch.float16}
GOALS = {128: (1.0, 1.05), 64: (0.93, 0.95)}  # of cuDNN; causal


def checker(q, k, v, out, causal):
    """A function that raises unless the first head's result is within what 16-bit weights allow; it spoils the result."""

    @functools.cache
    def exact():
        head = [x[:1, :1].double() for x in (q, k, v)]
        return torch.nn.functional.scaled_dot_product_attention(*head, is_causal=causal)

    def check():
        worst = float((out[:1, :1].double() - exact()).abs().amax())
        out.fill_(float("nan"))
        if not worst <= 2.0**-6:
            raise ValueError(f"the result is off by {worst}")

    return check


def enter_blocks(contest, q, k, v, out, causal, dtype, blocks, check):
    """The sources of all languages with one size of tiles; NineToothed's has no causal form."""
    _, heads, n, d = q.shape
    flat = [x.view(-1, n, d) for x in (q, k, v, out)]

    def tileon(load):
        module = load(TILEON)
        return lambda: module.attention(q, k, v, out, causal, blocks)

    def tilelang(load):
        kernel = load(TILELANG).attention(flat[0].shape[0], n, d, *blocks, causal, str(dtype).removeprefix("torch."))
        return lambda: kernel(*flat)

    def ninetoothed():
        kernel = ours(NINETOOTHED).attention
        return lambda: kernel(q, k, v, d**-0.5, out, M=blocks[0], N=blocks[1])

    tile = f"{blocks[0]}x{blocks[1]}"
    contest.enter(f"ours, {tile}", lambda: tileon(ours), check)
    contest.enter(f"Triton, {tile}", lambda: tileon(as_triton), check)
    contest.enter(f"our TileLang, {tile}", lambda: tilelang(ours), check)
    contest.enter(f"TileLang, {tile}", lambda: tilelang(rivals), check)
    if not causal:
        contest.enter(f"our NineToothed, {tile}", ninetoothed, check)


def forward(batches, n, d, causal, dtype, heads=16):
    q, k, v = (torch.randn(batches, heads, n, d, device="cuda").to(TYPES[dtype]) for _ in range(3))
    out = torch.empty_like(q)
    check = checker(q, k, v, out, causal)
    contest = Contest()

    def library():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    contest.enter("cuDNN", lambda: library)
    for blocks in BLOCKS:
        enter_blocks(contest, q, k, v, out, causal, TYPES[dtype], blocks, check)
    contest.run()
    work = f"attention {batches}x{heads}x{n}, d={d}, {dtype}, {'causal' if causal else 'full'}"
    amount = 4 * batches * heads * n * n * d * (0.5 if causal else 1) / 1e12
    for source, ours_, rival, goal in (
        ("Tileon", "ours", "cuDNN", GOALS[d][causal]),
        ("Tileon", "ours", "Triton", 1.05),
        ("TileLang", "our TileLang", "cuDNN", GOALS[d][causal]),
        ("TileLang", "our TileLang", "TileLang", 1.05),
        ("NineToothed", "our NineToothed", "cuDNN", GOALS[d][causal]),
    ):
        yield from contest.result(f"{work}, {source}", ours_, rival, amount, "TFLOP/s", goal)


def rows(d, causal):
    return {
        f"attention-{d}-{n}-{'causal' if causal else 'full'}-{dtype}": functools.partial(forward, batches, n, d, causal, dtype)
        for batches, n, types in ((4, 4096, TYPES), (1, 16384, ("bf16",)))
        for dtype in types
    }


WORKLOADS = {
    "attention d=128, full": rows(128, False),
    "attention d=128, causal": rows(128, True),
    "attention d=64, full and causal": rows(64, False) | rows(64, True),
}
