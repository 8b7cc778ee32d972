"""Decoding with latent attention: one vector of 512 numbers a key, 64 more for its place."""

import torch
from case import Case, S, case, example, randn

BATCH, HEADS, KEYS = S((64, 128, 4096), (1, 64, 512))
LATENT, PLACE, SCALE = 512, 64, 576**-0.5


def decode(path, splits=None, block=64, scaled=False, parts=False, dtype=torch.float16):
    """scaled: the factor of scores is an argument; parts: the program is given memory for its parts' results."""
    m = example(path)
    half = torch.float16
    q, q_pe = randn(BATCH, HEADS, LATENT, dtype=half), randn(BATCH, HEADS, PLACE, dtype=half)
    kv, k_pe = randn(BATCH, KEYS, 1, LATENT, dtype=dtype), randn(BATCH, KEYS, 1, PLACE, dtype=half)
    numbers = [BATCH, HEADS, 1, KEYS, LATENT, PLACE, block, 64] + [splits] * bool(splits) + [SCALE] * scaled
    kernel = m.flashattn(*numbers)
    memory = [randn(BATCH, HEADS, splits, dtype=half), randn(BATCH, HEADS, splits, LATENT, dtype=half)] if parts else []
    nothing = [None] * len(memory)
    return Case(
        lambda: kernel(q, q_pe, kv, k_pe, *memory), lambda: m.ref_program(*(x.float() for x in (q, q_pe, kv, k_pe)), *nothing)
    )


MLA = "deepseek_mla/example_mla_decode"
case("mla_decode", "latent")(lambda: decode(MLA, 1, scaled=True))
case("mla_decode_split4", "latent")(lambda: decode(MLA, 4, scaled=True))
case("mla_decode_persistent", "latent")(lambda: decode(MLA + "_persistent", 2, parts=True))
case("mla_decode_ws", "latent")(lambda: decode(MLA + "_ws", 1, scaled=True, parts=True))
case("mla_decode_ws_split4", "latent")(lambda: decode(MLA + "_ws", 4, scaled=True, parts=True))
case("mla_decode_fp8", "latent")(lambda: decode("deepseek_mla/experimental/example_mla_decode_kv_fp8", dtype=torch.float8_e4m3fn))
case("flashmla_ws", "latent")(lambda: decode("warp_specialize/example_warp_specialize_flashmla", 1, parts=True))


def paged(splits):
    m = example(MLA + "_paged")
    page, half, batch, heads, width = 64, torch.float16, BATCH, HEADS, LATENT + PLACE
    lengths = torch.tensor([KEYS + 2 * i for i in range(batch)], dtype=torch.int32, device="cuda")
    padded = -(-int(lengths.max()) // 256) * 256
    q, kv = randn(batch, 1, heads, width, dtype=half), randn(batch * padded // page, page, 1, width, dtype=half)
    table = torch.arange(batch * padded // page, dtype=torch.int32, device="cuda").view(batch, -1)
    kernel = m.mla_decode_tilelang(batch, heads, 1, padded, LATENT, PLACE, 64, 64, splits, page, SCALE)
    cut = [x.contiguous() for t in (q.view(-1, heads, width), kv.view(-1, 1, width)) for x in t.split((LATENT, PLACE), -1)]
    memory = [randn(batch, heads, splits, dtype=half), randn(batch, heads, splits, LATENT, dtype=half)]
    return Case(
        lambda: kernel(*cut, table, lengths, *memory),
        lambda: m.run_torch_mla(q, table, kv, padded, page, batch, 1, lengths, heads, 1, width, LATENT, True, torch.float32),
    )


case("mla_decode_paged", "latent")(lambda: paged(1))
case("mla_decode_paged_split4", "latent")(lambda: paged(4))
