"""How names carry their role in text: `ninetoothed_<role>_prefix_<name>`."""

from __future__ import annotations


def auto_generate(name: str) -> str:
    return f"ninetoothed_{name}"


def _prefix(kind: str) -> str:
    return f"ninetoothed_{kind}_prefix_"


def make_constexpr(name: str) -> str:
    return _prefix("constexpr") + name


def make_meta(name: str) -> str:
    return _prefix("meta") + name


def make_next_power_of_2(name: str) -> str:
    return _prefix("next_power_of_2") + name


def is_constexpr(name: str) -> bool:
    return _prefix("constexpr") in name or is_meta(name)


def is_meta(name: str) -> bool:
    return _prefix("meta") in name


def is_next_power_of_2(name: str) -> bool:
    return _prefix("next_power_of_2") in name


def remove_prefixes(name: str) -> str:
    for kind in ("constexpr", "meta", "next_power_of_2"):
        name = name.replace(_prefix(kind), "")
    return name
