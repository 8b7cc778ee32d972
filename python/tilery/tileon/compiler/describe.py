"""Kinds of calls in the words of signatures, also as text that another process reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...errors import error
from .._utils import canonicalize_dtype

Path = tuple[int, ...]


KNOWN = "known"  # in a description: a number inside a structure that is 1, or None, and so known


def described(compiled: Any, inside: str = "constexpr") -> tuple[dict[str, Any], dict[Path, Any]]:
    """({parameter: its type, or a tuple of types}, {path: value known at compile time}) of a compiled kernel. inside: what stands
    for numbers inside structures that are known because of their value."""
    constants: dict[Path, Any] = {}
    leaves = iter(compiled.arguments)
    structure = compiled.structure or (None,) * len(compiled.arguments)
    names = compiled.jit_function.arg_names
    pairs = enumerate(zip(names, structure))
    return {name: _type((i,), d, leaves, constants, inside) for i, (name, d) in pairs}, constants


def _type(path: Path, description: Any, leaves: Iterator[Any], constants: dict[Path, Any], inside: str) -> Any:
    if description is None:
        found = _leaf(path, next(leaves), constants)
        return inside if found == "constexpr" and len(path) > 1 else found
    kind, *rest = description
    if kind == "constant":
        constants[path] = rest[1]
        return "constexpr"
    if kind == "tuple":
        parts = [_type((*path, i), d, leaves, constants, inside) for i, d in enumerate(rest[1:])]
        return tuple(parts) if rest[0] is tuple else rest[0](*parts)
    rank, block, _ = rest
    element = next(leaves)[1]
    for _ in range(2 * rank - 1):
        next(leaves)
    return f"tensordesc<{canonicalize_dtype(element)}{list(block)}>"


def _leaf(path: Path, argument: tuple[Any, ...], constants: dict[Path, Any]) -> str:
    _, *known = argument
    if len(known) == 1:
        constants[path] = known[0]
        return "constexpr"
    element, pointer, const, _ = known
    return ("*k" if const else "*" if pointer else "") + canonicalize_dtype(element)


def divisors(compiled: Any) -> dict[Path, list[list[Any]]]:
    """{path: [["tt.divisibility", 16]]} of a compiled kernel's arguments; none of those inside structures."""
    if compiled.structure is not None:
        return {}
    pairs = enumerate(compiled.arguments)
    return {(i,): [["tt.divisibility", a[4]]] for i, a in pairs if len(a) > 2 and a[4] > 1}


def write_description(compiled: Any) -> dict[str, Any]:
    """What `read_description` reads, as JSON has it."""
    signature, constants = described(compiled, KNOWN)
    return {
        "signature": signature,
        "options": {name: _plain(value) for name, value in compiled.given.items()},
        "constants": [[list(path), _plain(value)] for path, value in constants.items()],
        "attrs": [[list(path), value] for path, value in divisors(compiled).items()],
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
