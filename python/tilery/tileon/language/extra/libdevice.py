"""Elementwise functions under the names of CUDA's libdevice."""

from ....core.tile.libdevice import __all__, __dir__, __getattr__  # noqa: F401
