"""The environment of upstream's compiler, as far as it means something here."""

from __future__ import annotations

import os

from tilery import _native

from ...core import cache as _cache
from ...core.switches import is_on

__all__ = ["env", "disable_cache", "enable_cache", "is_cache_enabled"]


def enable_cache() -> None:
    """Compiled code is looked up and kept on disk (the default; TILERY_CACHE_DIR says where)."""
    _cache.enabled = True


def disable_cache() -> None:
    """Compiled code is neither looked up nor kept on disk from here on."""
    _cache.enabled = False


def is_cache_enabled() -> bool:
    """Is compiled code kept on disk?"""
    return _cache.enabled


_DEFAULTS = {
    "TILELANG_PRINT_ON_COMPILATION": "1",
    "TILELANG_AUTO_TUNING_CPU_UTILITIES": "0.9",
    "TILELANG_AUTO_TUNING_CPU_COUNTS": "-1",
    "TILELANG_AUTO_TUNING_MAX_CPU_COUNT": "-1",
}


class Environment:
    """Folders and switches: those of the disk cache are Tilery's, a toolkit's are empty. Others have the value that was assigned,
    that of the environment variable of this name, or upstream's; nothing here depends on them."""

    CUDA_HOME = ROCM_HOME = TILELANG_TEMPLATE_PATH = CUTLASS_INCLUDE_DIR = TVM_IMPORT_PYTHON_PATH = ""
    enable_cache = staticmethod(enable_cache)
    disable_cache = staticmethod(disable_cache)
    is_cache_enabled = staticmethod(is_cache_enabled)

    def __getattr__(self, name: str) -> str:
        if not name.startswith("TILELANG_"):
            raise AttributeError(f"the environment has no {name}")
        return os.environ.get(name, _DEFAULTS.get(name, self._folder(name)))

    def _folder(self, name: str) -> str:
        if name == "TILELANG_CACHE_DIR":
            return str(_native.cache_folder())
        return os.path.join(self.TILELANG_CACHE_DIR, "tmp") if name == "TILELANG_TMP_DIR" else "0"

    def get_default_target(self) -> str:
        return os.environ.get("TILELANG_DEFAULT_TARGET", "auto")

    def get_default_execution_backend(self) -> str:
        return os.environ.get("TILELANG_EXECUTION_BACKEND", "auto")

    def get_default_verbose(self) -> bool:
        return self._is_on("TILELANG_VERBOSE")

    def is_print_on_compilation_enabled(self) -> bool:
        return self._is_on("TILELANG_PRINT_ON_COMPILATION")

    def _is_on(self, name: str) -> bool:
        text = str(getattr(self, name))
        return text != "" and is_on(name, text)


env = Environment()


def __getattr__(name: str) -> str:
    """Folders, as values of the module."""
    if name.startswith("__"):
        raise AttributeError(name)
    return str(getattr(env, name))
