"""Tiles of every type, for functions that are written out."""

import numpy as np
from core.functions import references

from tilery.core.functions.row import FLOATS, INTEGERS

ROWS, COLUMNS = 8, 16
ARITHMETIC = (*INTEGERS, *FLOATS)


def bits(dtype, seed):
    """A tile of any bits."""
    random, kind = np.random.default_rng(seed), references.numpy_type(dtype)
    if dtype == "bool":
        return random.integers(0, 2, (ROWS, COLUMNS)).astype(bool)
    return random.integers(0, 256, (ROWS, COLUMNS * kind.itemsize), dtype=np.uint8).view(kind)


def small(dtype):
    """A tile of small integers, with ties: sums and products are exact in any order."""
    numbers = np.random.default_rng(3).choice([-1, 1, 2, -2] if not dtype.startswith("u") else [0, 1, 2], (ROWS, COLUMNS))
    numbers[:, 4:12] = np.clip(numbers[:, 4:12], -1 if not dtype.startswith("u") else 0, 1)
    return numbers.astype(references.numpy_type(dtype))


def wide(x):
    return x.astype({"i": np.int64, "u": np.uint64}.get(x.dtype.kind, np.float64))
