"""Which keys a query sees, and attention over them in torch."""

import torch

INT = torch.int32


def selected(batch, queries, heads, count, block, past=0):
    """For each query `count` different blocks before its own, in any order; behind them, where there are fewer, the number of
    keys."""
    total = queries + past
    blocks = -(-total // block)
    noise = torch.rand(batch, queries, heads, blocks, device="cuda")
    seen = ((torch.arange(queries, device="cuda") + past) // block).clamp(min=1)
    noise.masked_fill_(torch.arange(blocks, device="cuda") >= seen[:, None, None], 2.0)
    value, index = noise.topk(min(count, blocks), largest=False)
    index = torch.where(value < 2, index, total)
    return torch.nn.functional.pad(index, (0, count - index.shape[-1]), value=total).to(INT)


def dense(index, keys, block, past=0):
    """[batch, queries, heads, keys]: whether a key is in a block of `index` and not behind the query."""
    blocks = -(-keys // block)
    batch, queries, heads, _ = index.shape
    mask = torch.zeros(batch, queries, heads, blocks + 1, dtype=torch.bool, device=index.device)
    mask.scatter_(3, index.long().clamp(max=blocks), True)
    mask = mask[..., :blocks].repeat_interleave(block, -1)[..., :keys]
    causal = torch.arange(queries, device=index.device)[:, None] + past >= torch.arange(keys, device=index.device)
    return mask & causal[:, None]


def attention(q, k, v, mask, scale):
    """(o [batch, queries, heads, dim], logarithm of the sum, base 2); heads of k, v and mask are shared by groups of q's."""
    batch, queries, heads, dim = q.shape
    q = q.float().view(batch, queries, k.shape[2], -1, dim)
    scores = torch.einsum("blhgd,bmhd->bhglm", q, k.float()) * scale
    scores = scores.masked_fill(~mask.permute(0, 2, 1, 3)[:, :, None], float("-inf"))
    o = torch.einsum("bhglm,bmhd->blhgd", scores.softmax(-1), v.float())
    lse = scores.logsumexp(-1).permute(0, 3, 1, 2).reshape(batch, queries, heads) * 1.44269504
    return o.reshape(batch, queries, heads, -1), lse


def packed(tokens, sequences):
    """For each token where its sequence begins, and where it ends for this token, which sees the past alone."""
    length = tokens // sequences
    token = torch.arange(tokens, device="cuda")
    return (token // length * length).to(INT), (token + 1).to(INT)


def gradients(forward, inputs, gradient):
    inputs = [x.detach().float().requires_grad_() for x in inputs]
    forward(*inputs).backward(gradient.float())
    return [x.grad for x in inputs]
