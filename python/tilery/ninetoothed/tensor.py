"""Tensors of tensors: what an arrangement starts from."""

from __future__ import annotations

import re
from typing import Any

from tilery._native.arrange import Tensor

from ..core.frames import of_caller
from ..errors import error
from ..frontend.wording import did_you_mean
from . import operations  # noqa: F401  -- which gives Tensor its operations
from .eval import eval, subs
from .naming import auto_generate

_NAME = "[a-zA-Z_][a-zA-Z0-9_]*"


def _named(ending: str) -> Any:
    def text(tensor: Tensor) -> str:
        return f"{auto_generate(tensor.source.name)}_{ending}"

    text.__doc__ = f"The name that stands for the tensor's {ending} in symbols and listings."
    return text


def _named_by_dim(kind: str) -> Any:
    def text(tensor: Tensor, dim: int) -> str:
        return f"{auto_generate(tensor.source.name)}_{kind}_{dim}"

    text.__doc__ = f"The name that stands for a dimension's {kind} in symbols and listings."
    return text


def _pattern(kind: str, by_dim: bool = False) -> Any:
    """What matches such names: groups for the tensor, the kind, and the dimension."""
    return staticmethod(lambda: re.compile(f"({_NAME})_({kind})" + ("_(.+)" if by_dim else "")))


for _kind in ("pointer", "values", "offsets", "seq_len", "max_seq_len"):
    setattr(Tensor, f"{_kind}_string", _named(_kind))
    setattr(Tensor, f"{_kind}_pattern", _pattern(_kind))
for _kind in ("size", "stride"):
    setattr(Tensor, f"{_kind}_string", _named_by_dim(_kind))
    setattr(Tensor, f"{_kind}_pattern", _pattern(_kind, by_dim=True))


def _restored(state: tuple[Any, ...]) -> Tensor:
    return Tensor.from_state(state)


def _reduced(tensor: Tensor) -> tuple[Any, ...]:
    return _restored, (tensor.state(),)


def _missing(tensor: Tensor, name: str) -> Any:
    """Python asks for a name that a tensor does not have."""
    if name.startswith("__"):
        raise AttributeError(name)
    known = [known for known in dir(Tensor) if known[:1] != "_"]
    message = f"a Tensor has no attribute {name!r}"
    raise error(AttributeError, message, hint=did_you_mean(name, known) or "it has " + ", ".join(known), chain=of_caller())


Tensor.__getattr__ = _missing
Tensor.__reduce__ = _reduced
Tensor.eval = eval
Tensor.subs = subs

__all__ = ["Tensor"]
