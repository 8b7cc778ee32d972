"""Kimi's delta attention: a gate for each number of a key, by powers of two."""

import torch
from case import Case, S, case, example, randn
from delta import chunks, lower, recurrence, rounded, whole

BATCH, LENGTH, HEADS, DIM, SIZE, SUB = S((1, 8192, 64, 128, 64, 16), (1, 128, 2, 128, 64, 16))
CHUNKS, F32, BF16 = LENGTH // SIZE, torch.float32, torch.bfloat16
TYPES = "bfloat16", "bfloat16", "float32", "float32"


def keys(dtype=BF16, scale=1.0, heads=HEADS):
    return randn(BATCH, LENGTH, heads, DIM, dtype=dtype, scale=scale)


def small_gates(heads=HEADS):
    """Sums of logarithms within chunks that stay in the range of the programs' powers."""
    g = -torch.rand(BATCH, CHUNKS, SIZE, heads, DIM, device="cuda") * 0.1
    return g.cumsum(2).reshape(BATCH, LENGTH, heads, DIM)


@case("kda_chunk_delta_h_fwd", "kda")
def _():
    m = example("kda/chunk_delta_h_fwd")
    half = torch.float16
    k, w, u = (torch.nn.functional.normalize(keys().float(), dim=-1).to(half) for _ in range(3))
    gk, h0 = small_gates(), randn(BATCH, HEADS, DIM, DIM, dtype=half)
    types = "float16", "float16", "float32", "float32", "float32"
    kernel = m.tilelang_chunk_gated_delta_rule_fwd_h(
        BATCH, LENGTH, HEADS, DIM, DIM, *types, SIZE, True, True, True, True, block_DK=32, block_DV=32, threads=128, num_stages=2
    )

    def expected():
        last = chunks(gk)[0][:, :, -1]
        return recurrence(k, w, u, h0, lambda i: torch.exp2(last[:, i])[..., None], lambda x, i: x)

    return Case(lambda: kernel(k, w, u, gk, h0), expected)


@case("kda_chunk_delta_bwd", "kda")
def _():
    m = example("kda/chunk_delta_bwd")
    q, k, w, gk = (
        keys(scale=0.01),
        torch.nn.functional.normalize(keys().float(), dim=-1).bfloat16(),
        keys(scale=0.05),
        small_gates(),
    )
    h0, dht, do, dv, scale = *(randn(BATCH, HEADS, DIM, DIM) for _ in range(2)), keys(scale=0.01), keys(), DIM**-0.5
    kernel = m.tilelang_chunk_gated_delta_rule_bwd_dhu(
        BATCH, LENGTH, HEADS, DIM, DIM, *TYPES, "float32", SIZE, scale, True, True, True, block_DV=32, threads=128, num_stages=1
    )

    def expected():
        qc, kc, wc, gc, doc, dvc = chunks(q, k, w, gk, do, dv)
        state, dh, dv2 = dht.float(), [None] * CHUNKS, [None] * CHUNKS
        for i in reversed(range(CHUNKS)):
            dh[i] = state
            dv2[i] = torch.einsum("bchk,bhkv->bchv", kc[:, i], rounded(state)) + dvc[:, i]
            state = state * torch.exp2(gc[:, i, -1])[..., None]
            state = state + torch.einsum("bchk,bchv->bhkv", qc[:, i], doc[:, i]) * scale
            state = state - torch.einsum("bchk,bchv->bhkv", wc[:, i], rounded(dv2[i]))
        return torch.stack(dh, 1), state, torch.cat(dv2, 1)

    return Case(lambda: kernel(q, k, w, gk, h0, dht, do, dv), expected, tolerance=2e-2)


@case("kda_chunk_bwd_dv", "kda")
def _():
    m = example("kda/chunk_bwd_dv")
    do, a = keys(F32), randn(BATCH, LENGTH, HEADS, SIZE)
    kernel = m.tilelang_chunk_bwd_kernel_dv_local(
        BATCH, LENGTH, HEADS, DIM, "bfloat16", "bfloat16", "float32", SIZE, block_DV=128, threads=128, num_stages=1
    )

    def expected():
        doc, ac = chunks(do, a)
        return whole(torch.einsum("bnhij,bnihk->bnjhk", torch.where(lower(), ac.transpose(2, 3), 0.0), doc))

    return Case(lambda: kernel(do, a), expected)


@case("kda_chunk_bwd_gla_dA", "kda")
def _():
    m = example("kda/chunk_bwd_gla_dA")
    do, v = keys(), keys()
    kernel = m.tilelang_chunk_bwd_kernel_dv_local(
        BATCH, LENGTH, HEADS, DIM, 1.0, "bfloat16", "float32", "bfloat16", SIZE, block_DV=128, threads=128, num_stages=1
    )

    def expected():
        a = torch.einsum("bnihk,bnjhk->bnhij", *chunks(do, v))
        return whole(torch.where(lower(), a, 0.0).transpose(2, 3))

    return Case(lambda: kernel(do, v), expected)


@case("kda_wy_fast", "kda")
def _():
    m = example("kda/wy_fast")
    k, v, beta, g, a = keys(), keys(), randn(BATCH, LENGTH, HEADS), small_gates(), randn(BATCH, LENGTH, HEADS, SIZE)
    kernel = m.tilelang_recompute_w_u_fwd(
        BATCH,
        LENGTH,
        HEADS,
        DIM,
        DIM,
        *TYPES,
        SIZE,
        False,
        True,
        block_S=SIZE,
        block_DK=64,
        block_DV=32,
        threads=128,
        num_stages=3,
    )

    def expected():
        kc, vc, bc, gc, ac = chunks(k, v, beta, g, a)
        parts = kc * bc[..., None] * torch.exp2(gc), vc * bc[..., None]
        w, u = whole(*(torch.einsum("bnihj,bnjhk->bnihk", ac, rounded(x)) for x in parts))
        return w, u, *whole(kc * torch.exp2(gc[:, :, -1:] - gc))

    # the third result is not asked for, and nothing writes it
    return Case(lambda: kernel(k, v, beta, g, a), expected, seen=lambda x: [x[0], x[1], x[3]])


@case("kda_chunk_o", "kda")
def _():
    m = example("kda/chunk_o")
    q, v, g, a, h = keys(), keys(), small_gates(), randn(BATCH, LENGTH, HEADS, SIZE), randn(BATCH, CHUNKS, HEADS, DIM, DIM)
    scale = DIM**-0.5
    kernel = m.tilelang_chunk_fwd_o(
        BATCH, LENGTH, HEADS, DIM, DIM, *TYPES, SIZE, scale, SIZE, block_DK=64, block_DV=64, threads=128, num_stages=1
    )

    def expected():
        qc, vc, gc, ac = chunks(q, v, g, a)
        past = torch.einsum("bnihk,bnhkv->bnihv", rounded(rounded(qc * scale) * torch.exp2(gc)), h.float())
        return whole(past + torch.einsum("bnhij,bnjhv->bnihv", torch.where(lower(), ac.transpose(2, 3), 0.0), vc))

    return Case(lambda: kernel(q, v, g, a, h), expected)


def token_products(q, k, g, beta):
    """[b, n, h, i, j] of queries and of keys with their beta, at and before each token."""
    qc, kc, gc, bc = chunks(q, k, g, beta)
    results = [[], []]
    for i in range(SIZE):
        decay = torch.exp2((gc[:, :, i, None] - gc).clamp(max=0)) * kc
        results[0].append(torch.einsum("bnhk,bnjhk->bnhj", qc[:, :, i], decay))
        results[1].append(torch.einsum("bnhk,bnjhk->bnhj", kc[:, :, i] * bc[:, :, i, ..., None], decay))
    return [torch.stack(x, 3) for x in results]


@case("kda_chunk_intra_token_parallel", "kda")
def _():
    m = example("kda/chunk_intra_token_parallel")
    q, k, g, beta = keys(), keys(), small_gates(), randn(BATCH, LENGTH, HEADS)
    kernel = m.tilelang_chunk_kda_fwd_intra_token_parallel(
        BATCH, LENGTH, HEADS, DIM, *TYPES, SIZE, SUB, block_H=1, threads=32, num_stages=1
    )

    def expected():
        of_q, of_k = token_products(q, k, g, beta)
        block = torch.arange(SIZE, device="cuda") // SUB
        same = block[:, None] == block
        of_q = torch.where(same & lower(), of_q, 0.0)
        of_k = torch.where(same & lower(-1), of_k, 0.0).unflatten(-1, (-1, SUB)).sum(-2)
        return whole(of_q.transpose(2, 3), of_k.transpose(2, 3))

    return Case(lambda: kernel(q, k, g, beta), expected, tolerance=2e-2)


@case("kda_chunk_inter_solve_fused", "kda")
def _():
    m = example("kda/chunk_inter_solve_fused")
    q, k, g, beta = keys(), keys(scale=0.05), small_gates(), torch.rand(BATCH, LENGTH, HEADS, device="cuda").bfloat16()
    diagonal = torch.randn(BATCH, LENGTH, HEADS, SUB, device="cuda") * 0.1
    scale = 1.0
    kernel = m.tilelang_chunk_kda_fwd_inter_fused(
        BATCH, LENGTH, HEADS, DIM, *TYPES, SIZE, SUB, scale, block_DK=32, threads=32, num_stages=1
    )
    block = torch.arange(SIZE, device="cuda") // SUB
    off = block[:, None] > block
    inside = (block[:, None] == block) & lower(-1)

    def expected():
        of_q, of_k = token_products(q, k, g, beta)
        own = chunks(diagonal)[0].transpose(2, 3).repeat(1, 1, 1, 1, SIZE // SUB)
        a = torch.where(off, of_k, 0.0) + torch.where(inside, own, 0.0)
        inverse = torch.linalg.inv(torch.eye(SIZE, device="cuda") + a)
        return whole(
            torch.where(off, of_q * scale, 0.0).transpose(2, 3),
            torch.where(off | inside | (lower() & ~lower(-1)), inverse, 0.0).transpose(2, 3),
        )

    def seen(result):  # blocks above the diagonal nothing writes
        first, second = (x.float().reshape(BATCH, CHUNKS, SIZE, HEADS, SIZE).transpose(2, 3) for x in result)
        return whole(
            torch.where(off, first, 0.0).transpose(2, 3), torch.where(block[:, None] >= block, second, 0.0).transpose(2, 3)
        )

    return Case(lambda: kernel(q, k, g, beta, diagonal), expected, tolerance=2e-2, seen=seen)


@case("kda_chunk_bwd_intra", "kda")
def _():
    m = example("kda/chunk_bwd_intra")
    heads = S(8, 1)
    q, k, g = keys(F32, heads=heads), keys(F32, heads=heads), small_gates(heads)
    beta, db = (torch.randn(BATCH, LENGTH, heads, device="cuda") for _ in range(2))
    da_q, da_k = (torch.randn(BATCH, LENGTH, heads, SIZE, device="cuda") for _ in range(2))
    dq, dk, dg = (keys(F32, heads=heads) for _ in range(3))
    kernel = m.tilelang_chunk_bwd_intra(
        B=BATCH, S=LENGTH, H=heads, DK=DIM, input_dtype="float32", output_dtype="float32", accum_dtype="float32",
        gate_dtype="float32", state_dtype="float32", chunk_size=SIZE, block_DK=64, threads=128, num_stages=0,
    )  # fmt: skip

    def expected():
        qc, kc, gc, bc, aq, ak, dqc, dkc, dgc = chunks(q, k, g, beta, da_q, da_k, dq, dk, dg)
        aq, ak = (torch.where(lower(), x.transpose(2, 3), 0.0) for x in (aq, ak))
        rows = [[], []]
        columns = torch.zeros_like(kc)
        for i in range(SIZE):
            gap = gc[:, :, i, None] - gc
            decay = torch.exp2(torch.where((torch.arange(SIZE, device="cuda") <= i)[:, None, None], gap, 0.0))
            rows[0].append(torch.einsum("bnhj,bnjhk->bnhk", aq[:, :, :, i], kc * decay))
            rows[1].append(torch.einsum("bnhj,bnjhk->bnhk", ak[:, :, :, i], kc * decay))
            part = (
                aq[:, :, :, i, :, None] * qc[:, :, i, :, None] + ak[:, :, :, i, :, None] * (kc * bc[..., None])[:, :, i, :, None]
            )
            columns += part.transpose(2, 3) * decay
        dq2, dk2 = (torch.stack(x, 2) for x in rows)
        db2 = (dk2 * kc).unflatten(-1, (-1, 64)).sum(-1)
        dk2 = dk2 * bc[..., None]
        dg2 = qc * dq2 + (dk2 - columns) * kc + dgc
        first = [x.reshape(BATCH, LENGTH, heads) for x in db2.unbind(-1)]
        return *whole(dq2 + dqc, dk2 + dkc + columns), torch.stack(first), *whole(dg2)

    return Case(lambda: kernel(q, k, g, beta, da_q, da_k, dq, dk, db, dg), expected, tolerance=2e-2)


def dqkwg(dtype):
    m = example("kda/chunk_bwd_dqkwg")
    t = getattr(torch, dtype)
    q, k, v, dv, do = (keys(t) for _ in range(5))
    g = small_gates()
    h, dh = (randn(BATCH, CHUNKS, HEADS, DIM, DIM, dtype=t) for _ in range(2))
    kernel = m.chunk_bwd_dqkwg(
        B=BATCH, S=LENGTH, H=HEADS, DK=DIM, DV=DIM, scale=1.0, chunk_size=SIZE, input_dtype=dtype, gate_dtype="float32",
        block_DK=64, block_DV=64, threads=128, num_stages=2,
    )  # fmt: skip

    def expected():
        qc, kc, vc, doc, dvc, gc = chunks(q, k, v, do, dv, g.to(t))
        hf, dhf, last = h.float(), dh.float(), gc[:, :, -1:]
        dw = -torch.einsum("bnihv,bnhkv->bnihk", dvc, hf)
        dq = torch.einsum("bnihv,bnhkv->bnihk", doc, hf) * torch.exp2(gc)
        dk = torch.einsum("bnihv,bnhkv->bnihk", vc, dhf) * torch.exp2(last - gc)
        dg = qc * dq - kc * dk
        dg[:, :, -1] += (dk * kc).sum(2) + (h * dh).float().sum(-1) * torch.exp2(last[:, :, 0])
        return whole(dq, dk, dw, dg)

    return Case(lambda: kernel(q, k, v, g, h, dv, do, dh), expected, tolerance=2e-2)


case("kda_chunk_bwd_dqkwg", "kda")(lambda: dqkwg("float32"))
case("kda_chunk_bwd_dqkwg_bf16", "kda")(lambda: dqkwg("bfloat16"))


@case("kda_wy_fast_bwd", "kda")
def _():
    m = example("kda/wy_fast_bwd")
    k, v, beta, g, a = keys(), keys(), randn(BATCH, LENGTH, HEADS), small_gates(), randn(BATCH, LENGTH, HEADS, SIZE, scale=0.2)
    dw, du, dk, dg = keys(), keys(), keys(), keys(F32)
    kernel = m.tilelang_wy_fast_bwd(
        BATCH, LENGTH, HEADS, DIM, DIM, *TYPES, "float32", SIZE, block_DK=64, block_DV=64, threads=128, num_stages=0
    )

    def expected():
        kc, vc, bc, gc, ac, dwc, duc, dkc, dgc = chunks(k, v, beta, g, a, dw, du, dk, dg)
        e, bc1, ah = torch.exp2(gc), bc[..., None], ac.transpose(2, 3)
        kbg = rounded(kc * bc1 * e)
        da = torch.einsum("bnihk,bnjhk->bnhij", dwc, kbg) + torch.einsum("bnihk,bnjhk->bnhij", duc, rounded(vc * bc1))
        dkb, dvb = (torch.einsum("bnhij,bnihk->bnjhk", ah, x) for x in (dwc, duc))
        x = rounded(torch.where(lower(-1), da, 0.0))
        x = ah.transpose(-1, -2) @ rounded(x @ ah.transpose(-1, -2))
        x = torch.where(lower(-1), -x, 0.0).transpose(2, 3)
        return whole(x, dkb * e * bc1 + dkc, dvb * bc1, (dkb * kc * e).sum(-1) + (dvb * vc).sum(-1), dkb * kbg + dgc)

    return Case(lambda: kernel(k, v, beta, g, a, dw, du, dk, dg), expected, tolerance=2e-2)
