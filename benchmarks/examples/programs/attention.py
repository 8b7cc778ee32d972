"""Attention over sequences of several lengths in one tensor, both ways."""

import torch
from case import Case, S, case, example, randn

HALF = torch.float16


def offsets(lengths):
    return torch.tensor([0, *lengths], device="cuda").cumsum(0).to(torch.int32)


def leaves(*tensors):
    return [x.detach().requires_grad_() for x in tensors]


def backward(attend, reference, inputs, do):
    """A case of the gradients; `reference` computes in f32."""
    inputs = leaves(*inputs)
    o = attend(*inputs)

    def expected():
        given = leaves(*(x.float() for x in inputs))
        return torch.autograd.grad(reference(*given), given, do.float())

    return Case(lambda: torch.autograd.grad(o, inputs, do, retain_graph=True), expected, tolerance=2e-2)


def block_causal(gradient):
    m = example("block_causal_attention/block_causal_attention_varlen")
    lengths, heads, dim, block = S(([1024, 2048, 4096], 16, 128, 32), ([128, 256], 1, 128, 32))
    begins, total = offsets(lengths), sum(lengths)
    q, k, v, do = (randn(total, heads, dim, dtype=HALF) for _ in range(4))

    def attend(*x):
        return m.block_causal_attention_varlen(*x, begins, block, max_seqlen=max(lengths))

    def reference(*x):
        return m.block_causal_attention_varlen_ref(*x, begins, block)

    if gradient:
        return backward(attend, reference, (q, k, v), do)
    return Case(lambda: attend(q, k, v), lambda: reference(q.float(), k.float(), v.float()))


case("block_causal_varlen_fwd", "attention")(lambda: block_causal(False))
case("block_causal_varlen_bwd", "attention")(lambda: block_causal(True))


def sinks(gradient):
    m = example("attention_sink/example_gqa_sink_bwd_varlen")
    lengths, heads, groups, dim = S(([1024, 1536, 2048], 32, 8, 128), ([128, 256], 2, 2, 128))
    begins, total = offsets(lengths), sum(lengths)  # whole blocks: behind others the program reads what nothing wrote
    q, do = (randn(total, heads, dim, dtype=HALF) for _ in range(2))
    k, v = (randn(total, heads // groups, dim, dtype=HALF) for _ in range(2))
    sink, longest = randn(heads, dtype=HALF), max(lengths)

    def attend(*x):
        return m.attention(*x, begins, begins, longest, longest, longest, None, groups, True)

    def reference(q, k, v, sink):
        return m.ref_program(q, k, v, begins, begins, longest, longest, sink, len(lengths), True, groups=groups)

    if gradient:
        return backward(attend, reference, (q, k, v, sink), do)
    return Case(lambda: attend(q, k, v, sink), lambda: reference(*(x.float() for x in (q, k, v, sink))))


case("gqa_sink_varlen_fwd", "attention")(lambda: sinks(False))
case("gqa_sink_varlen_bwd", "attention")(lambda: sinks(True))


def reduced(atomic):
    m = example("flash_attention/example_gqa_bwd_tma_reduce_varlen")
    batch, heads, groups, length, dim, values = S((4, 32, 16, 1024, 192, 128), (1, 2, 2, 128, 192, 128))
    lengths = torch.tensor([length - 7 * i for i in range(batch)], dtype=torch.int32, device="cuda")
    begins, longest = offsets(lengths.tolist()), length
    q, do = randn(batch, length, heads, dim, dtype=HALF), randn(batch, length, heads, values, dtype=HALF)
    k, v = (randn(batch, length, heads // groups, n, dtype=HALF) for n in (dim, values))
    mask = torch.arange(length, device="cuda") < lengths[:, None]

    def attend(*x):
        return m.attention(*x, lengths, lengths, begins, begins, longest, longest, True, groups, atomic)

    return backward(attend, lambda *x: m.ref_program(*x, mask, True, groups), (q, k, v), do)


case("gqa_bwd_tma_reduce_varlen_atomic", "attention")(lambda: reduced(True))
case("gqa_bwd_tma_reduce_varlen_split", "attention")(lambda: reduced(False))
