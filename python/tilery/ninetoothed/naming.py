"""How names carry their role in text: `ninetoothed_<role>_prefix_<name>`."""


def auto_generate(name):
    return f"ninetoothed_{name}"


def _prefix(kind):
    return f"ninetoothed_{kind}_prefix_"


def make_constexpr(name):
    return _prefix("constexpr") + name


def make_meta(name):
    return _prefix("meta") + name


def make_next_power_of_2(name):
    return _prefix("next_power_of_2") + name


def is_constexpr(name):
    return _prefix("constexpr") in name or is_meta(name)


def is_meta(name):
    return _prefix("meta") in name


def is_next_power_of_2(name):
    return _prefix("next_power_of_2") in name


def remove_prefixes(name):
    for kind in ("constexpr", "meta", "next_power_of_2"):
        name = name.replace(_prefix(kind), "")
    return name
