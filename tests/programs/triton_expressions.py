"""Expressions of Triton programs over rows and columns: what kernels of libraries compute element by element."""

from programs.writer import Value

HELPERS = {
    "gelu": "    return 0.5 * x * (1.0 + tl.erf(x * 0.70710678))\n",
    "silu": "    return x * tl.sigmoid(x)\n",
    "tanh": "    return 2.0 * tl.sigmoid(2.0 * x) - 1.0\n",
    "soft_cap": "    e = tl.exp(-2.0 * tl.abs(x))\n    t = (1.0 - e) / (1.0 + e)\n    return tl.where(x < 0, -t, t) * 3.0\n",
    "clipped": "    return tl.minimum(tl.maximum(x, -1.5), 1.5)\n",
}
UNARY = [
    "-{x}",
    "tl.abs({x})",
    "tl.exp(-tl.abs({x}))",
    "tl.exp2({x} * 0.5)",
    "tl.sqrt(tl.abs({x}) + 0.5)",
    "tl.rsqrt({x} * {x} + 1.0)",
    "tl.log(tl.abs({x}) + 1.0)",
    "tl.sigmoid({x})",
    "({x} * {x})",
    "tl.sin({x})",
    "tl.cos({x})",
    "({x}).to(tl.float16).to(tl.float32)",
    "({x}).to(tl.bfloat16).to(tl.float32)",
    "tl.clamp({x}, -1.0, 1.0)",
    "(1.0 / (1.0 + tl.exp(-{x})))",
    "tl.exp({x})",
    "tl.floor({x})",
]
BINARY = [
    "({x} + {y})",
    "({x} - {y})",
    "({x} * {y})",
    "tl.maximum({x}, {y})",
    "tl.minimum({x}, {y})",
    "({x} / (tl.abs({y}) + 1.0))",
    "tl.exp({x} - {y})",
    "({x} - {y}) * ({x} - {y})",
    "tl.fma({x}, {y}, {x})",
    "({x} * ({y} > 0))",
]
COMPARISONS = [">", "<", ">=", "<=", "==", "!="]


def spread(value, axes):
    """The value, in the shape of these axes (or one that broadcasts to it)."""
    if value.axes == axes or not value.axes:
        return value.text
    return value.text + ("[:, None]" if value.axes == "r" else "[None, :]")


def usable(w, axes, kind):
    return [v for v in w.values if v.kind == kind and (set(v.axes) < set(axes) or v.axes == axes)]


def joined(*axes):
    """The axes of what several values are computed to."""
    return "".join(a for a in "rc" if any(a in each for each in axes))


def leaf(w, axes, constants=True):
    """Something that is there already; a constant now and then."""
    known = usable(w, axes, "f")
    if constants and w.chance(0.15) or not known:
        return Value(w.pick("0.5", "1.5", "0.25", "2.0", "0.125"))
    value = w.rng.choice(known[-4:] if w.chance(0.6) else known)
    return Value(spread(value, axes), value.axes)


def condition(w, axes, depth=1):
    known = usable(w, axes, "b")
    rows, columns = ([v for v in w.values if v.kind == "i" and v.axes == a] for a in "rc")
    if known and w.chance(0.4):
        value = w.rng.choice(known)
        result = Value(spread(value, axes), value.axes)
    elif axes == "rc" and rows and columns and w.chance(0.4):
        result = Value(f"({rows[-1].text}[:, None] {w.pick('>=', '>', '<', '<=')} {columns[-1].text}[None, :])", "rc")
    else:
        left, right = expression(w, axes, depth - 1), leaf(w, axes)
        result = Value(f"({left.text} {w.pick(*COMPARISONS)} {right.text})", joined(left.axes, right.axes))
    if depth > 0 and w.chance(0.2):
        other = condition(w, axes, depth - 1)
        result = Value(f"({result.text} {w.pick('&', '|')} {other.text})", joined(result.axes, other.axes))
    return result


def expression(w, axes, depth):
    """A float of these axes, or of some of them."""
    choice = w.rng.random()
    if depth <= 0 or choice > 0.96:
        return leaf(w, axes, constants=False)
    x = expression(w, axes, depth - 1)
    if choice < 0.35:
        return Value(w.pick(*UNARY).format(x=x.text), x.axes)
    if choice < 0.8:
        y = expression(w, axes, depth - 1) if w.chance(0.6) else leaf(w, axes)
        return Value(w.pick(*BINARY).format(x=x.text, y=y.text), joined(x.axes, y.axes))
    if choice < 0.9:
        which, y = condition(w, axes, depth - 1), leaf(w, axes)
        return Value(f"tl.where({which.text}, {x.text}, {y.text})", joined(which.axes, x.axes, y.axes))
    return Value(f"{w.pick(*HELPERS)}({x.text})", x.axes)


def whole(w, axes, depth):
    """The text of an expression that has all of these axes."""
    value = expression(w, axes, depth)
    if value.axes == axes:
        return value.text
    full = [v for v in w.values if v.kind == "f" and v.axes == axes]
    return f"({w.rng.choice(full[-3:]).text} {w.pick('+', '-', '*')} {value.text})"


def helpers(text):
    """The helper functions that a program calls."""
    return "".join(f"@triton.jit\ndef {name}(x):\n{body}\n\n" for name, body in HELPERS.items() if f"{name}(" in text)
