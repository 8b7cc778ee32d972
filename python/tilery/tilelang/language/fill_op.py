"""Buffers and regions of one value."""

from ..tracing.memory import fill


def clear(region):
    """Every element of a buffer or region becomes 0."""
    fill(region, 0, "T.clear")
