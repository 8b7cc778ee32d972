"""Random arrangements: a kernel that copies every tile gives what `eval` says, in machine code, with strides and ragged sizes."""

import random

import numpy as np
import pytest
import torch
from seeds import seeds

from tilery import ninetoothed
from tilery.ninetoothed import Tensor

OTHER = -7.0


def copy_one(x, y):
    y = x


def copy_row(x, y):
    for i in range(y.shape[0]):  # of rows of different lengths the longest
        y[i] = x[i]


def copy_plane(x, y):
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            y[i, j] = x[i, j]


COPIES = {0: copy_one, 1: copy_row, 2: copy_plane}


def levels_of(tensor):
    levels = [tensor.shape]
    while isinstance(tensor.dtype, Tensor):
        tensor = tensor.dtype
        levels.append(tensor.shape)
    return levels


def arranged_target(ranks):
    """A tensor with one dimension for each of every level, arranged into these levels."""
    total = sum(ranks)
    ends = [sum(ranks[: i + 1]) for i in range(len(ranks))]
    t = Tensor(total)
    for level in reversed(range(1, len(ranks))):
        t = t.tile(tuple(-1 if ends[level - 1] <= d < ends[level] else 1 for d in range(total)))
    views = [t]
    for _ in ranks[1:]:
        views.append(views[-1].dtype)
    for level in reversed(range(1, len(ranks))):
        own = range(ends[level - 1], ends[level])
        views[level - 1].dtype = views[level].squeeze(tuple(d for d in range(total) if d not in own))

    return views[0].squeeze(tuple(range(ends[0], total)))


def random_arrangement(choose, jagged=False):
    """Random steps on a tensor of rank 1 to 3, at most three levels, small innermost tiles."""
    ndim = choose.randint(2 if jagged else 1, 3)
    x = Tensor(ndim, other=OTHER, jagged_dim=choose.randint(1, ndim - 1) if jagged else None)

    def tiled(t):
        tile = tuple(choose.choice([1, 2, 3, 4]) for _ in range(t.ndim))
        strides = tuple(choose.choice([-1, 1, 2, 3]) for _ in range(t.ndim)) if choose.random() < 0.3 else None
        dilation = tuple(choose.choice([1, 2]) for _ in range(t.ndim)) if choose.random() < 0.3 else None
        return t.tile(tile, strides=strides, dilation=dilation, floor_mode=choose.random() < 0.2)

    def step(t):
        kind = choose.randrange(7)
        if kind == 0 and t.ndim > 1:
            start = choose.randrange(t.ndim - 1)
            return t.flatten(start_dim=start, end_dim=choose.randint(start + 2, t.ndim))
        if kind == 1 and t.ndim < 4:
            return t.unsqueeze(choose.randint(0, t.ndim))
        if kind == 2 and t.ndim:
            return t.permute(tuple(choose.sample(range(t.ndim), t.ndim)))
        if kind == 3:
            return t.pad(tuple((choose.randint(0, 2), choose.randint(0, 2)) for _ in range(t.ndim)))
        if kind == 4 and t.ndim:
            return t[tuple(slice(choose.randint(0, 1), None, choose.choice([1, 2])) for _ in range(t.ndim))]
        if kind == 5 and t.ndim:
            times = tuple(choose.choice([-1, -1, -1, 2]) for _ in range(t.ndim))
            return t[tuple(slice(0, 1) if n > 0 else slice(None) for n in times)].expand(times)
        return t

    for _ in range(choose.randint(0, 2)):
        x = step(x)
    x = tiled(x)
    if choose.random() < 0.4:
        x.dtype = (
            x.dtype.flatten()
            if choose.random() < 0.5
            else x.dtype.permute(tuple(choose.sample(range(x.dtype.ndim), x.dtype.ndim)))
        )
    for _ in range(choose.randint(0, 2)):
        x = step(x)
    if choose.random() < 0.4:
        x = x.tile(tuple(choose.choice([1, 2, 3]) for _ in range(x.ndim)))
        for _ in range(max(0, x.dtype.ndim - 2)):
            x.dtype = x.dtype.flatten(end_dim=2)
        if choose.random() < 0.5:
            x = step(x)
    return x


def strided(choose, shape):
    steps = [choose.choice([1, 2]) for _ in shape]
    return torch.randn(tuple(s * n for s, n in zip(steps, shape)))[tuple(slice(None, None, s) for s in steps)]


def check(arranged, shape, values, argument):
    """A kernel that copies every tile of `argument`, which holds `values`, gives what `eval` says."""
    root = arranged.source
    table = arranged.eval({root: {"shape": shape}})
    ranks = [len(level) for level in levels_of(arranged)]
    given = values.contiguous().cpu().numpy().reshape(-1)
    expected = np.where(table < 0, OTHER, given[np.maximum(table, 0)] if given.size else OTHER)
    output = torch.full(table.shape, float("nan"))
    copy = COPIES[sum(ranks[1:-1])]
    kernel = ninetoothed.make(lambda x, y: (arranged, arranged_target(ranks)), copy, (root, Tensor(1)))
    kernel(argument, output)
    np.testing.assert_array_equal(output.cpu().numpy(), expected.astype(np.float32))


@pytest.mark.parametrize("seed", seeds(30, 1400))
def test_copy_follows_eval(seed):
    choose = random.Random(seed)
    arranged = random_arrangement(choose)
    shape = tuple(choose.randint(3, 7) for _ in range(arranged.source.ndim))
    source = strided(choose, shape)
    check(arranged, shape, source, source)


@pytest.mark.parametrize("seed", seeds(15, 600))
def test_copy_of_rows_of_different_lengths_follows_eval(seed):
    choose = random.Random(10_000 + seed)
    arranged = random_arrangement(choose, jagged=True)
    jagged_dim = arranged.jagged_dim
    lengths = tuple(choose.randint(0, 6) for _ in range(choose.randint(1, 4)))
    shape = [len(lengths), *(choose.randint(3, 6) for _ in range(arranged.source.ndim - 1))]
    shape[jagged_dim] = lengths
    values = strided(choose, [sum(lengths) if d == jagged_dim else n for d, n in enumerate(shape)][1:])
    offsets = torch.tensor([0, *lengths]).cumsum(0)
    rows = torch.nested.nested_tensor_from_jagged(values, offsets, jagged_dim=jagged_dim)
    check(arranged, tuple(shape), values, rows)
