"""How floats may be computed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Arithmetic:
    """fast: functions and quotients of float32 may be the machine's approximations. fused: a product and a sum may round once.
    None: nothing is said of it, so that who comes after may; nobody does: functions are exact, and sums are fused."""

    fast: bool | None = None
    fused: bool | None = None

    def or_else(self, other: Arithmetic) -> Arithmetic:
        """What `other` says where this says nothing."""
        return Arithmetic(
            other.fast if self.fast is None else self.fast, other.fused if self.fused is None else self.fused
        )

    def both(self, other: Arithmetic) -> Arithmetic:
        """The same, but sums that one of the two forbids to fuse are not fused."""
        return Arithmetic(self.or_else(other).fast, False if False in (self.fused, other.fused) else self.or_else(other).fused)
