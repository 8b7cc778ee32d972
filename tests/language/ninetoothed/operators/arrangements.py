"""Arrangements that a library of operators shares."""

from tilery import ninetoothed
from tilery.ninetoothed import Tensor

BLOCK = 64


def element_wise(*tensors, block_size=BLOCK):
    """One tile for each run of elements; numbers as they are."""
    return tuple(t.flatten().tile((block_size,)) if t.ndim else t for t in tensors)


def rows(*tensors, dim, block_size=BLOCK):
    """A program for each index outside of `dim` (a tuple), which goes through tiles of what `dim` spans. Tensors whose sizes in
    `dim` are 1 have one tile of one element."""

    def arrange(t):
        others = tuple(d for d in range(t.ndim) if d not in dim)
        size = 1 if all(t.shape[d] == 1 for d in dim) else block_size
        t = t.permute(others + tuple(dim)).flatten(start_dim=len(others))
        ones = (1,) * len(others)
        t = t.tile((*ones, size))
        t.dtype = t.dtype.squeeze(tuple(range(len(others)))) if others else t.dtype
        t = t.tile((*ones, -1))
        t.dtype = t.dtype.squeeze(tuple(range(len(others)))) if others else t.dtype
        return t.squeeze(len(others))

    return tuple(arrange(t) if t.ndim else t for t in tensors)


def reduced(ndim, dim, **options):
    """A tensor whose sizes in `dim` are 1."""
    return Tensor(shape=tuple(1 if d in dim else None for d in range(ndim)), **options)


def pooling(input, output, kernel, strides, padding, dilation, ceil_mode, block_size=BLOCK):
    """Tiles of windows: (block, elements of a window) and (block,)."""
    (kh, kw), (ph, pw) = kernel, padding
    windows = input.pad(((0, 0), (0, 0), (ph, ph), (pw, pw))) if any(padding) else input
    windows = windows.tile((1, 1, kh, kw), strides=(-1, -1, *strides), dilation=(1, 1, *dilation), floor_mode=not ceil_mode)
    windows = windows.ravel().flatten(end_dim=4).flatten(start_dim=1).tile((block_size, -1))
    return windows, output.flatten().tile((block_size,))


def matmul(input, other, output, block=(32, 32, 32)):
    m, n, k = block
    output = output.tile((m, n))
    input = input.tile((m, k)).tile((1, -1)).expand((-1, output.shape[1]))
    input.dtype = input.dtype.squeeze(0)
    other = other.tile((k, n)).tile((-1, 1)).expand((output.shape[0], -1))
    other.dtype = other.dtype.squeeze(1)
    return input, other, output


def make(arrangement, application, tensors, **options):
    return ninetoothed.make(arrangement, application, tensors, **options)
