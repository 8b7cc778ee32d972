"""Applications of which the code shows that they assign none of their parameters: a launch would change nothing."""

from __future__ import annotations

import builtins
import dis
import types
from collections.abc import Callable, Sequence
from typing import Any

from ..core.frames import of_function
from ..errors import error

# Beside names: what may lie in a parameter, or in what one belongs to.
_STORES = ("STORE_SUBSCR", "STORE_SLICE", "STORE_ATTR", "STORE_DEREF", "STORE_GLOBAL", "STORE_NAME")
_PURE = set("sum max min argmax argmin dot zeros zeros_like full where arange cast to shape dtype trans permute reshape".split())
_PURE |= {f"{kind}{bits}" for kind in ("float", "int", "uint") for bits in (8, 16, 32, 64)} | {"bfloat16", "T", "ndim"}
_LANGUAGES = ("tilery", "ninetoothed", "triton", "builtins", "math")


def refuse_forgotten(application: Callable[..., Any], names: Sequence[str]) -> None:
    """:raises TypeError: the application computes with its parameters, assigns none of them, and calls nothing that might.

    Those that return something are refused when they are traced, and those that do nothing at all are taken."""
    code = getattr(application, "__code__", None)
    if code is None:
        return
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("CACHE", "NOP", "EXTENDED_ARG")]
    mentioned = {name for step in steps if step.opname.startswith("LOAD_FAST") for name in _names_of(step)} & {*names}
    if not mentioned or any(_may_write(step, before, names) for step, before in zip(steps, [None, *steps])):
        return
    if any(isinstance(c, types.CodeType) for c in code.co_consts) or not all(map(_is_ours, _outside(application, steps))):
        return
    if not all(map(_is_pure, (step.argval for step in steps if step.opname in ("LOAD_ATTR", "LOAD_METHOD")))):
        return
    raise error(
        TypeError,
        f"`{application.__name__}` assigns none of its parameters: a launch changes nothing",
        hint=f"assign the result to one of them: `{names[-1]} = ...`",
        chain=of_function(application),
    )


def _names_of(step: dis.Instruction) -> tuple[str, ...]:
    return step.argval if isinstance(step.argval, tuple) else (str(step.argval),)


def _may_write(step: dis.Instruction, before: dis.Instruction | None, names: Sequence[str]) -> bool:
    """May this step assign a parameter, or end the application with a result? `before`: the step before it."""
    if step.opname in _STORES or step.opname.startswith(("DELETE_", "YIELD", "RAISE", "SETUP_", "BEFORE_")):
        return True
    if step.opname.startswith("STORE_FAST"):
        return not {*_names_of(step)}.isdisjoint(names)
    called = before is not None and before.opname.startswith("CALL")
    if step.opname == "POP_TOP":
        return called  # a call for what it does: atomic_add, store, a helper
    nothing = before is not None and before.opname.startswith("LOAD_CONST") and before.argval is None
    return step.opname == "RETURN_VALUE" and not nothing or step.opname == "RETURN_CONST" and step.argval is not None


def _outside(application: Callable[..., Any], steps: Sequence[dis.Instruction]) -> list[Any]:
    """What the names from outside stand for. A helper might assign what it is given."""
    known = {**vars(builtins), **application.__globals__}
    closed = any(step.opname in ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_NAME") for step in steps)
    return [application] * closed + [known.get(step.argval, 0) for step in steps if step.opname == "LOAD_GLOBAL"]


def _is_pure(name: str) -> bool:
    """Does a member of the language or of a tile of this name surely store nothing? (`old = ntl.atomic_add(...)` does.)"""
    from ..core.functions.table import ROWS  # of few applications only

    return name in _PURE or any(name in dict(row.spelled("tl")) for row in ROWS)


def _is_ours(value: Any) -> bool:
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0] in _LANGUAGES
    return not callable(value) or getattr(value, "__module__", "").partition(".")[0] in _LANGUAGES
