"""Upstream's place of `get_mxfp_intrin_group`."""

from .decoders import get_mxfp_intrin_group

__all__ = ["get_mxfp_intrin_group"]
