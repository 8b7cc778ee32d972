"""What is known of how a kernel came to its code."""

from __future__ import annotations

from dataclasses import dataclass

from .ignored import Ignored


@dataclass(frozen=True)
class Explanation:
    """One kernel for one kind of call.

    ignored: what its program and its launch ask for and what has no effect on this device, with the reason."""

    ignored: tuple[Ignored, ...] = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self.ignored))
