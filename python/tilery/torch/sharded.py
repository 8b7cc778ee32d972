"""`sharding`: how an operator runs on DTensors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from torch.library import CustomOpDef

from ..errors import error
from ..frontend.wording import counted, shown

_NAME = re.compile(r"[^\W\d]\w*|\.\.\.")


def sharding(operator: CustomOpDef, rule: str, *, along: Sequence[str] = (), sums: Sequence[str] = ()) -> None:
    """Says along which axes an operator's tensors may be sharded when they are DTensors (`torch.distributed.tensor`): each
    process then calls it on its parts. Tensors that are sharded otherwise are gathered before.

        sharding(linear, "rows k, columns k -> rows columns", along=["rows", "columns"], sums=["k"])
        sharding(silu, "... -> ...", along=["..."])

    What gives gradients is an operator of its own, with a rule of its own.

    :param operator: what `custom_op` or `backward` made. Arguments that are no tensors are the same in each process.
    :param rule: names of the axes of each tensor that the operator takes, and of each result. Axes of one name have one extent. A
        tensor without axes has no names; `...` stands for any number of axes, the same ones in each tensor that has it.
    :param along: axes along which parts may be computed alone; each result has them. What does not have them is whole in each
        process.
    :param sums: the same, and a result that does not have such an axis is a sum over it: what the processes get from their parts
        adds up to it (`Partial()`). A bias, say, which each would add to its part, forbids that.
    :raises tilery.TypeError: it is no operator, or one that writes to its arguments, or takes or returns lists of tensors.
    :raises tilery.ValueError: the rule is no such text, or names another number of tensors, or (by a call) of axes; `along` or
        `sums` name what is no axis.
    """
    if not isinstance(operator, CustomOpDef):
        raise error(TypeError, f"what is sharded is an operator, got {shown(operator)}", hint="give it what `custom_op` made")
    made = _Rule(operator, rule, along, sums)
    from torch.distributed.tensor.experimental import register_sharding  # which takes a second to import

    register_sharding(operator._opoverload)(made)


class _Rule:
    """What `register_sharding` takes: for the arguments of a call, pairs of placements of results and of arguments."""

    def __init__(self, operator: CustomOpDef, rule: str, along: Sequence[str], sums: Sequence[str]) -> None:
        self.name, schema = operator._qualname, operator._opoverload._schema
        for argument in schema.arguments:
            if argument.alias_info is not None and argument.alias_info.is_write:
                raise error(TypeError, f"{self.name} writes to `{argument.name}`, and such operators are not sharded")
        several = [a for a in [*schema.arguments, *schema.returns] if "List" in str(a.type) and "Tensor" in str(a.type)]
        if several:
            raise error(TypeError, f"{self.name} has a list of tensors, whose axes a rule cannot name")
        self.tensors = [i for i, a in enumerate(schema.arguments) if "Tensor" in str(a.type)]
        if any(schema.arguments[i].kwarg_only for i in self.tensors):
            raise error(TypeError, f"{self.name} takes a tensor by keyword only, and such operators are not sharded")
        self.given, self.results = self._parsed(rule, len(self.tensors), len(schema.returns))
        self.sharded = [*along, *sums]
        for option, names in (("along", along), ("sums", sums)):
            if isinstance(names, str):
                raise error(TypeError, f"`{option}` is a sequence of names, got {names!r}", hint=f"write [{names!r}]")
            for axis in names:
                if not any(axis in axes for axes in self.given):
                    raise error(ValueError, f"`{option}` names `{axis}`, which no tensor that {self.name} takes has")
        for axis in along:
            if not all(axis in axes for axes in self.results):
                message = f"`along` names `{axis}`, which not all results of {self.name} have"
                raise error(ValueError, message, hint="name it in `sums` if the parts' results add up to the whole")

    def _parsed(self, rule: str, given: int, results: int) -> tuple[list[list[str]], list[list[str]]]:
        hint = 'write, say, "rows k, columns k -> rows columns"'
        if not isinstance(rule, str) or rule.count("->") != 1:
            raise error(ValueError, f"the sharding rule of {self.name} is `axes, ... -> axes, ...`, got {rule!r}", hint=hint)
        sides = []
        for side, number, what in zip(rule.split("->"), (given, results), ("takes", "returns")):
            tensors = [part.split() for part in side.split(",")]
            if len(tensors) != number:
                message = f"{self.name} {what} {counted(number, 'tensor')}, its sharding rule {rule!r} names {len(tensors)}"
                raise error(ValueError, message, hint=hint)
            sides.append(tensors)
        for axes in (axes for side in sides for axes in side):
            if len(set(axes)) < len(axes) or not all(map(_NAME.fullmatch, axes)):
                message = f"`{' '.join(axes)}` in the sharding rule of {self.name} are no axes of a tensor"
                raise error(ValueError, message, hint="each has a name of its own")
        return sides[0], sides[1]

    def __call__(self, *args: Any) -> list[tuple[list[Any], list[Any]]]:
        from torch.distributed.tensor import Partial, Replicate, Shard

        named = {i: axes for i, axes in zip(self.tensors, self.given) if i < len(args) and args[i] is not None}
        further = self._further({i: args[i].ndim for i in named}, named)
        given = {i: _expanded(axes, further) for i, axes in named.items()}
        results = [_expanded(axes, further) for axes in self.results]
        whole = [Replicate() if i in given else None for i in range(len(args))]
        found: list[tuple[list[Any], list[Any]]] = [([Replicate()] * len(results), whole)]
        for axis in _expanded(self.sharded, further):
            placed = list(whole)
            for i, axes in given.items():
                if axis in axes:
                    placed[i] = Shard(axes.index(axis))
            found.append(([Shard(axes.index(axis)) if axis in axes else Partial() for axes in results], placed))
        return found

    def _further(self, ndims: dict[int, int], named: dict[int, list[str]]) -> int:
        """How many axes `...` stands for."""
        numbers = set()
        for i, axes in named.items():
            rest = ndims[i] - len([axis for axis in axes if axis != "..."])
            if rest < 0 or (rest and "..." not in axes):
                number = f"{ndims[i]} {'axis' if ndims[i] == 1 else 'axes'}"
                says = f"its sharding rule says `{' '.join(axes)}`"
                raise error(ValueError, f"{self.name} is called with a tensor of {number}, where {says}")
            if "..." in axes:
                numbers.add(rest)
        if len(numbers) > 1:
            message = f"{self.name} is called with tensors that differ in how many axes `...` stands for in its sharding rule"
            raise error(ValueError, message)
        return numbers.pop() if numbers else 0


def _expanded(axes: Sequence[str], further: int) -> list[str]:
    return [name for axis in axes for name in ([f"...{i}" for i in range(further)] if axis == "..." else [axis])]
