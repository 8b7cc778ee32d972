"""Flags that programs give CUDA's compiler, which is not run here."""

from __future__ import annotations

from typing import Any

from ...errors import error

_FAST = "use_fast_math"
# What says something of a program's meaning: of names in its text, or of products and sums that may not become one operation.
_MEANINGS = ("D", "U", "define-macro", "undefine-macro", "include", "pre-include")


class CompileFlags:
    """`fast_math`: whether `--use_fast_math` is among them, else None; `ignored`: the others, None without any.

    :raises NotImplementedError: for flags that change what a program computes."""

    def __init__(self, flags: Any) -> None:
        given = [flags] if isinstance(flags, str) else list(flags or ())
        words = [word for text in given for word in str(text).split()]
        for word in words:
            name, _, value = word.lstrip("-").partition("=")
            if word.startswith("-") and (name in _MEANINGS or word[:2] in ("-D", "-U") or (name == "fmad" and value == "false")):
                raise error(
                    NotImplementedError,
                    f"the compile flag {word!r} changes what a program means",
                    hint="no text of another language is compiled here; write in Python what it says",
                )
        others = [word for word in words if word.lstrip("-") not in (_FAST, f"{_FAST}=true")]
        self.fast_math = True if len(others) < len(words) else None
        self.ignored = others or None
