"""`from tilery import triton`: the language of tilery.tileon under its other name."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from . import tileon
from .core import alias

_OURS = tileon.__name__


class _Finder:
    """Modules that are imported later: the same ones, not copies of them."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        return alias.spec(fullname, _OURS + fullname[len(__name__) :]) if fullname.startswith(__name__ + ".") else None


sys.modules[__name__] = tileon
alias.share(__name__, _OURS)
sys.meta_path.insert(0, _Finder())
