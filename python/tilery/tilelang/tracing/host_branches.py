"""`if` on sizes outside of kernels: both branches are traced, and what they launch has no blocks where the condition fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import error
from ...frontend.regions import Getter, Names, Putter
from .values import Node, Var, binary, is_size, select


class HostBranches:
    """The part of a trace that knows under which conditions the host launches a kernel."""

    results_divide_by = 16  # the addresses of what T.empty makes
    in_kernel: Any
    logical_not: Callable[[Any], Any]
    is_flag: Callable[[str], bool]
    end_plain: Callable[[], None]
    _leave: Callable[..., None]

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.host_conditions: list[Any] = []  # of the open branches

    def is_host_condition(self, test: Any) -> bool:
        return isinstance(test, (Var, Node)) and not self.in_kernel

    def host_condition(self) -> Any:
        """What must hold for the host to come here; None: nothing."""
        condition = None
        for one in self.host_conditions:
            condition = one if condition is None else binary("and", condition, one)
        return condition

    def implied(self, condition: Any) -> Any:
        """`condition`, where the host comes here."""
        here = self.host_condition()
        return condition if here is None else binary("or", self.logical_not(here), condition)

    def host_if(
        self, test: Any, then: Callable[[], Any], other: Callable[[], Any], names: Names, get: Getter, put: Putter
    ) -> None:
        before, ends = get(), []
        for condition, run in ((test, then), (self.logical_not(test), other)):
            self.host_conditions.append(condition)
            run()
            self.end_plain()
            self.host_conditions.pop()
            ends.append(get())
            put(before)
        self._leave(names, get, put, before, *ends)
        put([self._merged(test, *one) for one in zip(names, get(), *ends)])

    def _merged(self, test: Any, name: str, left: Any, then: Any, other: Any) -> Any:
        """What a name stands for behind both branches; left: the same for what is no size."""
        if then is other:
            return left
        if self.is_flag(name):
            hint = "give the loop's bounds instead, or move the loop into a kernel"
            raise error(NotImplementedError, "`break` or `continue` under a condition on sizes outside of kernels", hint=hint)
        return select(test, then, other) if is_size(then) and is_size(other) else left
