"""Programs in the style of NineToothed's users, each beside torch: {name: (a launch of ours, torch's, our result)}."""

import torch
import torch.nn.functional as F

from tilery import ninetoothed
from tilery.ninetoothed import Tensor
from tilery.ninetoothed import language as ntl


def copied(x, y):
    y = x  # noqa: F841


def added(x, y, z):
    z = x + y  # noqa: F841


def summed(x, y):
    y = ntl.sum(x, 0)  # noqa: F841


def summed_blocks(x, y):
    total = ntl.zeros(x.dtype.shape[1:], dtype=ntl.float32)
    for i in range(x.shape[0]):
        total += ntl.sum(x[i], 0)
    y = total  # noqa: F841


def soft(x, y):
    e = ntl.exp(x - ntl.max(x, 0))
    y = e / ntl.sum(e, 0)  # noqa: F841


def scanned(x, y):
    y = ntl.cumsum(x, 1)  # noqa: F841


def summed_loop(x, y):
    total = ntl.zeros(x.dtype.shape, dtype=ntl.float32)
    for i in range(x.shape[0]):
        total += x[i]
    y = ntl.sum(total)  # noqa: F841


def largest(x, y):
    y = ntl.max(x, axis=1)  # noqa: F841


def programs():
    torch.manual_seed(0)
    found = {}
    m = torch.randn(1024, 1000)

    r = torch.empty(1000)
    for C in (1, 8, 32, 128):
        def columns(x, y, C=C):
            y = y.tile((C,))
            return x.tile((1024, C)).squeeze(0), y
        kernel = ninetoothed.make(columns, summed, (Tensor(2), Tensor(1)))
        found[f"column sums 1024x{C}"] = (lambda k=kernel, r=r: k(m, r), lambda: m.sum(0), r)
    for R, C in ((32, 64), (64, 32)):
        def pieces(x, y, R=R, C=C):
            x = x.tile((R, C)).tile((-1, 1)).squeeze(0)
            x.dtype = x.dtype.squeeze(1)
            return x, y.tile((C,))
        kernel = ninetoothed.make(pieces, summed_blocks, (Tensor(2), Tensor(1)))
        found[f"column sums in pieces {R}x{C}"] = (lambda k=kernel, r=r: k(m, r), lambda: m.sum(0), r)
    s = torch.empty_like(m)
    for C in (1, 16, 64):
        kernel = ninetoothed.make(lambda x, y, C=C: (x.tile((1024, C)), y.tile((1024, C))), soft, (Tensor(2), Tensor(2)))
        found[f"column softmax 1024x{C}"] = (lambda k=kernel, s=s: k(m, s), lambda: m.softmax(0), s)

    c = torch.empty_like(m)
    kernel = ninetoothed.make(lambda x, y: (x.tile((1, 1024)), y.tile((1, 1024))), scanned, (Tensor(2), Tensor(2)))
    found["row cumsum"] = (lambda k=kernel: k(m, c), lambda: m.cumsum(1), c)

    t = torch.randn(32, 56, 777).transpose(0, 1)
    z = torch.empty(56, 32, 777)
    flat = ninetoothed.make(lambda *t: tuple(x.flatten().tile((1024,)) for x in t), copied, (Tensor(3), Tensor(3)))
    found["flattened copy of a transpose, rows of 777"] = (lambda: flat(t, z), lambda: t.contiguous(), z)
    z2, b = torch.empty(32, 56, 777), torch.randn(56, 1).expand(32, 56, 777)
    d = torch.randn(32, 56, 777)
    adding = ninetoothed.make(lambda *t: tuple(x.flatten().tile((1024,)) for x in t), added, (Tensor(3), Tensor(3), Tensor(3)))
    found["flattened bias, rows of 777"] = (lambda: adding(d, b, z2), lambda: d + b, z2)
    small, sb, sr = torch.randn(32, 512, 49), torch.randn(512, 1), torch.empty(32, 512, 49)
    sbe = sb.expand(32, 512, 49)
    found["flattened bias, rows of 49"] = (lambda: adding(small, sbe, sr), lambda: small + sb, sr)

    def summing(dims, rank, block):
        others = tuple(d for d in range(rank) if d not in dims)

        def arrangement(x, y):
            ones = (1,) * len(others)
            x = x.permute(others + dims).flatten(start_dim=len(others)).tile((*ones, block)).tile((*ones, -1))
            x = x.squeeze(len(others))
            x.dtype = x.dtype.squeeze(tuple(range(len(others))))
            x.dtype.dtype = x.dtype.dtype.squeeze(tuple(range(len(others))))
            return x, y.tile(ones)

        return ninetoothed.make(arrangement, summed_loop, (Tensor(rank), Tensor(len(others))))

    for shape in ((8, 64, 40, 40), (8, 64, 7, 7), (16, 32, 33, 31)):
        x = torch.randn(shape)
        r4 = torch.empty(shape[1])
        kernel = summing((0, 2, 3), 4, 1024)
        found[f"sums over (0, 2, 3) of {shape}"] = (lambda k=kernel, x=x, r=r4: k(x, r), lambda x=x: x.sum((0, 2, 3)), r4)

    p, q = torch.randn(4, 64, 56, 56), torch.empty(4, 64, 28, 28)

    pool = ninetoothed.make(
        lambda x, y: (
            x.tile((1, 1, 2, 2), floor_mode=True).ravel().flatten(end_dim=4).flatten(start_dim=1).tile((512, -1)).squeeze(1),
            y.flatten().tile((512,)),
        ),
        largest,
        (Tensor(4, other=float("-inf")), Tensor(4)),
    )
    found["max pooling 2x2"] = (lambda: pool(p, q), lambda: F.max_pool2d(p, 2), q)
    return found
