"""Flags that programs give the compilers of CUDA and of C, which are not run here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...errors import error
from ...frontend.wording import shown
from ..tracing.arithmetic import Arithmetic

_FAST, _FUSED = "use_fast_math", "fmad"
_SWITCHES = (_FAST, _FUSED)  # they are true or false
_FUSIONS = {"ffp-contract=off": False, "ffp-contract=on": True, "ffp-contract=fast": True}  # of a compiler of C


class CompileFlags:
    """`arithmetic`: what `--use_fast_math` and `--fmad` say; `ignored`: the others, None without any (macros, too: a kernel that
    brings text of CUDA, which could read them, is refused where it brings it).

    :raises ValueError: for `--fmad` without true or false."""

    def __init__(self, flags: Any) -> None:
        given = [flags] if isinstance(flags, str) else [] if flags is None else flags
        if not isinstance(given, Sequence) or not all(isinstance(text, str) for text in given):
            raise error(TypeError, f"compile flags are {shown(flags)}; text, or a list of texts, is expected")
        words = [word for text in given for word in text.split()]
        said: dict[str, bool] = {}
        others: list[str] = []
        texts: list[str] = []
        while words:
            word = words.pop(0)
            if word in ("-include", "--include", "--pre-include") and words:
                _include(words.pop(0), texts)
                continue
            name, _, value = word.lstrip("-").partition("=")
            if word.startswith("-") and name in _SWITCHES:
                value = value or (words.pop(0) if words and not words[0].startswith("-") else "true" if name == _FAST else "")
                if value not in ("true", "false"):
                    hint = f"write --{name}=true or --{name}=false"
                    raise error(ValueError, f"the compile flag --{name} is {value!r}", hint=hint)
                said[name] = value == "true"
            elif word.lstrip("-") in _FUSIONS:
                said[_FUSED] = _FUSIONS[word.lstrip("-")]
            else:
                others.append(word)
        self.arithmetic = Arithmetic(said.get(_FAST), said.get(_FUSED), tuple(texts))
        self.ignored = others or None


def _include(path: str, texts: list[str]) -> None:
    """Adds a file's text, and before it those of the files that it includes from beside itself."""
    try:
        text = Path(path).read_text()
    except OSError:
        return  # who calls a function of it is told that nobody knows it
    for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', text, re.M):
        beside = Path(path).parent / name
        if beside.is_file() and beside.read_text() not in texts and beside != Path(path):
            _include(str(beside), texts)
    if text not in texts:
        texts.append(text)
