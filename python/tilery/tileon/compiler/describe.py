"""Kinds of calls in the words of signatures, also as text that another process reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...errors import error
from .._utils import canonicalize_dtype

Path = tuple[int, ...]


def described(compiled: Any) -> tuple[dict[str, Any], dict[Path, Any]]:
    """({parameter: its type, or a tuple of types}, {path: value known at compile time}) of a compiled kernel."""
    constants: dict[Path, Any] = {}
    leaves = iter(compiled.arguments)
    structure = compiled.structure or (None,) * len(compiled.arguments)
    names = compiled.jit_function.arg_names
    return {name: _type((i,), d, leaves, constants) for i, (name, d) in enumerate(zip(names, structure))}, constants


def _type(path: Path, description: Any, leaves: Iterator[tuple[Any, ...]], constants: dict[Path, Any]) -> Any:
    if description is None:
        return _leaf(path, next(leaves), constants)
    kind, *rest = description
    if kind == "constant":
        constants[path] = rest[1]
        return "constexpr"
    if kind == "tuple":
        parts = [_type((*path, i), d, leaves, constants) for i, d in enumerate(rest[1:])]
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
    signature, constants = described(compiled)
    return {
        "signature": signature,
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
    signature = {name: _tuples(kind) for name, kind in data["signature"].items()}
    return signature, {path: _tuples(v) for path, v in constants.items()}, {tuple(path): v for path, v in data["attrs"]}


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (tuple, list)):
        return [_plain(v) for v in value]
    return {"text": str(value)}
