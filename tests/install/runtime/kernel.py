"""usage: kernel.py FOLDER: writes scaled.c and scaled.h, y = x * scale + 1 compiled ahead of time."""

import sys

from tilery import ninetoothed
from tilery.ninetoothed import Tensor


def arrangement(x, scale, y):
    return x.tile((64, 64)), scale, y.tile((64, 64))


def scaled(x, scale, y):
    y = x * scale + 1  # noqa: F841 # assigning a parameter stores it


tensors = [Tensor(rank, dtype=ninetoothed.float32) for rank in (2, 0, 2)]
ninetoothed.make(arrangement, scaled, tensors, caller="cpu", kernel_name="scaled", output_dir=sys.argv[1])
