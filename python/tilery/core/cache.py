"""Compiled code from the disk cache: a warm start neither traces nor compiles.

A manifest entry leads from a function, all it may read, and the specialisation to the key of its IR, and to the options that
its program sets in vain; a code entry from that key to an image. Programs with the same IR share code.
Keys hold the build of the compiler, these sources, and the target."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

from tilery import _native

from ..frontend.fingerprint import fingerprint, sha256
from . import apart
from .ignored import Ignored
from .kept import Kept

enabled = True  # a program may switch the disk cache off
# Part of every key. 2: entries of 1 may hold code of a text that was edited after its function had been imported.
# 3: those of 2 know no ignored options.
_FORMAT = 3


def folder() -> str:
    """Where the disk cache lies; empty: there is none."""
    return _native.cache_folder() if enabled else ""


@functools.lru_cache(maxsize=None)
def sources() -> str:
    """A digest of this package's own sources: they decide what a trace builds."""
    folders = [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
    found = []
    for folder in folders:
        found.append(folder)
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda e: e.name):
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    found.append(f"{entry.name} {status.st_mtime_ns} {status.st_size}")
                elif entry.name != "__pycache__" and entry.is_dir():
                    folders.append(entry.path)
    return sha256("\n".join(found).encode()).hexdigest()


def target_of(device: int) -> str:
    """What _native.compile makes code for on that GPU, by its number; on this machine's processor: -1."""
    return "host" if device < 0 else _native.gpu_target(device)


def stages(module: _native.Module, device: int, options: dict[str, Any], target: str | None = None) -> dict[str, str]:
    """{"tile": IR before the passes, "passes": after them, "plan": what the target makes of it, "llvm", "asm"}: what `image`
    compiles for these, as text."""
    return stages_of(module, made(module, device, options, target))


def made(module: _native.Module, device: int, options: dict[str, Any], target: str | None = None) -> Any:
    """What `image` compiles for these, with all texts."""
    return apart.compiled(module, **options, target=target or target_of(device), texts=True)


def stages_of(module: _native.Module, compiled: Any) -> dict[str, str]:
    return {"tile": module.text(), "passes": compiled.tile, "plan": compiled.plan, "llvm": compiled.llvm, "asm": compiled.asm}


def _compile(module: _native.Module, device: int, options: dict[str, Any], text: str | None = None) -> bytes:
    image = apart.compiled(module, text, **options).image
    if device < 0:
        return image.to_bytes()
    code, gave_up = _native.try_assembled(image, device)
    if gave_up:
        other, still = _native.try_assembled(apart.compiled(module, text, **options, in_turn=True).image, device)
        code = _native.assembled(image, device) if still else other
    return code.to_bytes()


def fresh_image(module: _native.Module, device: int, options: dict[str, Any]) -> bytes:
    """What `image` would compile, whatever the cache holds."""
    return _compile(module, device, {**options, "target": options.get("target") or target_of(device)})


def check_once(function: Callable[..., Any], specialisation: Any, check: Callable[[], None]) -> None:
    """check(), unless it has passed before, maybe in another process, for this function and specialisation (plain values)."""
    if not recall("checked", function, specialisation):
        check()
        keep("checked", function, specialisation, b"checked")


def _found_key(what: str, function: Callable[..., Any], specialisation: Any) -> str | None:
    source = fingerprint(function, specialisation) if folder() else None
    return source and f"{_FORMAT}\n{_native.build_id()}\n{sources()}\n{what}\n{source}"


def recall(what: str, function: Callable[..., Any], specialisation: Any) -> bytes | None:
    """What `keep` was given for this function, all it may read, and the specialisation, maybe in another process."""
    key = _found_key(what, function, specialisation)
    return _native.cache_get("manifest", key) if key else None


def keep(what: str, function: Callable[..., Any], specialisation: Any, found: bytes) -> None:
    """Puts what was found into the disk cache, where there is one."""
    key = _found_key(what, function, specialisation)
    if key:
        _native.cache_put("manifest", key, found)


def image(
    function: Callable[..., Any] | None,
    specialisation: Any,
    build: Callable[[], Kept],
    device: int = -1,
    target: str | None = None,
    **options: Any,
) -> tuple[bytes, Sequence[Ignored]]:
    """The code of `function` for `specialisation` (plain values), as bytes, and the options that its program sets in vain:
    from the cache, or by build() and the compiler. function None: what the trace depends on is not known, so it runs, and only
    the compiler is spared.
    device: the number of the GPU it is for; -1: the CPU. target: another one than the device's, by name.
    options: those of _native.compile."""
    if target is not None:
        device = -1  # nothing here assembles it
    options["target"] = target or target_of(device)
    target = f"{_FORMAT}\n{_native.build_id()}\n{sources()}\n{_native.target_id(options['target'])}\n{sorted(options.items())}\n"
    source = fingerprint(function, specialisation) if function and folder() else None
    if source:
        found = _native.cache_get("manifest", target + source)
        key, _, told = found.decode().partition("\n") if found else ("", "", "")
        code = _native.cache_get("code", key) if key else None
        if code:
            return code, Ignored.of_text(told)
    kept = build()
    module = kept.module
    if not folder():
        return _compile(module, device, options), kept.ignored
    text = module.text(locations=True, hints=_native.hints_of(options["target"]))
    key = sha256((target + text).encode()).hexdigest()
    code = _native.cache_get("code", key)
    if not code:
        code = _compile(module, device, options, text)
        _native.cache_put("code", key, code)
    if source:
        _native.cache_put("manifest", target + source, f"{key}\n{Ignored.text_of(kept.ignored)}".encode())
    return code, kept.ignored
