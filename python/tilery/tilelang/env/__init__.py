"""The environment of upstream's compiler, as far as it means something here."""

from __future__ import annotations

import os

from tilery import _native

from ...core import cache as _cache

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


class Environment:
    """Folders and switches: those of the disk cache are Tilery's, a toolkit's are empty."""

    CUDA_HOME = TILELANG_TEMPLATE_PATH = CUTLASS_INCLUDE_DIR = TVM_IMPORT_PYTHON_PATH = ""
    enable_cache = staticmethod(enable_cache)
    disable_cache = staticmethod(disable_cache)
    is_cache_enabled = staticmethod(is_cache_enabled)

    @property
    def TILELANG_CACHE_DIR(self) -> str:
        """The folder of the disk cache."""
        return str(_native.cache_folder())

    @property
    def TILELANG_TMP_DIR(self) -> str:
        return os.path.join(self.TILELANG_CACHE_DIR, "tmp")

    def get_default_target(self) -> str:
        return os.environ.get("TILELANG_DEFAULT_TARGET", "auto")

    def get_default_execution_backend(self) -> str:
        return os.environ.get("TILELANG_EXECUTION_BACKEND", "auto")

    def get_default_verbose(self) -> bool:
        return os.environ.get("TILELANG_VERBOSE", "0").lower() in ("1", "true", "yes", "on")


env = Environment()
