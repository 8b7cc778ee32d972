"""Indexers: products in fp8 whose columns are summed by heads, and the choice of the largest."""

import torch
from blocks import packed
from case import Case, S, case, example, randn

FP8 = torch.float8_e4m3fn
HEADS, DIM = 64, 128


def fp8(*shape):
    return randn(*shape).to(FP8)


def scales(count):
    return 0.1 + 0.01 * torch.rand(count, device="cuda")


@case("lightning_indexer_fp8", "indexer")
def _():
    m = example("deepseek_v32/fp8_lighting_indexer")
    tokens, heads, dim = S((8192, 32, 64), (64, 32, 64))
    q, k, scale, weights = fp8(tokens, heads, dim), fp8(tokens, dim), scales(tokens), randn(tokens, heads, dtype=torch.float32)
    begin, end = packed(tokens, 2)
    return Case(
        lambda: m.mqa_attn_return_logits_interface(q, k, scale, weights, begin, end),
        lambda: m.ref_fp8_mqa_logits(q, k.float() * scale[:, None], weights, begin, end)[0],
    )


@case("topk_selector", "indexer")
def _():
    m = example("deepseek_v32/topk_selector")
    rows, columns, count = S((256, 32768, 2048), (4, 4096, 256))
    x = torch.randn(rows, columns, device="cuda")
    begin, end = (torch.full((rows,), value, dtype=torch.int32, device="cuda") for value in (0, columns))
    return Case(
        lambda: m.tl_topk(x, begin, end, count),
        lambda: torch.topk(x, count, dim=-1)[0].sort(-1)[0],
        seen=lambda index: x.gather(1, index.long()).sort(-1)[0],
    )


@case("dsv32_act_quant", "indexer")
def _():
    m = example("deepseek_v32/inference/kernel")
    rows, columns = S((8192, 7168), (64, 512))
    x = randn(rows, columns)

    def expected():
        groups = x.float().view(rows, -1, 128)
        scale = groups.abs().amax(-1).clamp(min=1e-4) / 448
        return (groups / scale[..., None]).view(rows, columns).to(FP8), scale

    return Case(lambda: m.act_quant(x), expected, tolerance=2e-2)


@case("dsv32_fp8_gemm", "indexer")
def _():
    m = example("deepseek_v32/inference/kernel")
    rows, columns, depth = S((4096, 4096, 7168), (64, 256, 512))
    a, b, c = fp8(rows, depth), fp8(columns, depth), torch.zeros(rows, columns, dtype=torch.bfloat16, device="cuda")
    of_a, of_b = torch.rand(rows, depth // 128, device="cuda"), torch.rand(columns // 128, depth // 128, device="cuda")
    kernel = m.fp8_gemm_kernel(columns, depth)

    def call():
        kernel(a, b, c, of_a, of_b)
        return c

    def expected():
        left = a.float() * of_a.repeat_interleave(128, 1)
        return left @ (b.float() * of_b.repeat_interleave(128, 0).repeat_interleave(128, 1)).T

    return Case(call, expected)


@case("dsv32_fp8_index", "indexer")
def _():
    m = example("deepseek_v32/inference/kernel")
    batch, queries, keys = S((2, 1024, 8192), (1, 2, 512))
    q, k = fp8(batch, queries, HEADS, DIM), fp8(batch, keys, DIM)
    of_q, of_k = torch.rand(batch, queries, HEADS, device="cuda"), torch.rand(batch, keys, device="cuda")

    def expected():
        parts = [torch.einsum("mhd,nd->mhn", q[i].float(), k[i].float()).relu() for i in range(batch)]
        return torch.stack([(x * of_q[i, ..., None]).sum(1) * of_k[i] for i, x in enumerate(parts)])

    return Case(lambda: m.fp8_index(q, of_q, k, of_k), expected)


# ---- hierarchical ----
@case("hisa_fp8_block_mean_pooling", "indexer")
def _():
    m = example("dsa_hisa/fp8_block_mean_pooling")
    tokens = S(1 << 20, 1024)
    k, scale = fp8(tokens, DIM), scales(tokens)
    return Case(
        lambda: m.fp8_native_block_mean_pooling_interface(k, scale, 128),
        lambda: (k.float() * scale[:, None]).view(-1, 128, DIM).mean(1),
        tolerance=5e-2,
        seen=lambda x: x[0].float() * x[1][:, None],
    )


@case("hisa_pool_mqa_fp8", "indexer")
def _():
    m = example("dsa_hisa/pool_mqa_fp8")
    tokens, blocks = S((32768, 256), (4, 256))
    q, k, scale, weights = fp8(tokens, HEADS, DIM), fp8(blocks, DIM), scales(blocks), randn(tokens, HEADS, dtype=torch.float32)
    begin, end = (x * blocks // tokens for x in packed(tokens, 2))
    end = (end + 1).clamp(max=blocks)

    def masked(x):
        return m.ref_clean_and_maintain_logits(x, begin, end)

    def expected():
        parts = [slice(i, i + 4096) for i in range(0, tokens, 4096)]
        return masked(torch.cat([m.ref_pool_mqa_fp8(q[part], k, scale, weights[part]) for part in parts]))

    return Case(lambda: m.pool_mqa_attn_return_logits_fp8_interface(q, k, scale, weights, begin, end), expected, seen=masked)


@case("hisa_clean_and_maintain_logits", "indexer")
def _():
    m = example("dsa_hisa/clean_and_maintain_logits")
    tokens = S(16384, 256)
    begin, end = packed(tokens, 4)
    x = torch.randn(tokens, tokens, device="cuda")
    before = x.clone()

    def parts(y):
        return torch.isposinf(y), torch.isneginf(y), y.nan_to_num(0, 0, 0)

    return Case(
        lambda: m.clean_and_maintain_logits_interface(x, begin, end),
        lambda: parts(m.ref_clean_and_maintain_logits(before, begin, end)),
        seen=parts,
    )


@case("hisa_block_sparse_mqa_fp8", "indexer")
def _():
    m = example("dsa_hisa/block_sparse_mqa_fp8")
    block, count = 128, S(16, 2)
    tokens, queries = S((4096, 4096), (256, 8))
    q, k, scale, weights = fp8(queries, HEADS, DIM), fp8(tokens, DIM), scales(tokens), randn(queries, HEADS, dtype=torch.float32)
    begin, end = (x[-queries:].contiguous() for x in packed(tokens, 2))
    index = torch.rand(queries, tokens // block, device="cuda").topk(count)[1]

    def expected():
        parts = [slice(i, i + 256) for i in range(0, queries, 256)]
        return torch.cat(
            [m.ref_fp8_block_sparse_mqa(q[p], k, scale, index[p], block, weights[p], begin[p], end[p]) for p in parts]
        )

    return Case(
        lambda: m.fp8_native_block_sparse_mqa_attn_return_logits_interface(q, k, scale, index, block, weights, begin, end),
        expected,
    )


@case("hisa", "indexer")
def _():
    m = example("dsa_hisa/hisa")
    tokens, blocks, count = S((32768, 16, 256), (128, 2, 64))
    q, k, scale, weights = fp8(tokens, HEADS, DIM), fp8(tokens, DIM), scales(tokens), randn(tokens, HEADS, dtype=torch.float32)
    begin, end = packed(tokens, 1)
    options = dict(k_block_size=128, block_topk=blocks, topk_tokens=count)
    return Case(
        lambda: m.hisa_indexer(q, k, scale, weights, begin, end, **options),
        lambda: (end - begin).clamp(max=count),
        seen=lambda x: (x >= 0).sum(-1),
    )


# ---- finetuning ----
@case("dsa_indexer_topk_reducesum", "indexer")
def _():
    m = example("dsa_sparse_finetune/indexer_topk_reducesum")
    tokens, heads, dim, count = S((2048, 64, 128, 64), (34, 64, 128, 32))
    q, weights, k = randn(tokens, heads, dim), randn(tokens, heads), randn(tokens, dim)
    offsets = torch.tensor([0, tokens], dtype=torch.int32, device="cuda")
    return Case(
        lambda: m.indexer_topk_reducesum_interface(q, weights, k, count, offsets),
        lambda: m.ref_index_score(q, weights, k, count, offsets)[1],
        tolerance=5e-2,
        seen=lambda x: x[1],
    )


@case("dsa_indexer_bwd", "indexer")
def _():
    m = example("dsa_sparse_finetune/indexer_bwd")
    tokens, heads, dim, count = S((4096, 16, 128, 64), (72, 16, 128, 32))
    q, weights, k = randn(tokens, heads, dim), randn(tokens, heads), randn(tokens, dim)
    offsets = torch.tensor([0, tokens // 2, tokens], dtype=torch.int32, device="cuda")
    index = torch.arange(count, dtype=torch.int32, device="cuda").expand(tokens, count).contiguous()
    time = torch.arange(tokens, device="cuda") % (tokens // 2)
    score = torch.zeros(tokens, count, device="cuda").masked_fill(time[:, None] < index, float("-inf")).softmax(-1)
    probability, *grads = m.ref_indexer_bwd(*(x.float() for x in (q, weights, k)), index, score, offsets)
    probability = probability.detach()
    # the sums for keys are made in memory that the program does not clear
    return Case(
        lambda: m.indexer_bwd_interface(q, weights, k, score, probability, index, offsets),
        lambda: grads[:2],
        tolerance=5e-2,  # rounding decides on which side of 0 some scores are
        seen=lambda x: x[:2],
    )
