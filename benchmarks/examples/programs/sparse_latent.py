"""Latent attention over keys that an index picks, both ways."""

import torch
from blocks import attention, dense, gradients, selected
from case import Case, S, case, example, randn

WIDTH, VALUES = 576, 512
QUERIES, HEADS, COUNT = S((4096, 128, 1024), (16, 64, 128))


def inputs(queries, heads, keys, past=0, count=COUNT):
    q, kv = randn(1, queries, heads, WIDTH, scale=0.3), randn(1, keys, 1, WIDTH, scale=0.3)
    return q, kv, selected(1, queries, 1, count, 1, past)


def mla(q, kv, index, past=0):
    mask = dense(index, kv.shape[1], 1, past)
    return attention(q, kv, kv[..., :VALUES], mask, WIDTH**-0.5)


@case("sparse_mla_fwd", "sparse_latent")
def _():
    m = example("deepseek_v32/sparse_mla_fwd")
    q, kv, index = inputs(QUERIES, HEADS, QUERIES)
    return Case(lambda: m.sparse_mla_fwd_interface(q, kv, index), lambda: mla(q, kv, index))


def by_roles(file):
    m = example(f"deepseek_v32/{file}")
    past = S(4096, 128)
    queries = S(2048, 16)
    q, kv, index = inputs(queries, HEADS, queries + past, past)
    return Case(
        lambda: m.sparse_mla_fwd_interface(q, kv, index, past, 1), lambda: mla(q, kv, index, past)[0], seen=lambda x: x[0]
    )


case("sparse_mla_fwd_pipelined", "sparse_latent")(lambda: by_roles("sparse_mla_fwd_pipelined"))
case("sparse_mla_fwd_seesaw", "sparse_latent")(lambda: by_roles("sparse_mla_fwd_seesaw"))


@case("sparse_mla_bwd", "sparse_latent")
def _():
    m = example("deepseek_v32/sparse_mla_bwd")
    queries, heads, count = S((2048, 64, 512), (4, 64, 32))
    q, kv, index = inputs(queries, heads, queries, count=count)
    do = randn(1, queries, heads, VALUES)
    o, lse = mla(q, kv, index)
    return Case(
        lambda: m.sparse_mla_bwd(q, kv, o.bfloat16(), do, index, lse.contiguous()),
        lambda: gradients(lambda q, kv: mla(q, kv, index)[0], (q, kv), do),
        tolerance=2e-2,
    )


@case("dsv4_sparse_attn_fwd", "sparse_latent")
def _():
    m = example("deepseek_v4/sparse_attn_fwd_sm90")
    queries, keys, dim, count = S((2048, 8192, 512, 1024), (4, 256, 512, 128))
    q, kv, sink = randn(1, queries, HEADS, dim), randn(1, keys, dim), randn(HEADS)
    index = torch.randint(0, keys, (1, queries, count), dtype=torch.int32, device="cuda")
    kernel = m.sparse_attn_fwd(1, HEADS, queries, keys, dim, count, dtype="bfloat16")
    return Case(lambda: kernel(q, kv, index, sink), lambda: m.torch_sparse_attention(q, kv, sink, index, dim**-0.5))


# ---- DSA's finetuning: sequences of several lengths in one tensor ----
def sequences(tokens, heads, count):
    """(q, kv, index, offsets); indices count from the begin of their sequence."""
    first = tokens // 2 - 1
    parts = [selected(1, n, 1, count, 1)[0] for n in (first, tokens - first)]
    index = torch.cat([torch.where(x < x.shape[0], x, tokens) for x in parts]).contiguous()
    offsets = torch.tensor([0, first, tokens], dtype=torch.int32, device="cuda")
    return randn(tokens, heads, WIDTH, scale=0.3), randn(tokens, 1, WIDTH, scale=0.3), index, offsets


def each(q, kv, index, offsets):
    cuts = [slice(a, b) for a, b in zip(offsets.tolist(), offsets.tolist()[1:])]
    results = [mla(q[None, cut], kv[None, cut], index[None, cut]) for cut in cuts]
    return [torch.cat([result[i][0] for result in results]) for i in range(2)]


@case("dsa_sparse_mla_fwd", "sparse_latent")
def _():
    m = example("dsa_sparse_finetune/sparse_mla_fwd")
    q, kv, index, offsets = sequences(QUERIES // S(2, 1), HEADS, S(512, 64))
    options = dict(block_I=64, threads=256)
    return Case(
        lambda: m.sparse_mla_fwd_interface(q, kv, index, offsets, **options),
        lambda: each(q, kv, index, offsets)[0],
        seen=lambda x: x[0],
    )


@case("dsa_sparse_mla_bwd", "sparse_latent")
def _():
    m = example("dsa_sparse_finetune/sparse_mla_bwd")
    tokens, heads, count = S((2048, 64, 512), (8, 64, 32))
    q, kv, index, offsets = sequences(tokens, heads, count)
    do = randn(tokens, heads, VALUES)
    o, lse = each(q, kv, index, offsets)
    lse = (lse / 1.44269504).contiguous()
    # the sums for keys are made in memory that the program does not clear
    return Case(
        lambda: m.sparse_mla_bwd(q, kv, o.bfloat16(), do, index, lse, offsets),
        lambda: gradients(lambda q, kv: each(q, kv, index, offsets)[0], (q, kv), do)[0],
        tolerance=2e-2,
        seen=lambda x: x[0],
    )


@case("dsa_sparse_mla_topk_reducesum", "sparse_latent")
def _():
    m = example("dsa_sparse_finetune/sparse_mla_topk_reducesum")
    tokens, heads, count = S((4096, 64, 512), (8, 64, 32))
    q, kv = randn(tokens, heads, WIDTH, scale=0.3), randn(tokens, WIDTH, scale=0.3)
    offsets = torch.tensor([0, tokens // 2, tokens], dtype=torch.int32, device="cuda")
    index = torch.arange(count, dtype=torch.int32, device="cuda").expand(tokens, count).clamp(max=tokens // 2 - 1).contiguous()
    lse, sums = m.ref_mla_topk_softmax(q.float(), kv.float(), index, offsets)
    return Case(
        lambda: m.sparse_mla_topk_reducesum_interface(q, kv[:, None], index[:, None], lse, offsets, dim_v=VALUES),
        lambda: sums,
    )
