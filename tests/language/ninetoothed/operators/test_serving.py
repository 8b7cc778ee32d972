"""What serving a language model takes: pages of a cache, sequences of several lengths, experts, weights of 4 bits."""

import functools

import pytest
import torch
from language.ninetoothed.operators.arrangements import make

from tilery.ninetoothed import Tensor
from tilery.ninetoothed import language as ntl

KNOWN = {"constexpr": True}


def close(actual, exact, dtype):
    tolerance = {torch.float32: 2e-5, torch.float16: 2e-3}[dtype]
    torch.testing.assert_close(actual.double(), exact, rtol=tolerance, atol=tolerance)


def attend(query, keys, values, scale, causal=False):
    """(heads, rows, width) of each in float64."""
    score = query.double() @ keys.double().mT * scale
    if causal:
        score = score.masked_fill(~torch.ones(score.shape[-2:], dtype=torch.bool, device=score.device).tril(), float("-inf"))
    return score.softmax(-1) @ values.double()


def arrange_pages(query, keys, values, table, lengths, scale, output, page):
    """A program for each sequence and head, which may read every page of that head and the sequence's row of the table."""

    def vector(t):
        t = t.tile((1, 1, -1)).squeeze(2)
        t.dtype = t.dtype.squeeze((0, 1))
        return t

    query, output = vector(query), vector(output)

    def pages(t):
        t = t.tile((1, page, 1, -1))
        t.dtype = t.dtype.squeeze((0, 2))
        t = t.tile((-1, 1, 1, 1))
        t.dtype = t.dtype.squeeze((1, 2, 3))
        return t.squeeze((0, 1, 3)).unsqueeze(0).expand((query.shape[0], -1))

    table = table.tile((1, 1)).tile((1, -1)).squeeze(1)
    table.dtype = table.dtype.squeeze(0)
    table.dtype.dtype = table.dtype.dtype.squeeze(0)
    table = table.unsqueeze(1).expand((-1, query.shape[1]))
    lengths = lengths.tile((1,)).unsqueeze(1).expand((-1, query.shape[1]))

    return query, pages(keys), pages(values), table, lengths, scale, output


def attend_to_pages(query, keys, values, table, lengths, scale, output):
    length = ntl.sum(lengths)
    page: ntl.constexpr = keys.dtype.shape[0]
    row = ntl.cast(query, ntl.float32) * scale
    total = ntl.zeros(query.shape, dtype=ntl.float32)
    highest = ntl.cast(float("-inf"), ntl.float32)
    weight = ntl.cast(0.0, ntl.float32)
    for i in range((length + page - 1) // page):
        number = ntl.sum(table[i])
        score = ntl.sum(ntl.cast(keys[number], ntl.float32) * row[None, :], 1)
        score = ntl.where(i * page + ntl.arange(0, page) < length, score, float("-inf"))
        now = ntl.maximum(highest, ntl.max(score))
        share = ntl.exp(score - now)
        factor = ntl.exp(highest - now)
        total = total * factor + ntl.sum(share[:, None] * ntl.cast(values[number], ntl.float32), 0)
        weight = weight * factor + ntl.sum(share)
        highest = now
    output = total / weight  # noqa: F841


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("lengths", [(5, 64, 33), (1, 16, 17)])
def test_attention_to_pages(lengths, dtype, device):
    heads, width, page, most = 2, 32, 16, 4
    query = torch.randn(len(lengths), heads, width, device=device).to(dtype)
    keys, values = (torch.randn(12, page, heads, width, device=device).to(dtype) for _ in range(2))
    table = torch.randperm(12, device=device).reshape(len(lengths), most)
    output = torch.empty_like(query)
    cache = Tensor(4, shape_options=(None, KNOWN, None, KNOWN))
    row = Tensor(3, shape_options=(None, None, KNOWN))
    tensors = (row, cache, Tensor(4, shape_options=(None, KNOWN, None, KNOWN)), Tensor(2), Tensor(1), Tensor(0))
    tensors += (Tensor(3, shape_options=(None, None, KNOWN)),)
    arrange = functools.partial(arrange_pages, page=page)
    make(arrange, attend_to_pages, tensors)(query, keys, values, table, torch.tensor(lengths, device=device), 0.2, output)
    for q, pages, n, o in zip(query, table, lengths, output):
        k, v = (t[pages].flatten(end_dim=1)[:n].transpose(0, 1) for t in (keys, values))
        close(o, attend(q[:, None], k, v, 0.2)[:, 0], dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("lengths", [(5, 40, 1, 24), (16,)])
def test_attention_of_packed_sequences(lengths, dtype, device):
    heads, width, m, n = 3, 16, 16, 16
    blocks = (max(lengths) + m - 1) // m

    def arrange(starts, ends, *others):
        return *(t.tile((1,)).unsqueeze(1).unsqueeze(2).expand((-1, heads, blocks)) for t in (starts, ends)), *others

    def application(starts, ends, query, key, value, scale, output):
        start, end = ntl.sum(starts), ntl.sum(ends)
        program = ntl.program_id(0)
        first = start + program % blocks * m
        head = program // blocks % heads
        row, element = first + ntl.arange(0, m), ntl.arange(0, width)[None, :]
        own = ntl.where(row < end, row, -1)[:, None]
        q = query.source[own, head, element].to(ntl.float32) * scale
        total = ntl.zeros((m, width), ntl.float32)
        highest = ntl.full((m,), float("-inf"), ntl.float32)
        weight = ntl.zeros((m,), ntl.float32)
        for j in range(start, ntl.minimum(first + m, end), n):
            column = j + ntl.arange(0, n)
            place = ntl.where(column < end, column, -1)[:, None]
            k = key.source[place, head, element].to(ntl.float32)
            v = value.source[place, head, element].to(ntl.float32)
            score = ntl.dot(q, ntl.trans(k), input_precision="ieee")
            score = ntl.where((column[None, :] <= row[:, None]) & (column < end)[None, :], score, float("-inf"))
            now = ntl.maximum(highest, ntl.max(score, 1))
            share = ntl.exp(score - now[:, None])
            factor = ntl.exp(highest - now)
            total = ntl.dot(share, v, total * factor[:, None], input_precision="ieee")
            weight = weight * factor + ntl.sum(share, 1)
            highest = now
        output.source[own, head, element] = total / weight[:, None]

    bounds = torch.tensor([0, *lengths], device=device, dtype=torch.int32).cumsum(0).to(torch.int32)
    query, key, value = (torch.randn(sum(lengths), heads, width, device=device).to(dtype) for _ in range(3))
    output = torch.empty_like(query)
    tensors = (Tensor(1), Tensor(1), Tensor(3), Tensor(3), Tensor(3), Tensor(0), Tensor(3))
    make(arrange, application, tensors)(bounds[:-1], bounds[1:], query, key, value, 0.25, output)
    for start, end in zip(bounds[:-1].tolist(), bounds[1:].tolist()):
        own = (t[start:end].transpose(0, 1) for t in (query, key, value))
        close(output[start:end].transpose(0, 1), attend(*own, 0.25, causal=True), dtype)


def whole_rows(t):
    t = t.tile((1, -1)).squeeze(1)
    t.dtype = t.dtype.squeeze(0)
    return t


def of_expert(expert, x, weight, output):
    k = expert
    output = ntl.sum(ntl.expand_dims(x, 1) * weight[k], 0)  # noqa: F841


def test_rows_go_to_experts(device):
    experts, count, width, out = 4, 24, 32, 16
    x, weight = torch.randn(count, width, device=device), torch.randn(experts, width, out, device=device)
    expert = torch.randint(0, experts, (count,), device=device)
    output = torch.empty(count, out, device=device)

    def arrange(expert, x, weight, output):
        x = whole_rows(x)
        weight = weight.tile((1, -1, -1))
        weight.dtype = weight.dtype.squeeze(0)
        weight = weight.squeeze((1, 2)).tile((-1,)).expand((x.shape[0],))
        return expert.tile((1,)), x, weight, whole_rows(output)

    tensors = (Tensor(1), *(Tensor(rank, shape_options=KNOWN) for rank in (2, 3, 2)))
    make(arrange, of_expert, tensors)(expert, x, weight, output)
    close(output, torch.einsum("nd,ndo->no", x.double(), weight.double()[expert]), torch.float32)


def product_with_four_bits(x, packed, scale, output):
    total = ntl.zeros(output.shape, ntl.float32)
    for k in range(packed.shape[0]):
        both = packed[k]
        low = ((both & 0xF).to(ntl.int8) - 8).to(ntl.float32)
        high = ((both >> 4).to(ntl.int8) - 8).to(ntl.float32)
        weight = ntl.reshape(ntl.permute(ntl.join(low, high), (0, 2, 1)), (16, 8)) * scale[None, :]
        total = ntl.dot(x[k], weight, total, input_precision="ieee")
    output = total  # noqa: F841


def test_product_with_weights_of_four_bits(device):
    x, scale = torch.randn(10, 32, device=device), torch.rand(24, device=device)
    packed = torch.randint(0, 256, (16, 24), dtype=torch.uint8, device=device)
    output = torch.empty(10, 24, device=device)

    def arrange(x, packed, scale, output):
        output = output.tile((16, 8))
        x = x.tile((16, 16)).tile((1, -1)).expand((-1, output.shape[1]))
        x.dtype = x.dtype.squeeze(0)
        packed = packed.tile((8, 8)).tile((-1, 1)).expand((output.shape[0], -1))
        packed.dtype = packed.dtype.squeeze(1)
        return x, packed, scale.tile((8,)).unsqueeze(0).expand((output.shape[0], -1)), output

    make(arrange, product_with_four_bits, (Tensor(2), Tensor(2), Tensor(1), Tensor(2)))(x, packed, scale, output)
    weight = torch.stack([(packed & 15).int() - 8, (packed >> 4).int() - 8], 1).reshape(32, 24)
    close(output, x.double() @ (weight.double() * scale.double()), torch.float32)
