"""Attention over some blocks of keys: by masks, by indices, by pages, by columns and blocks together."""

import torch
from case import Case, S, case, example, randn

HALF = torch.float16
INT = dict(dtype=torch.int32, device="cuda")


def softmax_of(q, k, v, mask):
    """[batch, heads, rows, dim] each, mask [batch, heads, rows, keys], a batch at a time."""
    results = []
    for a, b, c, seen in zip(q.float(), k.float(), v.float(), mask):
        scores = (a @ b.transpose(-1, -2) * a.shape[-1] ** -0.5).masked_fill(~seen, float("-inf"))
        results.append(scores.softmax(-1) @ c)
    return torch.stack(results)


def block_mask(batch, heads, blocks, count):
    noise = torch.rand(batch, heads, blocks, blocks, device="cuda")
    noise[..., 0] = 100
    mask = torch.zeros_like(noise, dtype=torch.bool).scatter_(-1, noise.topk(count)[1], True)
    return mask.tril_()


def prefill(path, past, dtype):
    m = example(path)
    batch, heads, keys, dim, count = S((2, 16, 8192, 128, 24), (1, 1, 256, 128, 2))
    rows = keys - past
    mask = block_mask(batch, heads, keys // 64, count)
    q, k, v = (randn(batch, heads, n, dim, dtype=HALF) for n in (rows, keys, keys))
    sizes = [batch, heads, keys] if path.startswith("blocksparse") else [batch, heads, rows, keys]
    kernel = m.blocksparse_flashattn(*sizes, dim, keys // 64, is_causal=True)

    def expected():  # a block of queries reads the mask's row of its own number, whatever is past
        full = mask[:, :, : rows // 64].repeat_interleave(64, 2).repeat_interleave(64, 3)
        return softmax_of(q, k, v, full.tril(past))

    return Case(lambda: kernel(q, k, v, mask.to(dtype)), expected)


case("block_sparse_attn", "block_sparse")(
    lambda: prefill("blocksparse_attention/example_tilelang_block_sparse_attn", 0, torch.bool)
)
case("seer_block_sparse_attn", "block_sparse")(lambda: prefill("seer_attention/block_sparse_attn_tilelang", 0, torch.int8))
case("seer_block_sparse_attn_past", "block_sparse")(
    lambda: prefill("seer_attention/block_sparse_attn_tilelang", S(4096, 128), torch.int8)
)


def decode(kind):
    m = example(f"blocksparse_attention/example_tilelang_sparse_gqa_decode_{kind}")
    batch, heads, groups, keys, dim, block, splits = S((32, 32, 8, 8192, 128, 32, 8), (2, 16, 4, 256, 128, 32, 2))
    page, count = 64, keys // block // S(4, 2)
    lengths = torch.randint(keys // 2, keys + 1, (batch,), **INT)
    q = randn(batch, heads, dim, dtype=HALF)
    k, v = (randn(batch, keys, groups, dim, dtype=HALF) for _ in range(2))
    noise = torch.rand(batch, groups, keys // block, device="cuda")
    noise.masked_fill_(torch.arange(keys // block, device="cuda") * block >= lengths[:, None, None], -1.0)
    index = noise.topk(count)[1].sort(-1, descending=True)[0].to(torch.int32)
    mask = torch.zeros_like(noise, dtype=torch.bool).scatter_(-1, index.long(), True)
    memory = [torch.empty(batch, heads, splits, device="cuda"), torch.empty(batch, heads, splits, dim, device="cuda")]
    options = dict(block_N=block, block_H=64, num_stages=2, threads=128)
    given = [q, k, v, mask if kind == "varlen_mask" else index, lengths]
    if kind == "paged":
        table = torch.randperm(batch * keys // page, device="cuda").to(torch.int32).view(batch, -1)
        where = table.flatten().argsort()
        given[1:3] = [x.view(-1, page, groups, dim)[where].contiguous() for x in (k, v)]
        given.append(table)
        options |= dict(page_block_size=page, num_pages=table.numel())
    kernel = m.flashattn(batch, heads, groups, dim, dim, **options)

    def expected():
        seen = mask.repeat_interleave(block, -1) & (torch.arange(keys, device="cuda") < lengths[:, None, None])
        rows = q.view(batch, groups, -1, dim)
        return softmax_of(rows, k.transpose(1, 2), v.transpose(1, 2), seen[:, :, None]).reshape(batch, heads, dim)

    return Case(lambda: kernel(*given, *memory), expected)


case("sparse_gqa_decode_mask", "block_sparse")(lambda: decode("varlen_mask"))
case("sparse_gqa_decode_indices", "block_sparse")(lambda: decode("varlen_indice"))
case("sparse_gqa_decode_paged", "block_sparse")(lambda: decode("paged"))


@case("minference_vertical_slash", "block_sparse")
def _():
    m = example("minference/example_vertical_slash_sparse_attn")
    heads, length, dim, vertical, slash = S((16, 16384, 64, 1000, 200), (1, 192, 64, 100, 2))
    rows = length // 64
    q, k, v = (randn(1, heads, length, dim, dtype=HALF) for _ in range(3))
    row = torch.arange(rows, device="cuda")
    noise = torch.rand(heads, rows, rows, device="cuda").masked_fill(row > row[:, None], 2.0)
    noise[:, row, row] = -1.0  # the block on the diagonal is always seen
    taken = noise.sort(-1)[1][..., : min(slash, rows)]
    count = (row + 1).clamp(max=S(24, 2)).expand(heads, rows)
    used = torch.arange(taken.shape[-1], device="cuda") < count[..., None]
    blocks = torch.zeros(heads, rows, rows, dtype=torch.bool, device="cuda").scatter_(
        -1, torch.where(used, taken, row[:, None]), True
    )
    offsets = torch.nn.functional.pad(taken * 64, (0, slash - taken.shape[-1])).to(torch.int32)
    free = ~blocks.repeat_interleave(64, -1) & (torch.arange(length, device="cuda") < row[:, None] * 64)
    order = torch.where(free, torch.rand(heads, rows, length, device="cuda"), 2.0).sort(-1)[1][..., :vertical]
    columns = free.sum(-1).clamp(max=vertical)
    given = [x[None].contiguous() for x in (count.to(torch.int32), offsets, columns.to(torch.int32), order.to(torch.int32))]
    kernel = m._tl_vs_sparse_flashattn(1, heads, length, dim, vertical, slash)

    def expected():
        results = []
        for head in range(heads):
            kept = torch.arange(vertical, device="cuda") < columns[head, :, None]
            seen = blocks[head].repeat_interleave(64, -1)
            seen = seen | torch.zeros_like(seen).scatter(-1, torch.where(kept, order[head], row[:, None] * 64), True)
            one = [x[:, head : head + 1] for x in (q, k, v)]
            results.append(softmax_of(*one, seen.repeat_interleave(64, 0).tril()[None, None]))
        return torch.cat(results, 1)

    return Case(lambda: kernel(q, k, v, *given), expected)
