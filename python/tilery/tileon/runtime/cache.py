"""Names of upstream's cache; the cache itself is Tilery's (TILERY_CACHE_DIR)."""

from __future__ import annotations

import base64

from ..compiler.compiler import triton_key

__all__ = ["triton_key"]


def _base32(key: str) -> str:
    """A hexadecimal digest as a file's name."""
    return base64.b32encode(bytes.fromhex(key)).decode().rstrip("=")
