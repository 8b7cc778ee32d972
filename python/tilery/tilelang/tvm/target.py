"""Targets by name. A launch runs where its tensors are: a target is no choice."""

from __future__ import annotations

import re
import threading
from types import SimpleNamespace, TracebackType
from typing import Any

from ...errors import error

KINDS = ("auto", "cuda", "c", "llvm", "cpu", "hip", "metal", "cutedsl")
_ELSEWHERE = {"hip": "AMD's GPUs", "metal": "Apple's GPUs"}
_entered = threading.local()


class Target:
    """`Target("cuda -arch=sm_90a")` or `Target({"kind": "cuda", "arch": "sm_90a"})`: its `kind.name`, `arch` and `attrs`."""

    kind: SimpleNamespace
    attrs: dict[str, Any]

    def __init__(self, target: str | dict[str, Any] | Target, host: Any = None) -> None:
        if isinstance(target, Target):
            kind, self.attrs = target.kind.name, dict(target.attrs)
        elif isinstance(target, dict):
            kind, self.attrs = target.get("kind"), {key: value for key, value in target.items() if key != "kind"}
        else:
            kind, *options = str(target).split() or [""]
            pairs = (option.lstrip("-").partition("=") for option in options)
            self.attrs = {key: value for key, _, value in pairs}
        if kind not in KINDS:
            raise error(ValueError, f"unknown target {target!r}", hint="known: " + ", ".join(KINDS))
        if kind == "cuda" and self.attrs.get("arch") and not re.fullmatch(r"(sm|compute)_\d+[af]?", str(self.attrs["arch"])):
            raise error(ValueError, f"the target {target!r} has no architecture of NVIDIA's GPUs", hint="write -arch=sm_90a")
        self.kind, self.host = SimpleNamespace(name=kind), host

    @property
    def arch(self) -> str:
        return str(self.attrs.get("arch", ""))

    @staticmethod
    def current(allow_none: bool = True) -> Target | None:
        """The target of the innermost `with`."""
        stack: list[Target] = getattr(_entered, "stack", [])
        if not stack and not allow_none:
            raise error(ValueError, "there is no current target", hint="use `with Target(...)`")
        return stack[-1] if stack else None

    def __enter__(self) -> Target:
        _entered.stack = [*getattr(_entered, "stack", []), self]
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        _entered.stack = _entered.stack[:-1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Target) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return " ".join([self.kind.name, *(f"-{key}={value}" for key, value in sorted(self.attrs.items()))])

    __repr__ = __str__


def check_target(target: str | dict[str, Any] | Target | None) -> None:
    """Refuses a target that nobody knows, and those that are no machine of ours; "auto" is the one that is entered."""
    chosen = Target.current() if target in (None, "auto") else Target(target)
    kind = chosen.kind.name if chosen else "auto"
    if kind in _ELSEWHERE:
        raise error(
            ValueError,
            f"the target {str(chosen)!r} means {_ELSEWHERE[kind]}, for which there is no code here",
            hint="a launch runs where its tensors are, on a CPU or an NVIDIA GPU: the targets are auto, cuda, llvm, c, cpu",
        )
