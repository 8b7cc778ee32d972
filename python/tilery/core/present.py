"""Modules that a program may have imported."""

from __future__ import annotations

import importlib
import sys
from typing import Any


def present(name: str) -> Any:
    """The module, if the process has imported it, else None. What another thread is importing is waited for: `sys.modules` has it
    from the beginning, with half of its names."""
    return importlib.import_module(name) if name in sys.modules else None
