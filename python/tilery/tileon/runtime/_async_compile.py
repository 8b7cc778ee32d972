"""Kernels compiled in other threads: `with triton.AsyncCompileMode(executor): kernel.warmup(...)`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextvars import ContextVar, Token, copy_context
from typing import Any

active_mode: ContextVar[AsyncCompileMode | None] = ContextVar("async_compile_mode", default=None)


class FutureKernel:
    """A kernel that is being compiled; what it is asked for waits."""

    def __init__(self, future: Future[Any]) -> None:
        self._future = future

    def result(self, ignore_errors: bool = False) -> Any:
        """The compiled kernel; None where it failed and errors are ignored."""
        try:
            return self._future.result()
        except Exception:
            if ignore_errors:
                return None
            raise

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_future":
            raise AttributeError(name)
        return getattr(self.result(), name)

    def __getitem__(self, grid: Any) -> Any:
        return self.result()[grid]


class AsyncCompileMode:
    """Within this `kernel.warmup(...)` returns at once, and threads of the executor compile. At its end all are waited for; the
    first error is raised unless `ignore_errors`."""

    def __init__(self, executor: Executor, *, ignore_errors: bool = False) -> None:
        self.executor, self.ignore_errors = executor, ignore_errors
        self.kernels: list[FutureKernel] = []
        self._token: Token[AsyncCompileMode | None] | None = None

    def submit(self, compile: Callable[[], Any]) -> FutureKernel:
        """compile() in a thread, outside of this mode."""
        context = copy_context()
        context.run(active_mode.set, None)
        kernel = FutureKernel(self.executor.submit(context.run, compile))
        self.kernels.append(kernel)
        return kernel

    def __enter__(self) -> AsyncCompileMode:
        if active_mode.get() is not None:
            raise RuntimeError("one AsyncCompileMode is active already")
        self._token = active_mode.set(self)
        return self

    def __exit__(self, *exception: object) -> None:
        assert self._token is not None
        active_mode.reset(self._token)
        for kernel in self.kernels:
            kernel.result(self.ignore_errors)
