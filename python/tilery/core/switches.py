"""Environment variables that are on or off."""

from __future__ import annotations

import os


def is_on(text: str) -> bool:
    """1, true, on, yes and y, in any case."""
    return text.lower() in ("1", "true", "on", "yes", "y")


def switch(name: str, default: bool = False) -> bool:
    """Is the environment variable on?"""
    text = os.environ.get(name)
    return default if not text else is_on(text)
