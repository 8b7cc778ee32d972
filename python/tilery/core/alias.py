"""One module under two names: the same objects, so that types and constants of either are those of the other."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
from types import CodeType, ModuleType
from typing import Any

_find_spec, _import_module = importlib.util.find_spec, importlib.import_module


def spec(name: str, target: str) -> importlib.machinery.ModuleSpec | None:
    """How to import the module `target` as `name`; None if there is no such module."""
    found = _find_spec(target)
    loader: Any = _Alias(target)
    return found and importlib.machinery.ModuleSpec(name, loader, origin=found.origin)


def share(name: str, target: str) -> None:
    """Makes all that is loaded of the package `target` known under `name`, too. The import system names a module it loads in
    its package; where a package gave that name to something else (`from .driver import driver`), it would take it away."""
    for known in [k for k in sys.modules if k.startswith(target + ".")]:
        sys.modules.setdefault(name + known[len(target) :], sys.modules[known])


class _Alias:
    """A loader. Not by its base: importlib.abc imports 30 modules in some versions of Python, 10 ms."""

    def __init__(self, target: str) -> None:
        self.target = target

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = _import_module(self.target)
        self.name, self.spec = spec.name, module.__spec__
        return module

    def get_code(self, name: str) -> CodeType:
        """What `python -m NAME` runs: the target as a program, with its imports relative to its own package."""
        text = f"import runpy\nrunpy.run_module({self.target!r}, run_name='__main__', alter_sys=True)"
        return compile(text, name, "exec")

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec
        share(self.name, self.target)
