"""The fastest of a few configurations by timing, for users who ask for it; otherwise a model chooses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tilery import _native

from ..core.arrays import copied as copied_tensor
from ..core.progress import Progress
from ..core.timing import measure
from ..errors import error
from ..frontend.fingerprint import sha256
from .jagged import Rows

MOST = 8  # configurations that are timed


def wanted() -> bool:
    """Has the user asked for timing? TILERY_TUNE=1 does."""
    return bool(_native.environment_switch("TILERY_TUNE"))


def fastest(
    name: str,
    key: str | None,
    candidates: Sequence[Mapping[str, Any]],
    run: Callable[[Mapping[str, Any]], Any],
    same: Callable[[Mapping[str, Any], Mapping[str, Any]], bool] = lambda timed, other: False,
) -> Mapping[str, Any]:
    """The candidate whose `run` takes least time; one that raises RuntimeError is not chosen.

    :param name: of the kernel, for the progress bar, which is drawn where standard error is a terminal.
    :param key: what the result depends on beside the candidates, to remember it on disk; None: it is not remembered.
    :param same: does a candidate that has been timed run the same code as another one? That one is left out.
    :raises RuntimeError: if every candidate does.
    """
    import json

    digest = key and sha256(repr((_native.build_id(), key, candidates)).encode()).hexdigest()
    known = digest and _native.cache_get("tuned", digest)
    if known:
        return candidates[json.loads(known)["fastest"]]
    times, failure = [], None
    with Progress(f"tuning {name}", len(candidates)) as bar:
        for number, candidate in enumerate(bar.each(candidates)):
            if any(same(candidates[timed], candidate) for _, timed in times):
                continue
            try:
                times.append((measure(lambda c=candidate: run(c), warmup=5, rep=25, mode="median"), number))
            except RuntimeError as e:
                failure = e
    if not times:
        raise error(RuntimeError, f"no configuration of kernel `{name}` could be run") from failure
    best = min(times)[1]
    if digest:
        _native.cache_put("tuned", digest, json.dumps({"kernel": name, "fastest": best, "times": times}).encode())

    return candidates[best]


def copies(arguments: Sequence[Any]) -> list[Any]:
    """The arguments with tensors of their own, laid out alike; the same tensor stays the same one."""
    made: dict[int, Any] = {}

    def copied(value: Any) -> Any:
        if isinstance(value, Rows):
            result = object.__new__(Rows)
            result.__dict__.update(value.__dict__)
            result.parts = (copied(value.parts[0]), *value.parts[1:])
            return result
        if id(value) not in made:
            made[id(value)] = copied_tensor(value)
        return made[id(value)]

    return [copied(value) for value in arguments]
