"""Kernels with the host code that libraries write around them, forward and backward, against torch in float64."""

import math

import pytest
import torch
import torch.nn.functional as F
from language.bounds import FUNCTION, UNITS, within
from language.tileon.libraries import activations, embeddings, losses, norms, optimizers, sequences, serving

EPS = 2.0**-23


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def agree(got, exact, terms):
    """Within so many roundings of float32 of the largest element."""
    exact = exact.detach().double()
    assert got.shape == exact.shape
    error = (got.detach().double() - exact).abs().max().item()
    scale = exact.abs().max().item()
    assert error <= terms * EPS * max(scale, 1e-3), f"{error / EPS / max(scale, 1e-3):.0f} roundings off, {terms} are allowed"


def check(function, reference, *inputs, terms=64):
    """Results and gradients of all inputs that are floats, for one random gradient of the result."""
    mine = [x.detach().clone().requires_grad_() if x.is_floating_point() else x for x in inputs]
    exact = [x.detach().double().requires_grad_() if x.is_floating_point() else x for x in inputs]
    got, wanted = function(*mine), reference(*exact)
    several = isinstance(got, tuple)
    pairs = list(zip(got, wanted)) if several else [(got, wanted)]
    grads = [torch.randn(g.shape) for g, _ in pairs]
    torch.autograd.backward([g for g, _ in pairs], grads)
    torch.autograd.backward([w for _, w in pairs], [g.double() for g in grads])
    for g, w in pairs:
        agree(g, w, terms)
    for x, y in zip(mine, exact):
        if x.is_floating_point():
            agree(x.grad, y.grad, terms)


@pytest.mark.parametrize("rows, columns", [(4, 64), (33, 100), (7, 1030)])
def test_rms_norm(device, rows, columns):
    def reference(x, w):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * (w + 1)

    check(lambda x, w: norms.RMSNorm.apply(x, w, 1e-6, 1.0), reference, torch.randn(rows, columns), torch.randn(columns))


@pytest.mark.parametrize("rows, columns", [(4, 64), (33, 100)])
def test_layer_norm(device, rows, columns):
    check(
        lambda x, w, b: norms.LayerNorm.apply(x, w, b, 1e-5),
        lambda x, w, b: F.layer_norm(x, (columns,), w, b, 1e-5),
        torch.randn(rows, columns),
        torch.randn(columns),
        torch.randn(columns),
    )


@pytest.mark.parametrize("shape, groups", [((2, 8, 10, 10), 4), ((3, 6, 300), 2)])
def test_group_norm(device, shape, groups):
    check(
        lambda x, w, b: norms.GroupNorm.apply(x, groups, w, b, 1e-5),
        lambda x, w, b: F.group_norm(x, groups, w, b, 1e-5),
        torch.randn(shape),
        torch.randn(shape[1]),
        torch.randn(shape[1]),
    )


@pytest.mark.parametrize("kind", ["silu", "gelu"])
def test_gated_activations(device, kind):
    def reference(a, b):
        return (F.silu(a) if kind == "silu" else F.gelu(a, approximate="tanh")) * b

    check(lambda a, b: activations.Gated.apply(a, b, kind), reference, torch.randn(5, 100), torch.randn(5, 100))


def test_dropout(device):
    x = torch.randn(5000, requires_grad=True)
    y = activations.Dropout.apply(x, 0.25, 11)
    kept = y != 0
    assert abs(kept.float().mean().item() - 0.75) < 5 * math.sqrt(0.25 * 0.75 / 5000)
    exact = torch.where(kept, x.double() / 0.75, 0.0)
    within(y, (exact, FUNCTION * UNITS[torch.float32] * exact.abs()))
    y.backward(torch.ones_like(y))
    assert torch.equal(x.grad != 0, kept)


@pytest.mark.parametrize("vocabulary", [50, 1000])
@pytest.mark.parametrize("smoothing, softcap, reduction", [(0.0, None, "mean"), (0.1, None, "sum"), (0.0, 5.0, "mean")])
def test_cross_entropy(device, vocabulary, smoothing, softcap, reduction):
    target = torch.randint(0, vocabulary, (9,))
    target[3] = -100

    def reference(x):
        x = softcap * torch.tanh(x / softcap) if softcap else x
        return F.cross_entropy(x, target, label_smoothing=smoothing, reduction=reduction)

    check(
        lambda x: losses.CrossEntropy.apply(x, target, -100, 0.0, smoothing, reduction, softcap),
        reference,
        torch.randn(9, vocabulary) * 3,
    )


@pytest.mark.parametrize("biased", [False, True])
def test_cross_entropy_fused_with_its_linear_layer(device, biased):
    target = torch.randint(0, 70, (21,))
    target[5] = -100
    inputs = [torch.randn(21, 32), torch.randn(70, 32)] + [torch.randn(70)] * biased

    def function(x, w, b=None):
        return losses.FusedLinearCrossEntropy.apply(x, w, target, b)

    check(function, lambda x, w, b=None: F.cross_entropy(F.linear(x, w, b), target), *inputs, terms=256)


@pytest.mark.parametrize("logarithms", [False, True])
def test_kl_divergence(device, logarithms):
    truth = torch.randn(6, 300).softmax(-1)
    truth = truth.log() if logarithms else truth
    check(
        lambda x: losses.KLDiv.apply(x, truth, logarithms),
        lambda x: F.kl_div(x, truth.double(), reduction="batchmean", log_target=logarithms),
        torch.randn(6, 300).log_softmax(-1),
    )


@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0])
def test_jensen_shannon_divergence(device, beta):
    y = torch.randn(6, 300).log_softmax(-1)
    labels = torch.tensor([1, 2, -100, 4, 5, 6])

    def reference(x):
        p, q, kept = y.double().exp(), x.exp(), (labels != -100)[:, None]
        if beta in (0.0, 1.0):
            loss = p * (y.double() - x) if beta == 0.0 else q * (x - y.double())
        else:
            m = beta * p + (1 - beta) * q
            loss = beta * p * (y.double() - m.log()) + (1 - beta) * q * (x - m.log())
        return (loss * kept).sum() / kept.sum()

    check(lambda x: losses.JSD.apply(x, y, labels, beta), reference, torch.randn(6, 300).log_softmax(-1), terms=256)


def test_rotary_positions(device):
    angles = torch.outer(torch.arange(7.0), 1e4 ** -(torch.arange(24) / 24.0))
    angles = torch.cat([angles, angles], -1)
    cos, sin = angles.cos(), angles.sin()

    def turn(x):
        half = x.shape[-1] // 2
        return x * cos.double() + torch.cat([-x[..., half:], x[..., :half]], -1) * sin.double()

    check(
        lambda q, k: embeddings.Rope.apply(q, k, cos, sin),
        lambda q, k: (turn(q), turn(k)),
        torch.randn(2, 6, 7, 48),
        torch.randn(2, 2, 7, 48),
        terms=8,
    )


def test_embedding(device):
    indices = torch.randint(0, 20, (3, 17))
    check(
        lambda table: embeddings.Embedding.apply(table, indices), lambda table: F.embedding(indices, table), torch.randn(20, 50)
    )


@pytest.mark.parametrize("activation", ["none", "swish"])
@pytest.mark.parametrize("biased", [False, True])
def test_causal_convolution(device, activation, biased):
    channels, width = 40, 4

    def reference(x, w, b=None):
        y = F.conv1d(F.pad(x.transpose(1, 2), (width - 1, 0)), w[:, None], b, groups=channels).transpose(1, 2)
        return F.silu(y) if activation == "swish" else y

    inputs = [torch.randn(2, 37, channels), torch.randn(channels, width)] + [torch.randn(channels)] * biased
    check(lambda x, w, b=None: sequences.CausalConv.apply(x, w, b, activation), reference, *inputs)


def test_causal_convolution_goes_on_from_a_state(device):
    x, w, b = torch.randn(2, 32, 40), torch.randn(40, 4), torch.randn(40)
    whole = sequences.CausalConv.apply(x, w, b, "silu")
    state = x[:, 12:16].transpose(1, 2).contiguous()
    torch.testing.assert_close(sequences.CausalConv.apply(x[:, 16:].contiguous(), w, b, "silu", state), whole[:, 16:])


@pytest.mark.parametrize("steps", [16, 50])
def test_linear_attention_in_chunks(device, steps):
    def reference(q, k, v):
        return (q @ k.transpose(1, 2)).tril() @ v * 0.25

    check(
        lambda q, k, v: sequences.LinearAttention.apply(q, k, v, 0.25),
        reference,
        *(torch.randn(3, steps, d) for d in (16, 16, 40)),
        terms=256,
    )


def test_delta_rule(device):
    def reference(q, k, v, beta):
        h, outputs = torch.zeros(3, 20, 12, dtype=torch.float64), []
        for t in range(q.shape[1]):
            u = beta[:, t, None] * (v[:, t] - torch.einsum("nkv,nk->nv", h, k[:, t]))
            h = h + k[:, t, :, None] * u[:, None]
            outputs.append(torch.einsum("nkv,nk->nv", h, q[:, t]) * 0.5)
        return torch.stack(outputs, 1)

    keys = F.normalize(torch.randn(3, 19, 20), dim=-1)
    check(
        lambda q, k, v, b: sequences.DeltaRule.apply(q, k, v, b, 0.5),
        reference,
        torch.randn(3, 19, 20),
        keys,
        torch.randn(3, 19, 12),
        torch.rand(3, 19) * 0.9 + 0.1,
        terms=1024,
    )


@pytest.mark.parametrize("window", [0, 9])
def test_paged_attention(device, window):
    sequences_, heads, kv_heads, dims, page = 3, 6, 2, 40, 16
    lengths = torch.tensor([5, 33, 48], dtype=torch.int32)
    tables = torch.randperm(12).reshape(3, 4).to(torch.int32)
    keys, values = (torch.randn(12, page, kv_heads, dims) for _ in range(2))
    query = torch.randn(sequences_, heads, dims)
    got = serving.paged_attention(query, keys, values, tables, lengths, 0.2, window)
    for s in range(sequences_):
        n = int(lengths[s])
        k, v = (c[tables[s].long()].reshape(-1, kv_heads, dims)[:n].double().repeat_interleave(3, 1) for c in (keys, values))
        scores = torch.einsum("hd,nhd->hn", query[s].double(), k) * 0.2
        if window:
            scores[:, : max(n - window, 0)] = float("-inf")
        agree(got[s], torch.einsum("hn,nhd->hd", scores.softmax(-1), v), 256)


def test_experts(device):
    tokens, experts, k, width, hidden = 37, 8, 2, 48, 80
    logits = torch.randn(tokens, experts)
    weights, ids = serving.route(logits, k)
    top = logits.double().topk(k)
    assert torch.equal(ids.long(), top.indices)
    agree(weights, top.values.softmax(-1), 16)

    def reference(x, up, down, scale):
        rows = x.repeat_interleave(k, 0)
        h = F.silu(torch.einsum("rk,rkn->rn", rows, up[ids.reshape(-1).long()]))
        y = torch.einsum("rk,rkn->rn", h, down[ids.reshape(-1).long()]) * scale.reshape(-1, 1)
        return y.view(tokens, k, width).sum(1)

    def layer(x, up, down, scale):
        h = F.silu(serving.ExpertLinear.apply(x, up, ids, None, k))
        return serving.ExpertLinear.apply(h, down, ids, scale, 1).view(tokens, k, width).sum(1)

    check(
        layer,
        reference,
        torch.randn(tokens, width),
        torch.randn(experts, width, hidden) / 7,
        torch.randn(experts, hidden, width) / 9,
        weights,
        terms=256,
    )


def test_products_of_int8(device):
    M, N, K = 20, 33, 70
    a, b = torch.randn(M, K), torch.randn(N, K)
    qa, qb = (torch.empty(t.shape, dtype=torch.int8) for t in (a, b))
    sa, sb, c = torch.empty(M), torch.empty(N), torch.empty(M, N)
    for t, q, s in ((a, qa, sa), (b, qb, sb)):
        serving.quantize_rows[(t.shape[0],)](t, q, s, K, BLOCK=128)
        assert torch.equal(s, t.abs().amax(1) / 127) and ((q * s[:, None] - t).abs() <= s[:, None] * 0.501).all()
    serving.int8_matmul[(2, 2)](qa, qb, c, sa, sb, M, N, K, BLOCK_M=16, BLOCK_N=32, BLOCK_K=32)
    agree(c, (qa.double() @ qb.double().t()) * sa.double()[:, None] * sb.double()[None, :], 4)


def test_products_of_packed_weights(device):
    M, N, K, group = 20, 64, 128, 64
    a, weights = torch.randn(M, K), torch.randint(0, 16, (K, N))
    zeros, scales = torch.randint(1, 16, (K // group, N)), torch.rand(K // group, N)

    def pack(x):  # eight numbers along the first dimension in an int32
        x = x.reshape(-1, 8, *x.shape[1:])
        return sum((x[:, i] << (4 * i)) for i in range(8)).to(torch.int64).to(torch.int32)

    c = torch.empty(M, N)
    serving.int4_matmul[(2, 2)](
        a,
        pack(weights),
        c,
        scales,
        pack((zeros - 1).t().contiguous()).t().contiguous(),
        M,
        N,
        K,
        GROUP=group,
        BLOCK_M=16,
        BLOCK_N=32,
        BLOCK_K=32,
    )
    spread = (weights - zeros.repeat_interleave(group, 0)).double() * scales.double().repeat_interleave(group, 0)
    agree(c, a.double() @ spread, 256)


def test_sampling_from_the_likeliest(device):
    rows, V, top_p = 64, 100, 0.7
    logits = torch.randn(1, V).expand(rows, V).contiguous()
    probs, tokens = torch.empty(rows, V), torch.empty(rows, dtype=torch.int32)
    serving.top_p_kernel[(rows,)](logits, probs, tokens, top_p, 0.8, 7, V, BLOCK=128)
    p = (logits[0].double() / 0.8).softmax(-1)
    ordered, order = p.sort(descending=True)
    kept = torch.zeros(V, dtype=torch.float64)
    inside = ordered.cumsum(0) - ordered < top_p
    kept[order[inside]] = ordered[inside]
    agree(probs[0], kept / kept.sum(), 64)
    assert (kept[tokens.long()] > 0).all() and len(set(tokens.tolist())) > 3


def test_adamw(device):
    start = [torch.randn(300), torch.randn(7, 5)]
    mine, exact = [p.clone().requires_grad_() for p in start], [p.double().requires_grad_() for p in start]
    options = dict(lr=1e-2, betas=(0.9, 0.95), eps=1e-6, weight_decay=0.1)
    ours, reference = optimizers.AdamW(mine, **options), torch.optim.AdamW(exact, **options)
    for _ in range(5):
        for p, q in zip(mine, exact):
            p.grad = torch.randn(p.shape)
            q.grad = p.grad.double()
        ours.step()
        reference.step()
    for p, q in zip(mine, exact):
        agree(p, q, 64)


def test_lists_of_tensors(device):
    sizes = [1, 128, 129, 1000]
    a, b = [torch.randn(n) for n in sizes], [torch.randn(n) for n in sizes]
    wanted = [torch.lerp(x.double(), y.double(), 0.3) for x, y in zip(a, b)]
    optimizers.foreach_lerp_(a, b, 0.3)
    for got, exact in zip(a, wanted):
        agree(got, exact, 8)
    total = torch.cat([t.double() for t in b]).norm()
    scaled = [t.double() * min(1.0, 2.0 / (total.item() + 1e-6)) for t in b]
    agree(optimizers.clip_grad_norm_(b, 2.0), total, 64)
    for got, exact in zip(b, scaled):
        agree(got, exact, 64)
