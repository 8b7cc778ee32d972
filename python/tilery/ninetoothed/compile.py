"""An application for one kind of call, and its code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tilery import _native
from tilery._native import arrange

from ..core import compile
from ..core.ignored import Ignored, told
from ..core.kept import Kept
from .arguments import Argument, describe, host_name


class CompiledKernel(compile.CompiledKernel):
    """An application for one kind of call: a kernel and the host function that checks and launches it."""

    language = "ninetoothed"

    def __init__(
        self,
        application: Callable[..., Any],
        arguments: Sequence[Argument],
        hints: Mapping[str, Any] | None,
        signature: Any,
        disjoint: bool,
        masked: bool = False,
        debug: bool = False,
        given: Mapping[str, Mapping[str, Any]] | None = None,
        checks_sizes: bool = False,
    ) -> None:
        self.application, self.arguments, self.hints, self.masked = application, arguments, hints, masked
        self.given = given or {}  # {function: options} that decide about no code
        self.tensors: Sequence[Any] = ()  # as they are arranged, before numbers are known
        self.debug = debug  # what is traced checks more, and is never compiled
        self.checks_sizes = checks_sizes  # its callers have no debug launches
        specialisation = ["ninetoothed", describe(arguments), hints, masked, checks_sizes]
        super().__init__(application.__name__, application, specialisation, signature, disjoint=disjoint)

    def ignored_by_call(self) -> Sequence[Ignored]:
        return [one for function, options in self.given.items() for one in told(function, options)]

    @property
    def possible_hints(self) -> Sequence[str]:
        return () if self.debug else super().possible_hints

    def picture(self) -> str:
        from .sketch import sketch  # explanations want it, calls do not

        return sketch(self.tensors)

    def trace(self) -> Kept:
        from .trace import compile_application  # an application that the disk cache has is not traced

        how = self.arguments, self.hints, self.masked, self.debug, self.checks_sizes
        return Kept.of(lambda: compile_application(self.application, *how), shared="ntl")

    def load(self, image: bytes) -> Any:
        return _native.HostPlan(image, other_image=self.other_image)

    def interpret(self, debug: bool) -> Any:
        from ..core.oracle import OracleHostLaunch

        parameters = arrange.host_parameters(self.arguments)
        return OracleHostLaunch(self.module, host_name(self.application), parameters, debug, match_sizes=True)
