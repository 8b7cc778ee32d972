"""Runs programs written for ninetoothed, tilelang, tileon or triton unchanged.

`install()` maps their import names to ours for this process and its Python children, and makes the device "cuda" mean
the CPU where there is no GPU. `tilery run prog.py` and `pytest -p tilery.compat` call it before any program is imported.
`load(path)` does the mapping for one file, in a process that may also use the real packages.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import sys
from types import ModuleType
from typing import Any

from . import device, mapping, told

_INHERIT = os.path.join(os.path.dirname(__file__), "inherit")
_loaded = itertools.count()


def install() -> None:
    """Maps the import names and applies the device rule in this process and in the Python processes it starts."""
    mapping.install()
    device.install()
    paths = [_INHERIT, *(os.path.dirname(path) for path in sys.modules["tilery"].__path__)]
    known = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path not in paths]
    os.environ["PYTHONPATH"] = os.pathsep.join([*paths, *known])
    os.environ.setdefault("TILERY_COMPAT", "1")  # or "told", by a process before this one
    if _INHERIT not in sys.path:
        sys.path.insert(1, _INHERIT)  # programs give their path to children as PYTHONPATH (torch's compile workers)


def load(path: str | os.PathLike[str]) -> ModuleType:
    """The module at `path`, whose own import statements of the mapped names see ours; nobody else's do."""
    path = os.path.abspath(path)
    stem = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(f"tilery_loaded_{stem}_{next(_loaded)}", path)
    assert spec is not None and spec.loader is not None  # of a file there always is one
    module = importlib.util.module_from_spec(spec)
    setattr(module, mapping.MARK, True)
    mapping.hook_statement()
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    return module


def pytest_addoption(parser: Any) -> None:
    """The earliest hook of a plugin given by `-p`: before conftest files are imported and before output is captured."""
    install()
    told.say()
