"""Attention of one query a sequence to many keys: grouped heads beside cuDNN, latent keys, and the rivals on the same sources."""

from pathlib import Path

import torch
from gpu_rounds import Contest
from loaded_programs import as_triton, ours, rivals
from torch.nn.attention import SDPBackend, sdpa_kernel

TILEON, TILELANG = (Path(__file__).resolve().parent / f"{language}_decode.py" for language in ("tileon", "tilelang"))
BATCH, KEYS = 64, 8192


def checker(out, sequence, exact):
    """A function that raises unless the results of the sequence are within what 16-bit weights allow; it spoils the results."""

    def check():
        worst = float((out[sequence].float() - exact).abs().amax())
        out.fill_(float("nan"))
        if not worst <= 2.0**-9:  # keys are many: results are small
            raise ValueError(f"the result is off by {worst}")

    return check


def parts_of(out, splits):
    return torch.empty(*out.shape[:2], splits, out.shape[2], device="cuda"), torch.empty(*out.shape[:2], splits, device="cuda")


def grouped(heads, groups, d):
    q = torch.randn(BATCH, heads, d, device="cuda").half()
    k, v = (torch.randn(BATCH, KEYS, groups, d, device="cuda", dtype=torch.float16) for _ in range(2))
    out = torch.empty_like(q)
    scores = torch.einsum("ghd,ngd->ghn", q[5].view(groups, -1, d).float(), k[5].float()) * d**-0.5
    check = checker(out, 5, torch.einsum("ghn,ngd->ghd", scores.softmax(-1), v[5].float()).reshape(heads, d))
    lengths = torch.full((BATCH,), KEYS, dtype=torch.int32, device="cuda")
    contest = Contest()
    apart = [q[:, :, None]] + [x.transpose(1, 2).contiguous() for x in (k, v)]

    def library():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(*apart, enable_gqa=True)

    def tileon(module, splits, block_n, page):
        table = torch.arange(BATCH * KEYS // max(page, 1), dtype=torch.int32, device="cuda")
        parts, logs = parts_of(out, splits)

        def call():
            module.grouped[(BATCH, groups, splits)](
                q, k, v, parts, logs, lengths, table, d**-0.5, KEYS, HEADS=heads, KV_HEADS=groups, SPLITS=splits,
                PAGE=page, BLOCK_H=16, BLOCK_N=block_n, D=d, VARIES=False, num_warps=4,
            )  # fmt: skip
            module.combine[(BATCH * heads,)](parts, logs, out, SPLITS=splits, D=d)

        return call

    def tilelang(module, splits):
        kernel, (parts, logs) = module.grouped_split(BATCH, heads, groups, KEYS, d, 128, 64, splits), parts_of(out, splits)
        merge = ours(TILEON).combine

        def call():
            kernel(q, k, v, logs, parts)
            merge[(BATCH * heads,)](parts, logs, out, SPLITS=splits, D=d)

        return call

    contest.enter("cuDNN", lambda: library)
    for splits in (1, 2, 4):
        for name, load in (("ours", ours), ("Triton", as_triton)):
            for page in (0, 64, 1):
                kind = f"{name}{', pages' if page else ''}{' of one' if page == 1 else ''}, {splits} parts"
                contest.enter(kind, lambda load=load, splits=splits, page=page: tileon(load(TILEON), splits, 64, page), check)
        for name, load in (("our TileLang", ours), ("TileLang", rivals)):
            contest.enter(f"{name}, {splits} parts", lambda load=load, splits=splits: tilelang(load(TILELANG), splits), check)
    contest.run()
    amount = 2 * k.numel() * k.element_size() / 1e9
    work = f"decode {BATCH} x {heads} heads over {groups}, {KEYS} keys, d={d}"
    yield from contest.result(work, "ours, ", "cuDNN", amount, "GB/s", 0.95)
    yield from contest.result(work, "ours, ", "Triton, ", amount, "GB/s", 1.0)
    yield from contest.result(f"{work}, pages", "ours, pages", "Triton, pages", amount, "GB/s", 1.0)
    yield from contest.result(f"{work}, TileLang", "our TileLang", "cuDNN", amount, "GB/s", 0.95)
    yield from contest.result(f"{work}, TileLang", "our TileLang", "TileLang", amount, "GB/s", 1.0)


def latent(heads, d, rope):
    q, q_rope = (torch.randn(BATCH, heads, width, device="cuda").half() for width in (d, rope))
    kv, k_rope = (torch.randn(BATCH * KEYS, width, device="cuda", dtype=torch.float16) for width in (d, rope))
    out = torch.empty_like(q)
    rows = slice(5 * KEYS, 6 * KEYS)
    scores = (q[5].float() @ kv[rows].float().T + q_rope[5].float() @ k_rope[rows].float().T) * (d + rope) ** -0.5
    check = checker(out, 5, scores.softmax(-1) @ kv[rows].float())
    contest = Contest()
    for page in (0, 64):
        table = torch.arange(BATCH * KEYS // (page or KEYS), dtype=torch.int32, device="cuda").view(BATCH, -1)
        for name, load in (("ours", ours), ("TileLang", rivals)):

            def prepare(load=load, page=page, table=table):
                kernel = load(TILELANG).latent_heads(BATCH, heads, KEYS, d, rope, 64, 64, page)
                return lambda: kernel(q, q_rope, kv, k_rope, table, out)

            contest.enter(f"{name}{', pages' if page else ', rows in order'}", prepare, check)
    lengths = torch.full((BATCH,), KEYS, dtype=torch.int32, device="cuda")
    table = torch.arange(BATCH * KEYS, dtype=torch.int32, device="cuda")
    joined = torch.cat([q, q_rope], -1), torch.cat([kv, k_rope], -1)
    parts, logs = parts_of(out, 1)
    for name, load in (("our Tileon", ours), ("Triton", as_triton)):

        def prepare(load=load):
            module = load(TILEON)

            def call():
                module.latent[(BATCH, heads // 64, 1)](
                    *joined, parts, logs, table, lengths, (d + rope) ** -0.5, KEYS,
                    HEADS=heads, SPLITS=1, BLOCK_H=64, BLOCK_N=32, D=d, DR=rope, num_warps=8, num_stages=1,
                )  # fmt: skip
                module.combine[(BATCH * heads,)](parts, logs, out, SPLITS=1, D=d)

            return call

        contest.enter(f"{name}, a table of keys", prepare, check)
    contest.run()
    amount = 2 * BATCH * heads * KEYS * (2 * d + rope) / 1e12
    work = f"latent decode {BATCH} x {heads} heads, {KEYS} keys"
    for kind in ("rows in order", "pages"):
        yield from contest.result(f"{work}, {kind}", f"ours, {kind}", f"TileLang, {kind}", amount, "TFLOP/s", 1.0)
    yield from contest.result(f"{work}, a table", "our Tileon", "Triton", amount, "TFLOP/s", 1.0)


WORKLOADS = {
    "decode, 32 heads over 8": {"decode-grouped": lambda: grouped(32, 8, 128)},
    "latent decode, 128 heads": {"decode-latent": lambda: latent(128, 512, 64)},
}
