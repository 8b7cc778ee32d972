"""The language as upstream's CPU target has it: the same one."""

from .. import language

__all__ = ["language"]
