"""What products of tiles are where they say nothing themselves."""

from __future__ import annotations

from typing import Any, NamedTuple

PRECISIONS = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")  # of products of fp32 tiles


class Products(NamedTuple):
    """precision: of fp32 tiles. allowed: precisions that a product may name; None: all.
    imprecise: of 8-bit floats how many of k are summed before the accumulator takes them with all its bits; 0: each is, None: the
    machine's sums will do."""

    precision: str = "ieee"
    allowed: tuple[Any, ...] | None = None
    imprecise: int | None = None
