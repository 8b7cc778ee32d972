"""Mixtures of experts, and what else stands alone: transforms, products of packed weights, a convolution."""

import torch
from case import Case, S, case, example, randn

HALF = torch.float16
TOKENS, HIDDEN, EXPERT, EXPERTS = S((16384, 4096, 2048, 8), (300, 256, 128, 3))


def experts_of(x, gate, up, down):
    x = x.float()
    inner = torch.nn.functional.silu(x @ gate.float().T) * (x @ up.float().T)
    return inner.to(HALF).float() @ down.float().T


def weights(*count):
    shapes = (EXPERT, HIDDEN), (EXPERT, HIDDEN), (HIDDEN, EXPERT)
    return [randn(*count, *shape, dtype=HALF, scale=shape[1] ** -0.5) for shape in shapes]


@case("fusedmoe_shared", "experts")
def _():
    m = example("fusedmoe/example_fusedmoe_tilelang")
    tokens = S(8192, 256)
    x, given = randn(tokens, HIDDEN, dtype=HALF), weights()
    inner, out = torch.zeros(tokens, EXPERT, dtype=HALF, device="cuda"), torch.zeros_like(x)
    kernel = m.moe_forward_tilelang_shared.compile(dhidden=HIDDEN, dexpert=EXPERT, num_tokens=tokens, dtype="float16")

    def call():
        kernel(x, *given, inner, out)
        return out

    return Case(call, lambda: experts_of(x, *given))


@case("fusedmoe_routed", "experts")
def _():
    m = example("fusedmoe/example_fusedmoe_tilelang")
    counts = torch.full((EXPERTS,), TOKENS // EXPERTS, dtype=torch.int32)
    counts[0] -= 37
    counts[-1] = TOKENS - int(counts[:-1].sum())
    begins = counts.cumsum(0) - counts
    rounded = (counts + 1 + 127) // 128 * 128  # as the example pads
    padded = rounded.cumsum(0) - rounded
    blocks = -(-TOKENS // 128) + EXPERTS
    owner = (torch.arange(blocks)[:, None] * 128 >= padded).sum(1) - 1
    groups = [t.to("cuda", torch.int32) for t in (counts, begins, padded, owner)]
    x, scale, given = randn(TOKENS, HIDDEN, dtype=HALF), torch.rand(TOKENS, device="cuda").to(HALF), weights(EXPERTS)
    inner, out = torch.zeros(TOKENS, EXPERT, dtype=HALF, device="cuda"), torch.zeros_like(x)
    kernel = m.moe_forward_tilelang_routed.compile(
        dhidden=HIDDEN, dexpert=EXPERT, n_routed_experts=EXPERTS, dtype="float16", group_sum=TOKENS, group_count=EXPERTS
    )

    def call():
        kernel(x, *given, scale, *groups, inner, out)
        return out

    def expected():
        cuts = zip(begins.tolist(), (begins + counts).tolist())
        parts = [experts_of(x[a:b], *(w[i] for w in given)) for i, (a, b) in enumerate(cuts)]
        return torch.cat(parts) * scale.float()[:, None]

    return Case(call, expected)


@case("hadamard_4096", "experts")
def _():
    m = example("hadamard_transform/example_hadamard")
    rows, columns = S((16384, 4096), (4, 4096))
    x = torch.randn(rows, columns, device="cuda")

    def expected():
        y = x.view(rows, *[2] * (columns.bit_length() - 1))
        for axis in range(1, y.dim()):
            a, b = y.unbind(axis)
            y = torch.stack([a + b, a - b], axis)
        return y.reshape(rows, columns)

    return Case(lambda: m.hadamard(x, columns, "float32"), expected)


def bitnet(kind, rows):
    m = example(f"bitnet-1.58b/kernel_benchmark/tilelang_bitnet_158_int8xint2_{kind}")
    import numpy
    import tilelang

    size = S(8192, 256)
    kernel = tilelang.compile(getattr(m, f"bitnet_158_int8xint2_{kind}")(rows, size, size, "int8", "int32", "int32"))
    a = torch.randint(0, 4, (rows, size), device="cuda", dtype=torch.int8)
    b = torch.randint(0, 2, (size, size), device="cuda", dtype=torch.int8)
    packed = m.general_compress(b.cpu().numpy(), source_bits=2, storage_dtype=numpy.int8)
    packed = torch.from_numpy(m.interleave_weight(packed, 2, target_dtype="int8")).to("cuda")
    c = torch.zeros(rows, size, device="cuda", dtype=torch.int32)

    def call():
        kernel(a, packed, c)
        return c

    return Case(call, lambda: a.float() @ b.float().T)


case("bitnet_int8xint2_decode", "experts")(lambda: bitnet("decode", 1))
case("bitnet_int8xint2_prefill", "experts")(lambda: bitnet("prefill", S(2048, 256)))


@case("convolution_autotune", "experts")
def _():
    m = example("convolution/example_convolution_autotune")
    batch, channels, side, filters = S((128, 128, 64, 128), (1, 32, 16, 64))
    x, w = randn(batch, side, side, channels, dtype=HALF), randn(3, 3, channels, filters, dtype=HALF)
    blocks = dict(block_M=128, block_N=256, block_K=64, num_stages=3, thread_num=256, enable_rasteration=True)
    kernel = m.convolution.compile(N=batch, C=channels, H=side, W=side, F=filters, K=3, S=1, D=1, P=1, **blocks)
    return Case(lambda: kernel(x, w), lambda: m.ref_program(1, 1, 1)(x.float(), w.float()))
