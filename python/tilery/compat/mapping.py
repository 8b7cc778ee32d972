"""The import names of upstream packages, mapped to ours for one process.

Two parties share `sys.modules`: the program and all its libraries, torch among them, whose `import triton` means ours, and real
packages of the mapped names that were imported before and mean themselves. So a meta-path finder alone is not enough: the import
statement itself asks who imports.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import importlib.util
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from ..core import alias
from . import torch_triton

NAMES = {
    "ninetoothed": "tilery.ninetoothed",
    "tilelang": "tilery.tilelang",
    "tileon": "tilery.tileon",
    "triton": "tilery.tileon",
    "tvm": "tilery.tilelang.tvm",
}
# What programs of these packages import beside them, where nobody else has it.
BESIDE = {"examples": "tilery.tilelang.examples", "tvm_ffi": "tilery.tilelang.tvm.ffi"}
# Modules of Triton whose import is one error that says why: to who looks for them first they are not there.
UNTAKEN = ("experimental.gluon",)
# A module of this mark (compat.load) sees ours, whatever the process sees.
MARK = "__tilery_compat__"


def translate(name: str) -> str | None:
    """Our module's name for an upstream module's name, or None."""
    root, dot, rest = name.partition(".")
    return NAMES[root] + dot + rest if root in NAMES else None


def importer(namespace: Mapping[str, Any]) -> str:
    """The top-level package whose code owns `namespace` (the globals of a frame)."""
    return (namespace.get("__name__") or "").partition(".")[0]


def is_upstream(namespace: Mapping[str, Any]) -> bool:
    """Whether this code belongs to a real package whose name we map (ours are called `tilery.*`)."""
    return importer(namespace) in NAMES


class _Finder:
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        ours = translate(fullname)
        if ours is None:
            return None
        if _upstream.depth:
            if fullname in NAMES and self._is_only_a_folder(fullname, path, target):
                raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
            return None
        return alias.spec(fullname, ours)

    def find_distributions(self, context: Any = None) -> Iterable[Any]:
        """What importlib.metadata asks for: programs look up the version of `triton` there."""
        from .metadata import distributions  # few programs ask

        return distributions(NAMES, getattr(context, "name", None))

    def _is_only_a_folder(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None) -> bool:
        """A folder of this name on the path, which is a namespace package to Python, is not upstream's package."""
        for finder in sys.meta_path:
            found = None if finder is self else finder.find_spec(fullname, path, target)
            if found is not None:
                return found.loader is None or found.origin is None
        return False


class _Last:
    """Asked when no other finder knows a name of BESIDE."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        root, dot, rest = fullname.partition(".")
        return alias.spec(fullname, BESIDE[root] + dot + rest) if root in BESIDE else None


class _Below:
    """Modules below one that `_Last` has found: Python would load them a second time from its folder."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        root, dot, rest = fullname.partition(".")
        if not dot or root not in BESIDE or getattr(sys.modules.get(root), "__name__", "") != BESIDE[root]:
            return None
        return alias.spec(fullname, f"{BESIDE[root]}.{rest}")


class _Upstream(threading.local):
    """`with upstream:` swaps the process's modules of the mapped names for the real ones."""

    depth = 0
    lock = threading.RLock()
    modules: dict[str, ModuleType] = {}

    @contextlib.contextmanager
    def view(self) -> Iterator[None]:
        if self.depth:
            yield
            return
        with self.lock:
            ours = _take()
            sys.modules.update(self.modules)
            self.depth = 1
            try:
                yield
            finally:
                self.depth = 0
                self.modules.clear()
                self.modules.update(_take())
                sys.modules.update(ours)


def _take() -> dict[str, ModuleType]:
    names = [name for name in sys.modules if name.partition(".")[0] in NAMES]
    return {name: sys.modules.pop(name) for name in names}


_upstream = _Upstream()
_finder = _Finder()
_import = builtins.__import__
_import_module = importlib.import_module
_find_spec = importlib.util.find_spec


def _import_ours(name: str, fromlist: Sequence[str] | None) -> ModuleType:
    """What the import statement does, without a trace in `sys.modules` under the upstream name."""
    root, dot, rest = name.partition(".")
    module = _import_module(NAMES[root] + dot + rest)
    if not fromlist:
        return _import_module(NAMES[root])
    for item in fromlist:
        if item != "*" and not hasattr(module, item):
            with contextlib.suppress(ModuleNotFoundError):
                _import_module(f"{module.__name__}.{item}")
    return module


def _import_statement(
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> ModuleType:
    if globals is not None:
        if level == 0:
            mapped = name.partition(".")[0] in NAMES
        else:
            mapped = (globals.get("__package__") or "").partition(".")[0] in NAMES
        if mapped:
            if globals.get(MARK):
                return _import_ours(name, fromlist)
            if installed() and is_upstream(globals):
                with _upstream.view():
                    return _import(name, globals, locals, fromlist, level)
    return _import(name, globals, locals, fromlist, level)


def _as_caller(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a function of importlib, which is called by name: the caller's frame says who asks."""

    def wrapped(name: str, package: str | None = None) -> Any:
        root, _, below = name.partition(".")
        if function is _find_spec and root in NAMES and below in UNTAKEN:
            return None  # who asks before importing takes another way
        if root in NAMES and is_upstream(sys._getframe(1).f_globals):
            with _upstream.view():
                try:
                    return function(name, package)
                except ModuleNotFoundError as e:
                    if function is _find_spec and e.name == name:
                        return None
                    raise
        return function(name, package)

    wrapped.__name__, wrapped.__doc__ = function.__name__, function.__doc__
    return wrapped


def hook_statement() -> None:
    """Makes the import statement ask who imports. Harmless for every module without MARK unless `install` was called."""
    builtins.__import__ = _import_statement


def installed() -> bool:
    return _finder in sys.meta_path


def install() -> None:
    """Maps the names for the whole process, real packages that were imported before included."""
    if installed():
        return
    _upstream.modules.update(_take())
    sys.meta_path.insert(0, _finder)
    sys.meta_path.insert(1, _Below())
    sys.meta_path.append(_Last())
    hook_statement()
    importlib.import_module = _as_caller(_import_module)
    importlib.util.find_spec = _as_caller(_find_spec)
    torch_triton.forget()
