"""Files that programs keep beside compiled kernels, by key. Code itself lies in the compiler's own cache (TILERY_CACHE_DIR)."""

from __future__ import annotations

import base64
import json
import os
import uuid
from abc import ABC, abstractmethod
from typing import Any

from .. import knobs
from ..compiler.key import triton_key


class CacheManager(ABC):
    """The files of one key."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        pass

    @abstractmethod
    def get_file(self, filename: str) -> str | None:
        """The path of a file; None: there is none."""

    @abstractmethod
    def put(self, data: bytes | str, filename: str, binary: bool = True) -> str:
        """Writes a file, whole or not at all, and returns its path."""

    @abstractmethod
    def get_group(self, filename: str) -> dict[str, str] | None:
        """{name: path} of files that belong together; None: some are not there."""

    @abstractmethod
    def put_group(self, filename: str, group: dict[str, str]) -> str:
        """Says which files belong together."""


class FileCacheManager(CacheManager):
    """In a folder of knobs.cache.dir; with `dump` of its dump_dir, with `override` of its override_dir."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        self.key = key
        root = knobs.cache.dump_dir if dump else knobs.cache.override_dir if override else knobs.cache.dir
        if not root:
            raise RuntimeError("Could not create or locate cache dir")
        self.cache_dir = os.path.join(root, key)
        self.lock_path: str | None = None
        if not override:
            self.lock_path = os.path.join(self.cache_dir, "lock")
            os.makedirs(self.cache_dir, exist_ok=True)

    def _make_path(self, filename: str) -> str:
        return os.path.join(self.cache_dir, filename)

    def has_file(self, filename: str) -> bool:
        return os.path.exists(self._make_path(filename))

    def get_file(self, filename: str) -> str | None:
        return self._make_path(filename) if self.has_file(filename) else None

    def get_group(self, filename: str) -> dict[str, str] | None:
        path = self.get_file(f"__grp__{filename}")
        if path is None:
            return None
        with open(path, encoding="utf-8") as file:
            children = json.load(file).get("child_paths")
        if children is None or not all(os.path.exists(child) for child in children.values()):
            return None
        return children

    def put_group(self, filename: str, group: dict[str, str]) -> str:
        return self.put(json.dumps({"child_paths": group}), f"__grp__{filename}", binary=False)

    def put(self, data: bytes | str, filename: str, binary: bool = True) -> str:
        if self.lock_path is None:
            raise RuntimeError("Could not create or locate cache dir")
        path = self._make_path(filename)
        temporary = f"{path}.{os.getpid()}.{uuid.uuid4().hex}"
        with open(temporary, "wb") as file:
            file.write(data if isinstance(data, bytes) else str(data).encode())
        os.replace(temporary, path)
        return path


class RemoteCacheBackend(ABC):
    """Where a RemoteCacheManager keeps bytes."""

    def __init__(self, key: str) -> None:
        self.key = key

    @abstractmethod
    def get(self, filenames: list[str]) -> dict[str, bytes]:
        """The bytes of those that are there."""

    @abstractmethod
    def put(self, filename: str, data: bytes) -> None:
        """Keeps bytes."""


class RedisRemoteCacheBackend(RemoteCacheBackend):
    """In Redis, at knobs.redis.host and port."""

    def __init__(self, key: str) -> None:
        import redis  # type: ignore[import-not-found]

        super().__init__(key)
        self._redis = redis.Redis(host=knobs.redis.host, port=knobs.redis.port)

    def _name(self, filename: str) -> str:
        return knobs.redis.key_format.format(key=self.key, filename=filename)

    def get(self, filenames: list[str]) -> dict[str, bytes]:
        found = self._redis.mget([self._name(f) for f in filenames])
        return {name: data for name, data in zip(filenames, found) if data is not None}

    def put(self, filename: str, data: bytes) -> None:
        self._redis.set(self._name(filename), data)


class RemoteCacheManager(CacheManager):
    """In what knobs.cache.remote_manager_class names, with files of this machine for what was read from there."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        backend = knobs.cache.remote_manager_class
        if backend is None:
            raise RuntimeError("RemoteCacheManager needs TRITON_REMOTE_CACHE_BACKEND, the class of its backend")
        self._override, self._dump = override, dump
        self._backend = backend(key)
        self._files = FileCacheManager(key, override=override, dump=dump)

    def _materialize(self, filename: str, data: bytes) -> str:
        return self._files.put(data, filename, True)

    def get_file(self, filename: str) -> str | None:
        if self._override or self._dump:
            return self._files.get_file(filename)
        found = self._backend.get([filename])
        return self._materialize(filename, found[filename]) if filename in found else None

    def put(self, data: bytes | str, filename: str, binary: bool = True) -> str:
        data = data if isinstance(data, bytes) else str(data).encode()
        if not (self._override or self._dump):
            self._backend.put(filename, data)
        return self._files.put(data, filename, binary)

    def get_group(self, filename: str) -> dict[str, str] | None:
        if self._override or self._dump:
            return self._files.get_group(filename)
        path = self.get_file(f"__grp__{filename}")
        if path is None:
            return None
        with open(path, encoding="utf-8") as file:
            names = json.load(file)
        found = self._backend.get(names)
        if set(found) != set(names):
            return None
        return {name: self._materialize(name, data) for name, data in found.items()}

    def put_group(self, filename: str, group: dict[str, str]) -> str:
        return self.put(json.dumps(sorted(group)), f"__grp__{filename}", binary=False)


def _base32(key: str) -> str:
    """A hex digest in characters that file systems without case take."""
    return base64.b32encode(bytes.fromhex(key)).decode().rstrip("=")


def _manager(key: str, **kinds: bool) -> CacheManager:
    return (knobs.cache.manager_class or FileCacheManager)(_base32(key), **kinds)


def get_cache_manager(key: str) -> CacheManager:
    """The files of a key (a hex digest)."""
    return _manager(key)


def get_override_manager(key: str) -> CacheManager:
    return _manager(key, override=True)


def get_dump_manager(key: str) -> CacheManager:
    return _manager(key, dump=True)


def get_cache_key(src: Any, backend: Any, backend_options: Any, env_vars: Any = None) -> str:
    """What a compilation hangs on, as text."""
    parts = [triton_key(), src.hash(), backend.hash(), backend_options.hash(), str(sorted((env_vars or {}).items()))]
    return "-".join(parts)


def make_so_cache_key(version_hash: str, signature: Any, constants: Any, ids: Any, **kwargs: Any) -> str:
    """A digest for the name of a library made for a signature."""
    import hashlib  # milliseconds

    text = f"{version_hash}-{sorted(map(str, signature.values()))}-{constants}-{ids}-{sorted(kwargs.items())}"
    return _base32(hashlib.sha256(text.encode()).hexdigest())
