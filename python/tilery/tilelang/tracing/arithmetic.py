"""How floats may be computed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Arithmetic:
    """fast: functions and quotients of float32 may be the machine's approximations. fused: a product and a sum may round once.
    None: nothing is said of it, so that who comes after may; nobody does: functions are exact, and sums are fused. texts: device
    functions in CUDA C++ that the compiler's flags include."""

    fast: bool | None = None
    fused: bool | None = None
    texts: tuple[str, ...] = ()

    def or_else(self, other: Arithmetic) -> Arithmetic:
        """What `other` says where this says nothing."""
        fast, fused = other.fast if self.fast is None else self.fast, other.fused if self.fused is None else self.fused
        return Arithmetic(fast, fused, (*self.texts, *(text for text in other.texts if text not in self.texts)))

    def both(self, other: Arithmetic) -> Arithmetic:
        """The same, but sums that one of the two forbids to fuse are not fused."""
        either = self.or_else(other)
        return Arithmetic(either.fast, False if False in (self.fused, other.fused) else either.fused, either.texts)
