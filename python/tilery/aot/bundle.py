"""Entries of a bundle, and bundles that are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tilery import _native

from ..errors import error, with_article

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
        if not isinstance(data, bytes):
            message = f"a library is made of a bundle's bytes, got {with_article(type(data).__name__)}"
            raise error(TypeError, message, hint="aot.Library.open(path) reads a file")
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
        """Runs an entry on tensors and numbers, where its tensors lie. Those that it writes are changed in place.

        Programs of NineToothed and TileLang go by the strides of tensors, also by such as are negative or 0, or refuse them. For
        those of Tileon and Triton a tensor is the address of its first element, as in any launch: strides are numbers that the
        call passes.

        Tensors may share memory as far as there is code for it: of Tileon and NineToothed always, of TileLang where neither is
        written. Such a call does what its programs say, each in its order; what one program writes and another reads depends on
        which runs first, as in any launch (`debug=True` at a launch reports it).

        :param grid: extents of the grid, for kernels that do not compute it (Tileon, Triton).
        :raises tilery.KeyError: there is no such entry.
        :raises tilery.TypeError: an argument is of another type or number of dimensions.
        :raises tilery.ValueError: sizes do not fit, a tensor to be written is read-only, or the grid is none.
        :raises tilery.OverflowError: an integer does not fit its type.
        :raises tilery.RuntimeError: the bundle has no code for this kind of call or machine; the message names the condition.
        """
        if name not in self._numbers:
            raise error(KeyError, f"the bundle has no entry `{name}`", hint=f"it has {', '.join(self._numbers)}")
        other_types, reasons = [], []
        for number in self._numbers[name]:
            try:
                why = self._bundle.call(number, arguments, grid)
            except TypeError as e:  # tensors of other types than this entry's
                other_types.append(e)
                continue
            if why is None:
                return
            reasons.append(why)
        if other_types and len(self._numbers[name]) == 1:
            raise other_types[0]
        reasons = reasons or [str(each).splitlines()[0] for each in other_types]
        told = "; or ".join(dict.fromkeys(reasons))
        raise error(RuntimeError, f"`{name}` was not compiled for this kind of call or machine: {told}")
