"""Errors of launches and tuning that programs catch."""

from __future__ import annotations

from ...errors import Error


class OutOfResources(Error):
    """A kernel that needs more than the machine has; a CPU raises none."""

    def __init__(self, required: int, limit: int, name: str) -> None:
        super().__init__(
            f"out of resource: {name}, Required: {required}, Hardware limit: {limit}. "
            "Reducing block sizes or `num_stages` may help."
        )
        self.required, self.limit, self.name = required, limit, name

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.required, self.limit, self.name)


class UnsupportedCluster(Error, NotImplementedError):
    """A launch that says how many blocks of a GPU share a program."""


class PTXASError(Error):
    """An assembler that fails; a CPU has none."""

    def __init__(self, error_message: str | None = None) -> None:
        super().__init__(f"PTXAS error: {error_message or ''}")
        self.error_message = error_message or ""

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.error_message,)


class AutotunerError(Error):
    """A tuner without configurations."""

    def __init__(self, error_message: str | None = None) -> None:
        super().__init__(f"Autotuner error: {error_message or ''}")
        self.error_message = error_message or ""

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.error_message,)


class InterpreterError(Error):
    """Upstream's interpreter mode."""

    def __init__(self, error_message: str | None = None) -> None:
        super().__init__(error_message or "")
        self.error_message = error_message

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.error_message,)
