"""Integer expressions: sizes and block sizes."""

from tilery._native.arrange import Symbol, block_size

__all__ = ["Symbol", "block_size"]
