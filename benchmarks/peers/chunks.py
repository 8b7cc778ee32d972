"""Loops over chunks beside Triton on the same source: masked blocks, states of linear attention and of the delta rule."""

from pathlib import Path

import torch
from gpu_rounds import Contest
from loaded_programs import as_triton, ours

SOURCE = Path(__file__).resolve().parent / "tileon_chunks.py"
HEADS, N, CHUNK, WIDE = 64, 8192, 64, 128


def checker(results, exact):
    """Raises unless the results are within what factors of 16 bits allow; spoils them."""

    def check():
        worst = float((results.float() - exact).abs().amax() / exact.abs().amax())
        results.fill_(float("nan"))
        if not worst <= 2.0**-6:
            raise ValueError(f"the result is off by {worst} of the largest")

    return check


def race(contest, launch, check, configurations):
    """launch(module, **configuration) for us and Triton."""
    for who, load in (("ours", ours), ("Triton", as_triton)):
        for configuration in configurations:
            text = ", ".join(f"{value} {key}" for key, value in configuration.items())

            def prepare(load=load, configuration=configuration):
                module = load(SOURCE)
                return lambda: launch(module, **configuration)

            contest.enter(f"{who}, {text}", prepare, check)
    contest.run()


def masked(d, taken, n=4096, block=(128, 64)):
    """`taken`: how many blocks of keys of each row of blocks, in hundredths."""
    q, k, v = (torch.randn(HEADS, n, d, device="cuda").bfloat16() for _ in range(3))
    out, rows, blocks = torch.empty_like(q), n // block[0], n // block[1]
    count = max(blocks * taken // 100, 1)
    mask = torch.zeros(rows, blocks, dtype=torch.int32, device="cuda")
    mask.scatter_(1, torch.rand(rows, blocks, device="cuda").argsort(1)[:, :count], 1)
    seen = mask.bool().repeat_interleave(block[0], 0).repeat_interleave(block[1], 1)
    exact = torch.nn.functional.scaled_dot_product_attention(*(x[:2].float()[None] for x in (q, k, v)), attn_mask=seen)[0]
    whole = checker(out[:2], exact)

    def launch(module, warps, stages):
        module.masked_attention[(rows, HEADS)](
            q, k, v, out, mask, d**-0.5, n, BLOCK_M=block[0], BLOCK_N=block[1], D=d, num_warps=warps, num_stages=stages
        )

    contest = Contest()
    race(contest, launch, whole, [{"warps": 8, "stages": 3}, {"warps": 4, "stages": 3}])
    amount = 4 * HEADS * rows * block[0] * count * block[1] * d / 1e12
    yield from contest.result(f"attention d={d}, {taken} % of blocks", "ours", "Triton", amount, "TFLOP/s", 1.0)


def draw(*shape):
    return (torch.randn(*shape, device="cuda") / 8).bfloat16()


def chunk_states(delta):
    k, v, w = (draw(N, HEADS, WIDE) for _ in range(3))
    w /= 4  # states stay small
    g = -torch.rand(N, HEADS, device="cuda").cumsum(0) / 64
    g = g - g[::CHUNK].repeat_interleave(CHUNK, 0)  # of each chunk
    h, new = torch.empty(N // CHUNK, HEADS, WIDE, WIDE, device="cuda", dtype=torch.bfloat16), torch.empty_like(v)
    state, few = torch.zeros(HEADS, WIDE, WIDE, device="cuda"), 4
    for rows in (slice(at * CHUNK, (at + 1) * CHUNK) for at in range(few)):
        gate, added = g[rows], v[rows].float()
        if delta:
            added = added - torch.einsum("thk,hkv->thv", w[rows].float(), state)
        state = state * torch.exp(gate[-1])[:, None, None]
        state = state + torch.einsum("thk,thv->hkv", k[rows].float(), added * torch.exp(gate[-1] - gate)[..., None])
    check = checker(h[few], state)

    def launch(module, warps, stages, columns, rows=64):
        options = {"H": HEADS, "K": WIDE, "V": WIDE, "BT": CHUNK, "BV": columns, "num_warps": warps, "num_stages": stages}
        if delta:
            module.delta_states[(WIDE // columns, HEADS)](k, v, w, new, g, h, N, **options)
        else:
            module.states[(WIDE // rows, WIDE // columns, HEADS)](k, v, g, h, N, BK=rows, **options)

    configurations = [{"warps": 4, "stages": 3, "columns": columns} for columns in (32, 64)]
    configurations += [{"warps": 4, "stages": 2, "columns": 64}]
    if not delta:
        configurations += [{"warps": 8, "stages": 3, "columns": columns, "rows": 128} for columns in (64, 128)]
    contest = Contest()
    race(contest, launch, check, configurations)
    moved = k.numel() + v.numel() + h.numel() + (2 * v.numel() if delta else 0)
    work = f"states of {'the delta rule' if delta else 'linear attention'}, {HEADS} heads of {N}"
    yield from contest.result(work, "ours", "Triton", 2 * moved / 1e9, "GB/s", 1.0)


WORKLOADS = {
    "attention over blocks that a mask takes": {
        f"chunks-masked-{d}-{taken}": lambda d=d, taken=taken: masked(d, taken) for d in (128, 64) for taken in (100, 25)
    },
    "states of linear attention": {"chunks-states": lambda: chunk_states(False)},
    "states of the delta rule": {"chunks-delta": lambda: chunk_states(True)},
}
