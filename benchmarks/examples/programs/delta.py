"""Gated delta net, chunk by chunk: one gate for all of a key."""

import torch
import torch.nn.functional as F
from case import Case, S, case, example, randn

BATCH, LENGTH, HEADS, DIM, SIZE = S((1, 32768, 8, 128, 64), (1, 128, 2, 128, 64))
CHUNKS, SCALE = LENGTH // SIZE, DIM**-0.5
F32 = torch.float32
TYPES = "bfloat16", "bfloat16", "float32", "float32"


def chunks(*tensors):
    """Each [batch, length, ...] as f32 [batch, chunks, size, ...]."""
    return [x.float().reshape(x.shape[0], -1, SIZE, *x.shape[2:]) for x in tensors]


def whole(*tensors):
    return [x.reshape(x.shape[0], -1, *x.shape[3:]) for x in tensors]


def keys(scale=1.0, dtype=torch.bfloat16):
    return randn(BATCH, LENGTH, HEADS, DIM, scale=scale, dtype=dtype)


def unit():
    return F.normalize(keys().float(), dim=-1).bfloat16()


def gates(*shape):
    """Logarithms of gates, summed within chunks."""
    g = F.logsigmoid(torch.randn(BATCH, CHUNKS, SIZE, HEADS, *shape, device="cuda")).cumsum(2)
    return g.reshape(BATCH, LENGTH, HEADS, *shape)


def rounded(x, dtype=torch.bfloat16):
    return x.to(dtype).float()


def lower(diagonal=0):
    return torch.ones(SIZE, SIZE, device="cuda", dtype=torch.bool).tril(diagonal)


def between(g):
    """[b, n, h, i, j]: the gate from j to i, 0 where it would grow."""
    g = g.transpose(2, 3)
    gap = g[..., :, None] - g[..., None, :]
    return torch.where(gap <= 0, gap.exp(), 0.0)


def recurrence(k, w, u, h0, gate, decayed):
    """(states before each chunk, the last, new values): gate(i) scales the state, decayed(x, i) the values put into it."""
    k, w, u = chunks(k, w, u)
    state, states, values = h0.float(), [], []
    for i in range(k.shape[1]):
        stored = rounded(state, h0.dtype)
        states.append(stored)
        new = u[:, i] - torch.einsum("bchk,bhkv->bchv", w[:, i], stored)
        values.append(new)
        added = torch.einsum("bchk,bchv->bhkv", k[:, i], rounded(decayed(new, i), h0.dtype))
        state = state * gate(i) + added
    return torch.stack(states, 1), state, torch.cat(values, 1)


def h_shape():
    return BATCH, HEADS, DIM, DIM


@case("gdn_cumsum", "delta")
def _():
    m = example("gdn/example_cumsum")
    heads = S(32, 4)
    g = torch.randn(BATCH, LENGTH, heads, device="cuda")
    kernel = m.tilelang_chunk_local_cumsum_scalar(
        BATCH, LENGTH, heads, chunk_size=SIZE, reverse=True, input_dtype="float32", output_dtype="float32", threads=256
    )
    return Case(lambda: kernel(g), lambda: whole(chunks(g)[0].flip(2).cumsum(2).flip(2)))


@case("gdn_chunk_scaled_dot_kkt", "delta")
def _():
    m = example("gdn/example_chunk_scaled_dot_kkt")
    k, beta, g = keys(), randn(BATCH, LENGTH, HEADS), gates()
    kernel = m.tilelang_chunk_scaled_dot_kkt_fwd(
        BATCH, LENGTH, HEADS, DIM, SIZE, "bfloat16", "bfloat16", "float32", True, SIZE, 64, 128, 2
    )

    def expected():
        kc, bc, gc = chunks(k, beta, g)
        a = torch.einsum("bnihk,bnjhk->bnhij", rounded(kc * bc[..., None]), kc) * between(gc)
        return whole(torch.where(lower(-1), a, 0.0).transpose(2, 3))

    return Case(lambda: kernel(k, beta, g), expected)


@case("gdn_wy_fast", "delta")
def _():
    m = example("gdn/example_wy_fast")
    k, v, beta, g, a = keys(), keys(), randn(BATCH, LENGTH, HEADS), gates(), randn(BATCH, LENGTH, HEADS, SIZE)
    kernel = m.tilelang_recompute_w_u_fwd(
        BATCH, LENGTH, HEADS, DIM, DIM, *TYPES, SIZE, block_S=SIZE, block_DK=64, block_DV=32, threads=128, num_stages=3
    )

    def expected():
        kc, vc, bc, gc, ac = chunks(k, v, beta, g, a)
        parts = kc * (bc * gc.exp())[..., None], vc * bc[..., None]
        return whole(*(torch.einsum("bnihj,bnjhk->bnihk", ac, rounded(x)) for x in parts))

    return Case(lambda: kernel(k, v, beta, g, a), expected)


@case("gdn_chunk_delta_h", "delta")
def _():
    m = example("gdn/example_chunk_delta_h")
    k, w, u, g, h0 = unit(), unit(), unit(), gates(), randn(*h_shape())
    kernel = m.tilelang_chunk_gated_delta_rule_fwd_h(
        BATCH,
        LENGTH,
        HEADS,
        DIM,
        DIM,
        *TYPES,
        "float32",
        SIZE,
        True,
        True,
        True,
        True,
        block_DK=64,
        block_DV=32,
        threads=128,
        num_stages=2,
    )

    def expected():
        (gc,) = chunks(g)
        last = gc[:, :, -1]
        h, end, new = recurrence(
            k,
            w,
            u,
            h0,
            lambda i: last[:, i, :, None, None].exp(),
            lambda x, i: x * (last[:, i, None] - gc[:, i]).exp()[..., None],
        )
        return h, end, new

    return Case(lambda: kernel(k, w, u, g, h0), expected)


@case("gdn_chunk_o", "delta")
def _():
    m = example("gdn/example_chunk_o")
    q, k, v, g, h = keys(), keys(), keys(), gates(), randn(BATCH, CHUNKS, HEADS, DIM, DIM)
    kernel = m.tilelang_chunk_fwd_o(BATCH, LENGTH, HEADS, DIM, DIM, *TYPES, SIZE, SCALE, True, SIZE, 128, 128, 128, 1)

    def expected():
        qc, kc, vc, gc = chunks(q, k, v, g)
        a = torch.einsum("bnihk,bnjhk->bnhij", qc, kc) * between(gc)
        o = torch.einsum("bnihk,bnhkv->bnihv", qc, h.float()) * gc.exp()[..., None]
        return whole((o + torch.einsum("bnhij,bnjhv->bnihv", rounded(torch.where(lower(), a, 0.0)), vc)) * SCALE)

    return Case(lambda: kernel(q, k, v, h, g), expected)


@case("gdn_chunk_delta_bwd", "delta")
def _():
    m = example("gdn/example_chunk_delta_bwd")
    q, k, w, g = keys(), unit(), keys(0.05), gates()
    h0, dht, do, dv = randn(*h_shape()), randn(*h_shape()), keys(), keys()
    kernel = m.tilelang_chunk_gated_delta_rule_bwd_dhu(
        BATCH, LENGTH, HEADS, DIM, DIM, *TYPES, "float32", SIZE, SCALE, True, True, True, 64, 128, 1
    )

    def expected():
        qc, kc, wc, gc, doc, dvc = chunks(q, k, w, g, do, dv)
        state, dh, dv2 = dht.float(), [None] * CHUNKS, [None] * CHUNKS
        for i in reversed(range(CHUNKS)):
            dh[i], last = state, gc[:, i, -1]
            d = (
                torch.einsum("bchk,bhkv->bchv", kc[:, i], rounded(state)) * (last[:, None] - gc[:, i]).exp()[..., None]
                + dvc[:, i]
            )
            dv2[i] = d
            state = state * last.exp()[..., None, None]
            state = state + torch.einsum("bchk,bchv->bhkv", qc[:, i] * gc[:, i].exp()[..., None] * SCALE, doc[:, i])
            state = state - torch.einsum("bchk,bchv->bhkv", wc[:, i], rounded(d))
        return torch.stack(dh, 1), state, torch.cat(dv2, 1)

    return Case(lambda: kernel(q, k, w, g, h0, dht, do, dv), expected, tolerance=2e-2)


@case("gdn_chunk_o_bwd", "delta")
def _():
    m = example("gdn/example_chunk_o_bwd")
    q, k, v, do, dv, w, g = keys(), keys(), keys(), keys(), keys(), keys(), gates()
    h, dh = (randn(BATCH, CHUNKS, HEADS, DIM, DIM) for _ in range(2))
    kernel = m.tilelang_chunk_o_bwd_dqkwg(
        BATCH, LENGTH, HEADS, DIM, DIM, *TYPES, "float32", SIZE, SCALE, True, True, 64, 64, 128, 0
    )

    def expected():
        qc, kc, vc, doc, dvc, gc = chunks(q, k, v, do, dv, g)
        hf, dhf, last = h.float(), dh.float(), gc[:, :, -1]
        dw = -torch.einsum("bnihv,bnhkv->bnihk", dvc, hf)
        dq = torch.einsum("bnihv,bnhkv->bnihk", doc, hf) * gc.exp()[..., None] * SCALE
        dk = torch.einsum("bnihv,bnhkv->bnihk", vc, dhf)
        dk = torch.where((-gc)[..., None] <= 0, dk * (-gc).exp()[..., None], 0.0)  # the program's last gate stays 0 here
        ds = torch.einsum("bnihv,bnjhv->bnhij", doc, vc) * between(gc) * SCALE
        dg = []
        for begin in range(0, DIM, 64):
            part = slice(begin, begin + 64)
            of_q, of_k = dq[..., part] * qc[..., part], dk[..., part] * kc[..., part]
            both = torch.einsum("bnihk,bnjhk->bnhij", qc[..., part], kc[..., part]) * ds
            rows = of_q.sum(-1) - of_k.sum(-1) + both.sum(-1).transpose(2, 3) - both.sum(-2).transpose(2, 3)
            rows = rows + (last * last.exp())[:, :, None] + of_k.sum((2, 4))[:, :, None]
            dg.append(rows.reshape(BATCH, LENGTH, HEADS))
        dq = dq + torch.einsum("bnhij,bnjhk->bnihk", rounded(ds), kc)
        dk = dk + torch.einsum("bnhij,bnihk->bnjhk", rounded(ds), qc)
        return *whole(dq, dk, dw), torch.stack(dg)

    return Case(lambda: kernel(q, k, v, h, g, do, dh, dv, w), expected, tolerance=2e-2)


def wy_inputs():
    k, v, beta, g, a = unit(), unit(), randn(BATCH, LENGTH, HEADS), gates(), randn(BATCH, LENGTH, HEADS, SIZE, scale=0.2)
    return k, v, beta, g, a, keys(), keys()


WY = BATCH, LENGTH, HEADS, DIM, DIM, *TYPES, "float32", SIZE, 32, 32, 128, 0


@case("gdn_wy_fast_bwd", "delta")
def _():
    m = example("gdn/example_wy_fast_bwd_split")
    given = wy_inputs()
    kernel = m.tilelang_wy_fast_bwd(*WY)

    def expected():
        kc, vc, bc, gc, ac, dwc, duc = chunks(*given)
        e = (bc * gc.exp())[..., None]
        da = torch.einsum("bnihk,bnjhk->bnihj", dwc, rounded(kc * e)) + torch.einsum(
            "bnihk,bnjhk->bnihj", duc, rounded(vc * bc[..., None])
        )
        dk, dv = (torch.einsum("bnihj,bnihk->bnjhk", ac, x) for x in (dwc, duc))
        of_k = dk * kc * gc.exp()[..., None]
        dbeta = of_k.sum(-1) + (dv * vc).sum(-1)
        return whole(da, dk * e, dv * bc[..., None], dbeta, (of_k * bc[..., None]).sum(-1))

    return Case(lambda: kernel(*given), expected, tolerance=2e-2)


@case("gdn_wy_fast_bwd_split", "delta")
def _():
    m = example("gdn/example_wy_fast_bwd_split")
    given = k, v, beta, g, a, dw, du = wy_inputs()
    da, dk, dv = randn(BATCH, LENGTH, HEADS, SIZE), keys(), keys()
    before = dk.clone()
    dbeta, positive, negative = torch.zeros_like(beta), *(torch.zeros(*da.shape, device="cuda") for _ in range(2))
    kernel = m.tilelang_wy_fast_bwd_split(*WY)

    def call():
        kernel(*given, da, dk, dv, dbeta, positive, negative)
        return dk, dbeta, positive, negative

    def expected():
        kc, bc, gc, ac, dac = chunks(k, beta, g, a, da)
        ah = ac.transpose(2, 3)  # b n h i j
        x = rounded(torch.where(lower(-1), dac.transpose(2, 3), 0.0))
        x = rounded(x @ ah.transpose(-1, -2))
        x = torch.where(lower(-1), -(ah.transpose(-1, -2) @ x), 0.0) * between(gc)
        xr, kb = rounded(x), rounded(kc * bc[..., None])
        of_row = torch.einsum("bnhij,bnjhk->bnihk", xr, kc)
        dk2 = chunks(before)[0] + torch.einsum("bnhij,bnihk->bnjhk", xr, kb) + of_row * bc[..., None]
        both = (x * torch.einsum("bnihk,bnjhk->bnhij", kb, kc)).transpose(2, 3)
        return whole(dk2, (of_row * kc).sum(-1), both, both.transpose(2, 4))

    return Case(call, expected, tolerance=2e-2)
