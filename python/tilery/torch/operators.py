"""`custom_op`: torch's own, with what torch asks for beside the function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.library import CustomOpDef

from ..core.unmade import without_launches
from ..errors import error
from ..frontend.wording import did_you_mean, shown
from .batched import METHODS, Rule, returns_arguments

Decorator = Callable[[Callable[..., Any]], CustomOpDef]


def custom_op(name: str, *, mutates_args: str | Iterable[str], vmap_method: str = "sequential", **options: Any) -> Decorator:
    """Decorator: a function of tensors and numbers that launches kernels, in any of the languages, becomes an operator of torch,
    which `torch.compile`, `torch.export`, `torch.func.vmap` and, with `backward`, autograd take. What it returns is torch's own
    `CustomOpDef`; what is registered by that one's methods takes the place of what is registered here.

    Types and shapes of results are found by running the function with its launches left out: it may ask its tensors for anything
    but elements and addresses.

    :param name: "namespace::name".
    :param mutates_args: names of the tensors that the function writes to, as for `torch.library.custom_op`. A function that
        returns one of them has the tag `torch.Tag.inplace` or `torch.Tag.out`. What is not named must not be written to:
        `torch.library.opcheck` finds out.
    :param vmap_method: how a call is made under `torch.func.vmap`. "sequential": once for each element of the batch. The others
        say that the function takes tensors with any axes in front of its own; there is one call, for which tensors without a
        batch get an axis of extent 1 ("expand_dims") or are repeated ("broadcast_all"). All are made contiguous.
    :param options: `device_types`, `schema`, `tags`: as for `torch.library.custom_op`.
    :raises tilery.ValueError: the name has no namespace, or there is no such `vmap_method`.
    :raises tilery.TypeError: what is decorated is no function.
    """
    if not isinstance(name, str) or name.count("::") != 1 or not all(name.split("::")):
        raise error(ValueError, f"an operator's name is `namespace::name`, got {name!r}", hint="write, say, 'mine::silu'")
    if vmap_method not in METHODS:
        hint = did_you_mean(vmap_method, METHODS) or "known: " + ", ".join(METHODS)
        raise error(ValueError, f"unknown vmap_method {vmap_method!r}", hint=hint)

    def decorated(function: Callable[..., Any]) -> CustomOpDef:
        if not inspect.isfunction(function):
            hint = "decorate a function with annotated parameters that launches kernels and returns what they wrote"
            raise error(TypeError, f"an operator is a function, got {shown(function)}", hint=hint)
        operator = torch.library.custom_op(name, function, mutates_args=mutates_args, **options)
        if not returns_arguments(operator):  # of those torch knows what they give
            operator.register_fake(lambda *args, **kwargs: without_launches(lambda: function(*args, **kwargs)))
        operator.register_vmap(Rule(operator, vmap_method))
        return operator

    return decorated
