"""The context of upstream's passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from ...errors import error
from .refused import hook

__getattr__ = hook("tvm.transform")


class PassContext:
    """`with PassContext(config={...})`: switches of passes that are not run here; none changes what a program computes."""

    def __init__(
        self, opt_level: int = 2, config: Mapping[Any, Any] | None = None, instruments: Sequence[Any] | None = None
    ) -> None:
        if instruments:
            raise error(NotImplementedError, "PassContext(instruments=...)", hint="upstream's passes are not run here")
        self.opt_level, self.config = opt_level, dict(config or {})

    def __enter__(self) -> PassContext:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        pass
