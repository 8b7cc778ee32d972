"""What every compilation hangs on."""

from __future__ import annotations

import functools

from tilery import _native

from ...core.cache import sources


@functools.lru_cache(maxsize=None)
def triton_key() -> str:
    """Changes with the compiler and with this package's sources."""
    return f"{_native.build_id()}-{sources()}"
