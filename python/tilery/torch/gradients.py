"""`backward`: an operator's gradients by kernels."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.library import CustomOpDef

from ..errors import error
from ..frontend.wording import counted, did_you_mean, shown
from .operators import Decorator, custom_op


def backward(operator: CustomOpDef, *, wrt: Sequence[str] | None = None, **options: Any) -> Decorator:
    """Decorator: a function that launches kernels gives an operator its gradients. It becomes an operator itself, of the name
    `NAME_backward`, and may be given a backward, too.

    Its parameters are found by name. `grad` is the gradient of the result (of several: `grad_0`, `grad_1`, ...), contiguous,
    zeros where nothing asked for it; `output` (`output_0`, ...) is the result; any other is the operator's argument of that name.
    What is not named is not kept until then.

    :param wrt: the tensors whose gradients it returns, in order; if not given: all that the operator takes.
    :param options: `vmap_method`, `device_types`, ...: as for `custom_op`.
    What is returned for an argument that needs no gradient (None, of integers) is not looked at.

    :raises tilery.TypeError: a parameter, or a name in `wrt`, is nothing that the operator has; `operator` is none, or takes a
        list of tensors.
    """
    if not isinstance(operator, CustomOpDef):
        raise error(TypeError, f"gradients are an operator's, got {shown(operator)}", hint="give it what `custom_op` made")
    if isinstance(wrt, str):
        raise error(TypeError, f"`wrt` is a sequence of names, got {wrt!r}", hint=f"write [{wrt!r}]")
    schema = operator._opoverload._schema
    for argument in schema.arguments:
        if "List" in str(argument.type) and "Tensor" in str(argument.type):
            hint = "give each tensor a parameter of its own"
            message = f"`{argument.name}` of {operator._qualname} is a list of tensors, which has no gradient here"
            raise error(TypeError, message, hint=hint)
    names = [argument.name for argument in schema.arguments]
    tensors = [argument.name for argument in schema.arguments if str(argument.type) in ("Tensor", "Optional[Tensor]")]
    ends = [""] if len(schema.returns) == 1 else [f"_{i}" for i in range(len(schema.returns))]
    known = [*names, *(f"grad{end}" for end in ends), *(f"output{end}" for end in ends)]
    wanted = list(tensors if wrt is None else wrt)
    _require("`wrt` names", wanted, tensors, operator)

    def decorated(function: Callable[..., Any]) -> CustomOpDef:
        asked = list(inspect.signature(function).parameters)
        _require(f"`{function.__name__}` takes", asked, known, operator)
        own = custom_op(f"{operator._qualname}_backward", mutates_args=(), **options)(function)
        formula = _Formula(own, asked, names, ends, wanted)
        operator.register_autograd(formula.backward, setup_context=formula.setup_context)
        return own

    return decorated


def _require(who: str, given: Iterable[str], known: Sequence[str], operator: CustomOpDef) -> None:
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known) or "known: " + ", ".join(known)
            raise error(TypeError, f"{who} `{name}`, which is nothing of {operator._qualname}", hint=hint)


@dataclass
class _Formula:
    """:param own: the operator that computes gradients; asked: what it takes, by name.
    :param names: what the first operator takes; ends: of the names of its results; wanted: what has gradients."""

    own: CustomOpDef
    asked: Sequence[str]
    names: Sequence[str]
    ends: Sequence[str]
    wanted: Sequence[str]

    def setup_context(self, ctx: Any, inputs: Any, output: Any, keyword_only_inputs: Any = None) -> None:
        outputs = output if isinstance(output, (tuple, list)) else (output,)
        known = {f"output{end}": value for end, value in zip(self.ends, outputs)}
        known.update(zip(self.names, inputs), **(keyword_only_inputs or {}))
        kept = {name: known[name] for name in self.asked if name in known}
        ctx.names = [name for name, value in kept.items() if isinstance(value, torch.Tensor)]
        ctx.save_for_backward(*(kept.pop(name) for name in ctx.names))
        ctx.others = kept

    def backward(self, ctx: Any, *grads: Any) -> tuple[Any, ...]:
        known = {**ctx.others, **dict(zip(ctx.names, ctx.saved_tensors))}
        for name, grad in zip([f"grad{end}" for end in self.ends], grads):
            if name in self.asked:
                known[name] = grad.contiguous()  # the gradient of a sum is one number that stands for all
        found = self.own(**{name: known[name] for name in self.asked})
        found = found if isinstance(found, (tuple, list)) else (found,)
        if len(found) != len(self.wanted):
            number = counted(len(found), "tensor")
            message = f"{self.own._qualname} returns {number}, not the gradients of {', '.join(self.wanted)}"
            raise error(ValueError, message, hint="`wrt` says whose gradients it returns")
        given = dict(zip(self.wanted, found))
        needed = dict(zip(self.names, ctx.needs_input_grad))
        return tuple(given.get(name) if needed.get(name) else None for name in self.names)
