"""The fastest of several functions for each kind of arguments, found by timing and remembered on disk."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tilery import _native

from ..core.timing import measure
from ..errors import error
from ..frontend.wording import counted


class AutoTuner:
    """Calls the fastest of `funcs`, which are timed when arguments of a new kind are met.

    Timing calls every function many times with the arguments of the call. A function that raises RuntimeError is not chosen.

    :param keys: a text for each function; times are remembered under it for later processes.
    :raises ValueError: if there are no functions, or not as many keys.
    """

    def __init__(self, funcs: Sequence[Callable[..., Any]], keys: Sequence[str]) -> None:
        self._funcs, self._keys = tuple(funcs), tuple(str(key) for key in keys)
        if not self._funcs or len(self._funcs) != len(self._keys):
            raise error(ValueError, f"a tuner takes functions and a key for each, got {len(self._funcs)} and {len(self._keys)}")
        self._folder = Path(_native.cache_folder() or tempfile.gettempdir()) / "auto_tuning"
        self._cache_path = self._path("\n".join(self._keys))
        self._best_func: dict[str, Callable[..., Any]] = {}

    def __repr__(self) -> str:
        return f"<autotuner of {counted(len(self._keys), 'function')}: {', '.join(self._keys)}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        key = self._make_arg_key(args, kwargs)
        best = self._best_func.get(key)
        if best is None:
            best = self._best_func[key] = self._choose(key, args, kwargs)

        return best(*args, **kwargs)

    @staticmethod
    def _make_arg_key(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        """What decides between functions: shapes and types of tensors, other arguments as text."""

        def text(arg: Any) -> str:
            if hasattr(arg, "shape") and hasattr(arg, "dtype"):
                return f"tensor(shape={tuple(arg.shape)}, dtype={arg.dtype})"
            return str(arg)

        return ", ".join([*map(text, args), *(f"{name}={text(arg)}" for name, arg in kwargs.items())])

    def _get_func_cache_path(self, func: Callable[..., Any]) -> Path:
        return self._path(self._keys[self._funcs.index(func)])

    def _path(self, key: str) -> Path:
        return self._folder / (hashlib.sha256(f"{_native.build_id()}\n{key}".encode()).hexdigest() + ".json")

    def _choose(self, key: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Callable[..., Any]:
        known = _read(self._cache_path).get(key)
        if known in self._keys:
            return self._funcs[self._keys.index(known)]
        times, failure = [], None
        for func in self._funcs:
            path = self._get_func_cache_path(func)
            time = _read(path).get(key)
            if not isinstance(time, float):
                try:
                    time = float(measure(lambda func=func: func(*args, **kwargs), 25, 100))  # type: ignore[misc,arg-type]
                    _add(path, key, time)
                except RuntimeError as e:
                    time, failure = math.inf, e
            times.append(time)
        best = min(range(len(times)), key=times.__getitem__)
        if failure is not None and times[best] == math.inf:
            raise failure
        _add(self._cache_path, key, self._keys[best])

        return self._funcs[best]


def _read(path: Path) -> dict[str, Any]:
    """What a file remembers; nothing if it is not there or not whole."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}

    return found if isinstance(found, dict) else {}


def _add(path: Path, key: str, value: Any) -> None:
    """Puts an entry into a file, which readers see before or after, never in between; without a place to write, nowhere."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "w") as file:
            json.dump(_read(path) | {key: value}, file)
        os.replace(name, path)
