"""Modules that outlive their compilation."""

from __future__ import annotations

from collections.abc import Callable

from tilery import _native

from . import ignored


class Kept:
    """A module, and once it is settled its text: each module has a context of MLIR's, a quarter of a megabyte, and few are
    asked for again when there is code."""

    def __init__(self, module: _native.Module | None = None, text: str = "") -> None:
        self._module, self._text = module, text
        self.ignored: tuple[ignored.Ignored, ...] = ()

    @classmethod
    def of(cls, trace: Callable[[], _native.Module], shared: str = "tl") -> Kept:
        """What `trace` builds, with the options that its program sets in vain. shared: see `recording`."""
        with ignored.recording(shared) as told:
            kept = cls(trace())
        kept.ignored = tuple(told)
        return kept

    @property
    def module(self) -> _native.Module:
        return self._module if self._module is not None else _native.Module.parse(self._text)

    @property
    def text(self) -> str:
        """The module's IR with all that `module` needs."""
        return self._module.text(locations=True) if self._module is not None else self._text

    def settle(self) -> None:
        """From here on only the text is kept."""
        self._text, self._module = self.text, None
