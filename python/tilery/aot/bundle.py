"""Entries of a bundle, and bundles that are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tilery import _native

from ..errors import error

# (kind, argument, dimension, value): see BundleCondition of include/tilery/bundle.h.
Condition = tuple[str, int, int, int]


@dataclass
class Parameter:
    """What an entry takes at one place.

    :param rank: of a tensor; None: a number.
    :param only_chooses: an integer that says which variant is meant and that no program gets.
    :param ignored: C callers and Python callers give it, and nothing gets it.
    :param jagged_dim: of what lies in memory of a tensor whose rows differ in length in this dimension. Where its rows begin and
        the length of the longest are the two parameters behind it; a caller in Python gives one nested tensor for all three.
    :param in_c: the type that a C caller's pointer to a number points to, `dtype` if not given.
    """

    name: str
    dtype: str
    rank: int | None = None
    only_chooses: bool = False
    in_c: str | None = None
    ignored: bool = False
    jagged_dim: int | None = None


@dataclass
class Variant:
    """Code for calls that meet all conditions. ``without_boxes``: for a GPU's launches that its copy engine does not take."""

    image: bytes
    conditions: list[Condition] = field(default_factory=list)
    without_boxes: bytes = b""


@dataclass
class Entry:
    """A function of a bundle: the first variant whose conditions hold runs. Entries of one name are one function: the first one
    that has a variant for a call takes it.

    :param takes_grid: the caller gives the grid (Tileon, Triton); otherwise the program computes it.
    """

    name: str
    parameters: list[Parameter]
    variants: list[Variant]
    takes_grid: bool = False

    @property
    def taken(self) -> list[Parameter]:
        return [p for p in self.parameters if not p.ignored]


def _plain(p: Parameter) -> tuple[str, str, int, bool, str]:
    return p.name, p.dtype, -1 if p.rank is None else p.rank, p.only_chooses, p.in_c or p.dtype


def packed(entries: Sequence[Entry]) -> bytes:
    """The bundle's bytes."""
    return _native.bundle(
        [
            (
                entry.name,
                [_plain(p) for p in entry.taken],
                entry.takes_grid,
                [(v.conditions, v.image, v.without_boxes) for v in entry.variants],
            )
            for entry in entries
        ]
    )


class Library:
    """A bundle in this process.

    :raises tilery.RuntimeError: if the bytes are no bundle of this version.
    """

    def __init__(self, data: bytes) -> None:
        self._bundle = _native.Bundle(data)
        self._numbers: dict[str, list[int]] = {}
        for number, name in enumerate(self._bundle.names):
            self._numbers.setdefault(name, []).append(number)

    def __repr__(self) -> str:
        return f"<library of {', '.join(self._numbers)}>"

    @classmethod
    def open(cls, path: str | Path) -> Library:
        return cls(Path(path).read_bytes())

    @property
    def names(self) -> list[str]:
        return list(self._numbers)

    def call(self, name: str, *arguments: Any, grid: Sequence[int] | None = None) -> None:
        """Runs an entry on tensors and numbers, where its tensors lie.

        :raises tilery.RuntimeError: if the bundle has no code for this kind of call or machine.
        """
        if name not in self._numbers:
            raise error(KeyError, f"the bundle has no entry `{name}`", hint=f"it has {', '.join(self._numbers)}")
        refused = None
        for number in self._numbers[name]:
            try:
                if self._bundle.call(number, arguments, grid):
                    return
            except TypeError as e:  # tensors of other types than this entry's
                refused = e
        if refused and len(self._numbers[name]) == 1:
            raise refused
        raise error(RuntimeError, f"`{name}` was not compiled for this kind of call or machine")
