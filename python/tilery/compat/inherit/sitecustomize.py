"""Hands the mapping of `tilery run` to child Python processes: this folder leads their PYTHONPATH."""

import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if os.path.abspath(path) != _HERE]
_next = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
if os.environ.get("TILERY_COMPAT") in ("1", "told"):
    import tilery.compat

    tilery.compat.install()

# We stand in front of the site's own file, which still has its say.
if _next is not None and _next.loader is not None:
    _next.loader.exec_module(importlib.util.module_from_spec(_next))
