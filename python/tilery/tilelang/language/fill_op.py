"""Buffers and regions of one value."""

from __future__ import annotations

from typing import Any

from ..tracing.memory import fill as fill


def clear(region: Any) -> None:
    """Every element of a buffer or region becomes 0."""
    fill(region, 0, "T.clear")
