"""Upstream's place of `get_lop3_intrin_group`."""

from .decoders import get_lop3_intrin_group

__all__ = ["get_lop3_intrin_group"]
