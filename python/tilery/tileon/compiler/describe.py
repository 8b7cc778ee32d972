"""Kinds of calls in the words of signatures, also as text that another process reads."""

from __future__ import annotations

from typing import Any

from ...errors import error
from .._utils import canonicalize_dtype
from .source import KNOWN

Path = tuple[int, ...]


def described(compiled: Any) -> tuple[dict[str, Any], dict[Path, Any]]:
    """({parameter: its type, or a tuple of types}, {path: value known at compile time}) of a compiled kernel."""
    walk = _Walk(compiled, "constexpr")
    return walk.signature, walk.constants


def source_of(compiled: Any) -> tuple[dict[str, Any], dict[Path, Any], dict[Path, Any]]:
    """(signature, constants, attrs) of the ASTSource that describes a compiled kernel."""
    walk = _Walk(compiled, "constexpr")
    return walk.signature, walk.constants, walk.divisors


class _Walk:
    """A look at all arguments of a compiled kernel. inside: what stands for numbers inside structures that are known because of
    their value."""

    def __init__(self, compiled: Any, inside: str) -> None:
        self.inside = inside
        self.constants: dict[Path, Any] = {}
        self.divisors: dict[Path, list[list[Any]]] = {}
        self.leaves = iter(compiled.arguments)
        structure = compiled.structure or (None,) * len(compiled.arguments)
        names = compiled.jit_function.arg_names
        self.signature = {name: self._type((i,), d) for i, (name, d) in enumerate(zip(names, structure))}

    def _type(self, path: Path, description: Any) -> Any:
        if description is None:
            return self._leaf(path, next(self.leaves))
        kind, *rest = description
        if kind == "constant":
            self.constants[path] = rest[1]
            return "constexpr"
        if kind == "tuple":
            parts = [self._type((*path, i), d) for i, d in enumerate(rest[1:])]
            return tuple(parts) if rest[0] is tuple else rest[0](*parts)
        if kind == "coded":
            self._leaf(path, next(self.leaves))
            return f"*{rest[0]}"
        rank, _, *block = rest
        element = next(self.leaves)[1]
        for _ in range(2 * rank - 1):
            next(self.leaves)
        return f"tensordesc<{canonicalize_dtype(element)}{block}>"

    def _leaf(self, path: Path, argument: tuple[Any, ...]) -> str:
        _, *known = argument
        if len(known) == 1:
            self.constants[path] = known[0]
            return self.inside if len(path) > 1 else "constexpr"
        element, pointer, const, divisor = known
        if divisor > 1:
            self.divisors[path] = [["tt.divisibility", divisor]]
        return ("*k" if const else "*" if pointer else "") + canonicalize_dtype(element)


def write_description(compiled: Any) -> dict[str, Any]:
    """What `read_description` reads, as JSON has it."""
    walk = _Walk(compiled, KNOWN)
    return {
        "signature": walk.signature,
        "options": {name: _plain(value) for name, value in compiled.given.items()},
        "constants": [[list(path), _plain(value)] for path, value in walk.constants.items()],
        "attrs": [[list(path), value] for path, value in walk.divisors.items()],
    }


def read_description(kernel: Any, data: dict[str, Any]) -> tuple[dict[str, Any], dict[Path, Any], dict[Path, Any]]:
    """(signature, constants, attrs) of an ASTSource.

    :raises tilery.RuntimeError: a value has no text that is read back."""
    constants = {tuple(path): value for path, value in data["constants"]}
    for path, value in constants.items():
        if isinstance(value, dict):
            name = kernel.arg_names[path[0]]
            raise error(RuntimeError, f"the value of `{name}` cannot be read back from its text")
    signature = {name: as_tuples(kind) for name, kind in data["signature"].items()}
    return signature, {path: as_tuples(v) for path, v in constants.items()}, {tuple(path): v for path, v in data["attrs"]}


def as_tuples(value: Any) -> Any:
    """JSON's lists as the tuples that they were."""
    return tuple(map(as_tuples, value)) if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (tuple, list)):
        return [_plain(v) for v in value]
    return {"text": str(value)}
