"""Native sparse attention: each query takes some blocks of keys."""

import torch
from blocks import attention, dense, gradients, selected
from case import Case, S, case, example, randn

HALF = torch.float16
BATCH, LENGTH, QUERY_HEADS, HEADS, DIM, COUNT, BLOCK = S((2, 4096, 64, 4, 128, 16, 32), (1, 96, 16, 1, 128, 2, 32))
OPTIONS = dict(dim=DIM, block_size=BLOCK, groups=QUERY_HEADS // HEADS, selected_blocks=COUNT)


def inputs(batch, length):
    q = randn(batch, length, QUERY_HEADS, DIM, dtype=HALF)
    return [q, *(randn(batch, length, HEADS, DIM, dtype=HALF) for _ in range(2))]


@case("nsa_fwd", "nsa")
def _():
    m = example("deepseek_nsa/example_tilelang_nsa_fwd")
    q, k, v = inputs(BATCH, LENGTH)
    index = selected(BATCH, LENGTH, HEADS, COUNT, BLOCK).sort(-1)[0]

    def expected():
        return torch.cat(
            [attention(*(x[i : i + 1] for x in (q, k, v, dense(index, LENGTH, BLOCK))), 0.1)[0] for i in range(BATCH)]
        )

    return Case(lambda: m.native_sparse_attention(q, k, v, index, is_causal=True, scale=0.1, **OPTIONS), expected)


@case("nsa_fwd_varlen", "nsa")
def _():
    m = example("deepseek_nsa/example_tilelang_nsa_fwd_varlen")
    first = LENGTH // 4 + BLOCK
    offsets = torch.tensor([0, first, LENGTH], dtype=torch.int32, device="cuda")
    q, k, v = (x[0] for x in inputs(1, LENGTH))
    parts = [selected(1, n, HEADS, COUNT, BLOCK).sort(-1)[0] for n in (first, LENGTH - first)]
    index = torch.cat([x[0] for x in parts]).contiguous()
    counts = torch.full((LENGTH, HEADS), COUNT, dtype=torch.int32, device="cuda")
    tokens = torch.tensor(
        [(i, t) for i, n in enumerate((first, LENGTH - first)) for t in range(n)], dtype=torch.int32, device="cuda"
    )
    o = torch.zeros_like(q)

    def call():
        m.native_sparse_attention_varlen(q, k, v, o, index, counts, offsets, tokens, batch=2, is_causal=True, **OPTIONS)
        return o

    def expected():
        cuts = [(x[None, :first], x[None, first:]) for x in (q, k, v)]
        masks = [dense(x, x.shape[1], BLOCK) for x in parts]
        return torch.cat([attention(*(cut[i] for cut in cuts), masks[i], DIM**-0.5)[0][0] for i in range(2)])

    return Case(call, expected)


@case("nsa_decode", "nsa")
def _():
    m = example("deepseek_nsa/example_tilelang_nsa_decode")
    batch, length = S((128, 8192), (2, 96))
    q = randn(batch, 1, QUERY_HEADS, DIM, dtype=HALF)
    k, v = (randn(batch, length, HEADS, DIM, dtype=HALF) for _ in range(2))
    index = torch.rand(batch, 1, HEADS, length // BLOCK, device="cuda").topk(COUNT)[1].to(torch.int32)

    def expected():  # what is summed is not scaled when the maximum changes, as the program has it
        def taken(x):
            x = x.float().view(batch, length // BLOCK, BLOCK, HEADS, DIM).permute(0, 3, 1, 2, 4)
            return x.gather(2, index[:, 0].long()[..., None, None].expand(-1, -1, -1, BLOCK, DIM))

        scores = torch.einsum("bhgd,bhcnd->bhgcn", q.float().view(batch, HEADS, -1, DIM), taken(k)) * DIM**-0.5
        most = scores.amax(-1, keepdim=True)
        total = (scores - most[:, :, :, -1:]).exp().sum((3, 4))
        return torch.einsum("bhgcn,bhcnd->bhgd", (scores - most).exp(), taken(v)) / total[..., None]

    return Case(lambda: m.native_sparse_attention(q, k, v, index, **OPTIONS), expected)


def backward():
    """(module, inputs, index, mask, o, logarithms, gradient of o, their product), one batch."""
    length = LENGTH // S(2, 1)
    m = example("deepseek_nsa/example_tilelang_nsa_bwd", H=HEADS, block_counts=1)
    given = inputs(1, length)
    index = selected(1, length, HEADS, COUNT, BLOCK).sort(-1)[0]
    mask = dense(index, length, BLOCK)
    with torch.no_grad():
        o, lse = attention(*given, mask, 0.1)
    do = randn(1, length, QUERY_HEADS, DIM, dtype=HALF)
    return m, given, index, mask, o.to(HALF), lse.contiguous(), do, (o * do.float()).sum(-1)


@case("nsa_bwd_file_fwd", "nsa")
def _():
    m, given, index, _, o, lse, *_ = backward()
    return Case(lambda: m.tilelang_kernel_fwd(*given, index, is_causal=True, scale=0.1, **OPTIONS), lambda: (o, lse))


@case("nsa_bwd_preprocess", "nsa")
def _():
    m, _, _, _, o, _, do, delta = backward()
    return Case(lambda: m.tilelang_kernel_preprocess(o, do), lambda: delta)


@case("nsa_bwd_block_mask", "nsa")
def _():
    m, _, index, *_ = backward()
    counts = torch.randint(1, COUNT + 1, index.shape[:3], device="cuda", dtype=torch.int32)

    def expected():
        time = torch.arange(index.shape[1], device="cuda")[:, None, None]
        return (index * BLOCK <= time) & (torch.arange(COUNT, device="cuda") < counts[..., None])

    # a slot is its own number in the program's table; what lies behind them nothing writes
    return Case(lambda: m.tilelang_kernel_block_mask(index, counts, BLOCK), expected, seen=lambda x: x[..., :COUNT])


def gradient_case(with_q):
    m, given, index, mask, _, lse, do, delta = backward()
    length = index.shape[1]
    blocks = torch.nn.functional.pad(torch.zeros_like(index[..., :0]), (0, length // BLOCK + 1))
    blocks = blocks.scatter(3, index.long().clamp(max=length // BLOCK), 1)[..., :-1].contiguous()
    dq, dk, dv = torch.zeros_like(given[0])[None], torch.zeros_like(given[1])[None], torch.zeros_like(given[2])
    kernel = m.tilelang_kernel_bwd_dqkv if with_q else m.tilelang_kernel_bwd_dkv
    out = ([dq] if with_q else []) + [dk, dv]

    def call():
        kernel(*given, lse, delta, do, *out, blocks, is_causal=True, scale=0.1, **OPTIONS)
        return out

    def expected():
        all_of_them = gradients(lambda *x: attention(*x, mask, 0.1)[0], given, do)
        return all_of_them[0 if with_q else 1 :]

    return Case(call, expected, tolerance=2e-2)


case("nsa_bwd_dkv", "nsa")(lambda: gradient_case(False))
case("nsa_bwd_dqkv", "nsa")(lambda: gradient_case(True))
