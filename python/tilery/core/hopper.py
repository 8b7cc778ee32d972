"""Numbers of a Hopper GPU, which programs are told of where they ask for "cuda" and there is no GPU."""

from __future__ import annotations

MULTIPROCESSORS = 132
REGISTERS = 65536  # of a multiprocessor, which a block may have
SHARED_BYTES = 227 << 10  # that a block may ask for
