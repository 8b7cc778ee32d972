"""Exceptions that programs catch."""


class TVMError(RuntimeError):
    """The base of upstream's own exceptions."""


class InternalError(TVMError):
    """A check inside upstream's compiler."""
