"""Operators that go along rows: normalisations, sums, softmax, scans, order."""

import pytest
import torch
from language.ninetoothed.operators.arrangements import make, reduced, rows

from tilery.ninetoothed import Symbol, Tensor
from tilery.ninetoothed import language as ntl

SHAPES = [((7, 33), (1,)), ((7, 33), (0,)), ((3, 5, 70), (1,)), ((3, 5, 70), (0, 2)), ((2, 3, 4, 5), (2, 3)), ((129,), (0,))]
EMPTY = [((0, 8), (1,)), ((4, 0, 3), (1,))]


def strided(shape, device, dtype=torch.float32):
    """Neither dense nor in order."""
    base = torch.randn([2 * n for n in shape], device=device).to(dtype)
    return base[tuple(slice(None, None, 2) for _ in shape)]


def close(actual, exact, tolerance=2e-5):
    torch.testing.assert_close(actual.double(), exact, rtol=tolerance, atol=tolerance, equal_nan=True)


def row_sum(x, y):
    total = ntl.zeros((1,), dtype=ntl.float32)
    for i in range(x.shape[0]):
        total += ntl.sum(ntl.cast(x[i], ntl.float32))
    y[0] = total


@pytest.mark.parametrize("shape, dim", SHAPES + EMPTY)
def test_sum(shape, dim, device):
    x = strided(shape, device)
    y = torch.full([1 if d in dim else n for d, n in enumerate(shape)], float("nan"), device=device)
    make(lambda x, y: rows(x, y, dim=dim), row_sum, (Tensor(len(shape)), reduced(len(shape), dim)))(x, y)
    close(y, x.double().sum(dim, keepdim=True))


def log_sum_exp(x, y):
    highest = ntl.full((1,), float("-inf"), dtype=ntl.float32)
    total = ntl.zeros((1,), dtype=ntl.float32)
    for i in range(x.shape[0]):
        value = ntl.cast(x[i], ntl.float32)
        now = ntl.maximum(highest, ntl.max(value))
        total = total * ntl.exp(highest - now) + ntl.sum(ntl.exp(value - now))
        highest = now
    y[0] = highest + ntl.log(total)


@pytest.mark.parametrize("shape, dim", SHAPES)
def test_logsumexp(shape, dim, device):
    x = strided(shape, device)
    y = torch.empty([1 if d in dim else n for d, n in enumerate(shape)], device=device)
    tensors = (Tensor(len(shape), other=float("-inf")), reduced(len(shape), dim))
    make(lambda x, y: rows(x, y, dim=dim), log_sum_exp, tensors)(x, y)
    close(y, x.double().logsumexp(dim, keepdim=True))


def softmax(x, y):
    highest = ntl.full((1,), float("-inf"), dtype=ntl.float32)
    total = ntl.zeros((1,), dtype=ntl.float32)
    for i in range(x.shape[0]):
        value = ntl.cast(x[i], ntl.float32)
        now = ntl.maximum(highest, ntl.max(value))
        total = total * ntl.exp(highest - now) + ntl.sum(ntl.exp(value - now))
        highest = now
    for i in range(x.shape[0]):
        y[i] = ntl.exp(ntl.cast(x[i], ntl.float32) - highest) / total


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("shape, dim", [s for s in SHAPES if len(s[1]) == 1] + EMPTY)
def test_softmax(shape, dim, dtype, device):
    x = strided(shape, device, dtype)
    y = torch.empty(shape, device=device, dtype=dtype)
    tensors = (Tensor(len(shape), other=float("-inf")), Tensor(len(shape)))
    make(lambda x, y: rows(x, y, dim=dim), softmax, tensors)(x, y)
    close(y, x.double().softmax(dim[0]), 2e-5 if dtype == torch.float32 else 1e-3)


def layer_norm(x, weight, bias, eps, y, count):
    total = ntl.zeros((1,), dtype=ntl.float32)
    for i in range(x.shape[0]):
        total += ntl.sum(x[i])
    mean = total / count
    squares = ntl.zeros((1,), dtype=ntl.float32)
    for i in range(x.shape[0]):
        away = ntl.where(x[i].offsets(-1) < x.source.shape[-1], x[i] - mean, 0)
        squares += ntl.sum(away * away)
    scale = ntl.rsqrt(squares / count + eps)
    for i in range(x.shape[0]):
        y[i] = (x[i] - mean) * scale * weight[i] + bias[i]


@pytest.mark.parametrize("shape", [(7, 33), (3, 4, 200), (5, 64), (0, 16)])
def test_layer_norm(shape, device):
    x, weight, bias = strided(shape, device), torch.randn(shape[-1], device=device), torch.randn(shape[-1], device=device)
    y = torch.empty(shape, device=device)
    tensors = (*(Tensor(len(shape)) for _ in range(3)), Tensor(0), Tensor(len(shape)), Tensor(0))
    dim = (len(shape) - 1,)
    kernel = make(lambda *ts: rows(*ts, dim=dim), layer_norm, tensors)
    kernel(x, weight.expand(shape), bias.expand(shape), 1e-5, y, float(shape[-1]))
    close(y, torch.nn.functional.layer_norm(x.double(), shape[-1:], weight.double(), bias.double()), 1e-4)


def rms_norm(x, weight, eps, y, count):
    squares = ntl.zeros((1,), dtype=ntl.float32)
    for i in range(x.shape[0]):
        value = ntl.cast(x[i], ntl.float32)
        squares += ntl.sum(value * value)
    scale = ntl.rsqrt(squares / count + eps)
    for i in range(x.shape[0]):
        y[i] = ntl.cast(x[i], ntl.float32) * scale * ntl.cast(weight[i], ntl.float32)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(7, 33), (2, 3, 130)])
def test_rms_norm(shape, dtype, device):
    x, weight = strided(shape, device, dtype), torch.randn(shape[-1], device=device).to(dtype)
    y = torch.empty(shape, device=device, dtype=dtype)
    tensors = (Tensor(len(shape)), Tensor(len(shape)), Tensor(0), Tensor(len(shape)), Tensor(0))
    dim = (len(shape) - 1,)
    make(lambda *ts: rows(*ts, dim=dim), rms_norm, tensors)(x, weight.expand(shape), 1e-6, y, float(shape[-1]))
    exact = x.double() * (x.double().square().mean(-1, keepdim=True) + 1e-6).rsqrt() * weight.double()
    close(y, exact, 2e-5 if dtype == torch.float32 else 1e-2)


def standardise(x, eps, y, count):
    total = ntl.zeros((1,), dtype=ntl.float32)
    squares = ntl.zeros((1,), dtype=ntl.float32)
    for i in range(x.shape[0]):
        total += ntl.sum(x[i])
        squares += ntl.sum(x[i] * x[i])
    mean = total / count
    scale = ntl.rsqrt(squares / count - mean * mean + eps)
    for i in range(x.shape[0]):
        y[i] = (x[i] - mean) * scale


@pytest.mark.parametrize("what, dim", [("instance", (2, 3)), ("batch", (0, 2, 3))])
@pytest.mark.parametrize("shape", [(2, 3, 5, 7), (4, 2, 9, 8), (1, 1, 3, 3)])
def test_instance_and_batch_norm(shape, what, dim, device):
    x, y = strided(shape, device), torch.empty(shape, device=device)
    count = 1
    for d in dim:
        count *= shape[d]
    tensors = (Tensor(4), Tensor(0), Tensor(4), Tensor(0))
    make(lambda *ts: rows(*ts, dim=dim), standardise, tensors)(x, 1e-5, y, float(count))
    if what == "instance":
        exact = torch.nn.functional.instance_norm(x.double())
    else:
        exact = torch.nn.functional.batch_norm(x.double(), None, None, training=True)
    close(y, exact, 2e-4)


def scan(x, y):
    y = ntl.cumsum(x, 0)  # noqa: F841


def sort_rows(x, y):
    y = ntl.sort(x)  # noqa: F841


def whole_row(*tensors):
    """A program for each row, which gets all of it."""

    def arrange(t):
        t = t.tile((1, -1)).squeeze(1)
        t.dtype = t.dtype.squeeze(0)
        return t

    return tuple(arrange(t) if t.ndim else t for t in tensors)


@pytest.mark.parametrize("shape", [(3, 17), (5, 64), (4, 1), (0, 8)])
def test_cumsum(shape, device):
    x, y = strided(shape, device), torch.empty(shape, device=device)
    make(whole_row, scan, (Tensor(2), Tensor(2)))(x, y)
    close(y, x.double().cumsum(1), 1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int32])
@pytest.mark.parametrize("shape", [(3, 17), (5, 64), (4, 1), (1, 200)])
def test_sort(shape, dtype, device):
    x = (strided(shape, device) * 100).to(dtype)
    y = torch.empty(shape, device=device, dtype=dtype)
    padding = float("inf") if dtype == torch.float32 else 2**31 - 1
    make(whole_row, sort_rows, (Tensor(2, other=padding), Tensor(2)))(x, y)
    assert torch.equal(y, x.sort(1).values)


def stable_order(x, order, n):
    """The sort's keys hold value and place, as operator libraries write argsort."""
    place = ntl.arange(0, x.shape[0]).to(ntl.int64)
    key = (x.to(ntl.int64) << 32) | place
    order = ntl.sort(key) & 0xFFFFFFFF  # noqa: F841


def test_argsort(device):
    x = torch.randint(-5, 5, (4, 33), device=device, dtype=torch.int32)
    order = torch.empty((4, 33), dtype=torch.int64, device=device)
    make(whole_row, stable_order, (Tensor(2), Tensor(2), Tensor(0, constexpr=True)))(x, order, 33)
    assert torch.equal(order, x.argsort(dim=1, stable=True))


def quantile(x, q, y, count):
    ordered = ntl.sort(x)
    place = q * (count - 1)
    low = ntl.cast(ntl.floor(place), ntl.int32)
    high = ntl.minimum(low + 1, count - 1)
    at = ntl.arange(0, ordered.shape[0])
    below = ntl.sum(ntl.where(at == low, ordered, 0.0))
    above = ntl.sum(ntl.where(at == high, ordered, 0.0))
    y = below + (above - below) * (place - ntl.cast(low, ntl.float32))  # noqa: F841


@pytest.mark.parametrize("q", [0.0, 0.3, 0.5, 1.0])
def test_quantile(q, device):
    x = strided((5, 31), device)
    y = torch.empty(5, device=device)

    def arrangement(x, q, y, count):
        return whole_row(x)[0], q, y.tile((1,)), count

    tensors = (Tensor(2, other=float("inf")), Tensor(0), Tensor(1), Tensor(0))
    make(arrangement, quantile, tensors)(x, q, y, 31)
    close(y, x.double().quantile(q, dim=1), 1e-5)


def largest(x, value, index):
    value = ntl.max(x)  # noqa: F841
    index = ntl.argmax(x, 0)  # noqa: F841


@pytest.mark.parametrize("shape", [(3, 17), (5, 64), (4, 1)])
def test_max_with_its_place(shape, device):
    x = strided(shape, device)
    value = torch.empty(shape[0], device=device)
    index = torch.empty(shape[0], dtype=torch.int64, device=device)

    def arrangement(x, value, index):
        return whole_row(x)[0], value.tile((1,)), index.tile((1,))

    make(arrangement, largest, (Tensor(2, other=float("-inf")), Tensor(1), Tensor(1)))(x, value, index)
    assert torch.equal(value, x.max(1).values) and torch.equal(index, x.max(1).indices)


def dropout(x, keep, seed, y):
    y = ntl.where(ntl.rand(seed, x.offsets()) < keep, x / keep, 0)  # noqa: F841


@pytest.mark.parametrize("shape", [(349,), (13, 70)])
def test_dropout(shape, device):
    block = Symbol("BLOCK", constexpr=True)

    def arrangement(x, keep, seed, y):
        return x.flatten().tile((block,)), keep, seed, y.flatten().tile((block,))

    x = torch.rand(shape, device=device) + 1
    y = torch.empty_like(x)
    kernel = make(arrangement, dropout, (Tensor(len(shape)), Tensor(0), Tensor(0), Tensor(len(shape))))
    kernel(x, 0.75, 7, y, BLOCK=128)
    kept = y != 0
    torch.testing.assert_close(y[kept], x[kept] / 0.75)
    assert abs(kept.double().mean().item() - 0.75) < 4 * (0.75 * 0.25 / x.numel()) ** 0.5
    again = torch.empty_like(x)
    kernel(x, 0.75, 7, again, BLOCK=64)
    assert torch.equal(y, again)  # numbers belong to elements, not to tiles
    kernel(x, 0.75, 8, again, BLOCK=128)
    assert not torch.equal(y, again)
