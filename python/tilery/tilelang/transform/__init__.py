"""Switches of upstream's passes."""

from .pass_config import PassConfigKey

__all__ = ["PassConfigKey"]
