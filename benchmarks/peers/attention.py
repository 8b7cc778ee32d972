"""Attention forward beside cuDNN, and beside Triton on the same source."""

import torch
from gpu_rounds import Contest
from programs import EXAMPLES, as_triton, ours
from torch.nn.attention import SDPBackend, sdpa_kernel

SOURCE = EXAMPLES / "tileon" / "attention.py"
BLOCKS = ((128, 128), (128, 64))


def checker(q, k, v, out, causal):
    """A function that raises unless the first head's result is within what 16-bit weights allow; it spoils the result."""
    head = [x[:1, :1].double() for x in (q, k, v)]
    exact = torch.nn.functional.scaled_dot_product_attention(*head, is_causal=causal)

    def check():
        worst = float((out[:1, :1].double() - exact).abs().amax())
        out.fill_(float("nan"))
        if not worst <= 2.0**-6:
            raise ValueError(f"the result is off by {worst}")

    return check


def forward(batches, heads, n, d, causal, goals):
    q, k, v = (torch.randn(batches, heads, n, d, device="cuda").bfloat16() for _ in range(3))
    out = torch.empty_like(q)
    check = checker(q, k, v, out, causal)
    contest = Contest()

    def library():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    contest.enter("cuDNN", lambda: library)
    for blocks in BLOCKS:
        for name, load in (("ours", ours), ("Triton", as_triton)):
            module = load(SOURCE)
            prepare = lambda module=module, blocks=blocks: lambda: module.attention(q, k, v, out, causal, blocks)
            contest.enter(f"{name}, {blocks[0]}x{blocks[1]}", prepare, check)
    contest.run()
    work = f"attention {batches}x{heads}x{n}, d={d}, {'causal' if causal else 'full'}"
    amount = 4 * batches * heads * n * n * d * (0.5 if causal else 1) / 1e12
    for rival, goal in zip(("cuDNN", "Triton"), goals, strict=True):
        yield from contest.result(work, "ours", rival, amount, "TFLOP/s", goal)


def row(batches, heads, n, d, causal):
    goal = {128: (1.0, 1.05), 64: (0.93, 0.95)}[d][causal]
    return lambda: forward(batches, heads, n, d, causal, (goal, 1.05))


ROWS = {
    f"attention-{d}-{n}-{'causal' if causal else 'full'}": row(batches, 16, n, d, causal)
    for d in (128, 64)
    for batches, n in ((4, 4096), (1, 16384))
    for causal in (False, True)
}
