"""The base of upstream's error classes: every error of ours is one."""

from ..errors import Error as TritonError

__all__ = ["TritonError"]
