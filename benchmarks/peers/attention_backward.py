"""Attention backward beside cuDNN, and beside Triton on the same sources: dQ by a kernel of its own, or added up in memory."""

import itertools

import torch
from gpu_rounds import Contest
from loaded_programs import EXAMPLES, as_triton, ours
from torch.nn.attention import SDPBackend, sdpa_kernel

SOURCES = {"dQ apart": "attention_backward.py", "once": "attention_backward_once.py"}
STEPS, WARPS = (64, 32), (8, 4)  # of the programs; Triton wants some 4, some 8 warps, ours follow the tile
GOALS = (0.9, 1.1)  # of cuDNN, of Triton


def forward(q, k, v, causal):
    """The result, and what autograd needs of cuDNN's forward."""
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)


def exact(q, k, v, dout, causal):
    """Gradients of the first head, and its rows' logarithms (base 2) of sums, in float64."""
    q, k, v = (x[:1, :1].double().requires_grad_() for x in (q, k, v))
    scores = q @ k.mT * q.shape[-1] ** -0.5
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
    return torch.autograd.grad(scores.softmax(-1) @ v, (q, k, v), dout[:1, :1].double())


def logarithms(q, k, causal):
    """Of the sums of all rows, base 2, head by head."""
    logs = torch.empty(q.shape[:3], device=q.device)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            scores = (q[b, h].float() @ k[b, h].float().T) * q.shape[-1] ** -0.5
            if causal:
                scores.masked_fill_(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
            logs[b, h] = scores.logsumexp(-1) * 1.4426950408889634
    return logs


def checker(gradients, expected):
    """A function that raises unless the first head's gradients are within what 16-bit factors allow; it spoils them."""

    def check():
        for ours_, right in zip(gradients, expected, strict=True):
            worst = float((ours_[:1, :1].double() - right).abs().amax() / right.abs().amax())
            ours_.fill_(float("nan"))
            if not worst <= 2.0**-5:
                raise ValueError(f"a gradient is off by {worst} of the largest")

    return check


def backward(batches, heads, n, d, causal):
    q, k, v, dout = (torch.randn(batches, heads, n, d, device="cuda").bfloat16() for _ in range(4))
    leaves = [x.detach().requires_grad_() for x in (q, k, v)]
    result = forward(*leaves, causal)
    out, logs = result.detach(), logarithms(q, k, causal)
    gradients = [torch.empty_like(x) for x in (q, k, v)]
    check = checker(gradients, exact(q, k, v, dout, causal))
    contest = Contest()
    contest.enter("cuDNN", lambda: lambda: torch.autograd.grad(result, leaves, dout, retain_graph=True))
    tensors = (q, k, v, out, dout, logs, *gradients, causal)
    for step, (how, file) in itertools.product(STEPS, SOURCES.items()):
        for name, load, warps in (("ours", ours, WARPS[:1]), ("Triton", as_triton, WARPS)):
            for each in warps if (step, how) != (32, "once") else ():  # 32 rows of dQ are no tile of the tensor cores

                def prepare(load=load, file=file, step=step, each=each):
                    call = load(EXAMPLES / "tileon" / file).attention_backward
                    return lambda: call(*tensors, 128, step, each)

                contest.enter(f"{name}, {how}, 128x{step}, {each} warps", prepare, check)
    contest.run()
    work = f"attention backward {batches}x{heads}x{n}, d={d}, {'causal' if causal else 'full'}"
    amount = 10 * batches * heads * n * n * d * (0.5 if causal else 1) / 1e12
    for rival, goal in zip(("cuDNN", "Triton"), GOALS, strict=True):
        yield from contest.result(work, "ours", rival, amount, "TFLOP/s", goal)


def row(d, causal):
    return lambda: backward(4, 16, 4096, d, causal)


WORKLOADS = {
    "attention backward": {
        f"attention-backward-{d}-4096-{'causal' if causal else 'full'}": row(d, causal)
        for d in (128, 64)
        for causal in (False, True)
    }
}
