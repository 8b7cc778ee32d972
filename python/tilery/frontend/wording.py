"""Messages of Python and of the binding in the words of a language: a program's author knows no class of ours."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

_REFUSED = re.compile(r"\w+\(\): incompatible function arguments\..*?Invoked with types: (?P<types>.*)", re.DOTALL)
_NAMED = re.compile(r"(?P<quote>['\"])(?P<name>\w+)(?P=quote)(?P<object> object)?")


def shown(value: Any) -> str:
    """The value as an author would write it; of what has no short text, its class."""
    text = repr(value)
    is_short = len(text) <= 60 and "\n" not in text and not hasattr(value, "__dlpack__")
    return text if is_short else f"a value of type {type(value).__name__}"


def did_you_mean(name: object, known: Iterable[str], written: Callable[[str], str] = str) -> str | None:
    """The hint for a name that is none of the known ones: which may be meant, as `written` shows it. None: none is near."""
    import difflib  # of mistakes only

    alike = lambda text: difflib.SequenceMatcher(None, text, str(name)).ratio()
    plain: dict[str, str] = {}
    for text in known:  # of names that differ in capitals alone, the one written more like it
        if len(text) > 1 and (text.lower() not in plain or alike(text) > alike(plain[text.lower()])):
            plain[text.lower()] = text
    near = difflib.get_close_matches(str(name).lower(), plain, 1, cutoff=0.65)  # above: silu is no Serial, relu no reduce
    return f"did you mean {written(plain[near[0]])}?" if near else None


def counted(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def number_of(name: str, extents: Sequence[int]) -> str:
    """How to get a number out of the tensor `name`; an extent is 1 or anything else."""
    place = "" if all(extent == 1 for extent in extents) else f"[{', '.join('0' * len(extents))}]"
    return f"pass {name}{place}.item()" if not place else f"pass one of its numbers, as {name}{place}.item()"


def in_words(message: str, words: Mapping[str, str]) -> str:
    """The message with the names of classes replaced by `words`; of a call that the binding refused, the types it was given."""
    refused = _REFUSED.match(message)
    if refused:
        given = [name.strip().rsplit(".", 1)[-1] for name in refused["types"].split(",")]
        known = [words.get(name, "None" if name == "NoneType" else name) for name in given if name != "Builder"]
        return f"this takes no arguments of such types: {', '.join(known)}"
    return _NAMED.sub(lambda found: words.get(found["name"], found[0]), message)
