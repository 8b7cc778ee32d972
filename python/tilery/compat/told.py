"""What users are told of the device "cuda", where a program first asks for it."""

from __future__ import annotations

import os
import sys

_unsaid = ""


def later(text: str) -> None:
    """What `say` will say."""
    global _unsaid
    _unsaid = text


def say() -> None:
    """The program has asked for the device: the first time the user is told what that means, in this process and for those that
    it starts from now on."""
    global _unsaid
    if _unsaid:
        print(_unsaid, file=sys.stderr, flush=True)
        _unsaid = ""
        os.environ["TILERY_COMPAT"] = "told"
