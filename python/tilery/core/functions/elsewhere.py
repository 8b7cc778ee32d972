"""Where there is what programs ask a language for that does not have it: in libdevice, or made of functions that it has."""

from __future__ import annotations

from collections.abc import Callable

_PLACES = {
    "tl": "`from tilery.tileon.language.extra import libdevice`, then libdevice.{}",
    "tl.math": "`from tilery.tileon.language.extra import libdevice`, then libdevice.{}",
    "ntl": "ntl.libdevice.{}",
    "ntl.math": "ntl.libdevice.{}",
}
# Layers' functions that no language has, made of those that all have. `{}`: the language; `{max}`: its greater of two.
_MADE = {
    "gelu": "0.5 * x * (1 + {}.erf(x * 0.70710678))",
    "mish": "x * (1 - 2 / (1 + (1 + {}.exp(x)) * (1 + {}.exp(x))))",
    "relu": "{}.{max}(x, 0.0)",
    "silu": "x * {}.sigmoid(x)",
    "softplus": "{}.{max}(x, 0.0) + {}.log(1 + {}.exp(-{}.abs(x)))",
    "swish": "x * {}.sigmoid(x)",
}


def hint_for(prefix: str, name: str, in_libdevice: Callable[[], bool]) -> str | None:
    """What to write for a function that the language of this prefix does not have; None: there is nothing like it."""
    if prefix in _PLACES and in_libdevice():
        return f"libdevice has it: {_PLACES[prefix].format(name)}"
    made = _MADE.get(name)
    language = prefix.removesuffix(".math")
    if made is None or language not in ("tl", "ntl", "T"):
        return None
    largest = "max" if language == "T" else "maximum"
    return "write it as " + made.replace("{max}", largest).replace("{}", language)
