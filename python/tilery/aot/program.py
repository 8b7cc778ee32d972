"""A kernel out of a program's file."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from ..errors import error
from ..frontend.wording import did_you_mean


def load(path: str | Path, name: str) -> Any:
    """What the file's top has under a name. The file is imported, not run as `__main__`, with its folder on the path.

    :raises tilery.OSError: there is no such file.
    :raises tilery.AttributeError: there is no such name in it."""
    path = Path(path).resolve()
    if not path.is_file():
        raise error(OSError, f"there is no file {str(path)!r}")
    sys.path.insert(0, str(path.parent))
    try:
        spec = importlib.util.spec_from_file_location(f"tilery_program_{path.stem}", path)
        if spec is None or spec.loader is None:
            raise error(OSError, f"{path.name} is no Python file", hint="its name ends in .py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # dataclasses look there
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    if not hasattr(module, name):
        raise error(AttributeError, f"{path.name} has no kernel `{name}`", hint=did_you_mean(name, vars(module)))
    return getattr(module, name)
