"""Expressions of TileLang programs, element by element: `i` and `j` are the row and the column in a block."""

from programs.writer import Value

MACROS = {
    "gelu": "    return 0.5 * x * (1.0 + T.erf(x * 0.70710678))\n",
    "silu": "    return x / (1.0 + T.exp(-x))\n",
    "soft_cap": "    return T.tanh(x / 3.0) * 3.0\n",
    "leaky": "    return T.if_then_else(x > 0, x, 0.01 * x)\n",
    "clipped": "    return T.min(T.max(x, -1.5), 1.5)\n",
}
UNARY = [
    "-{x}",
    "T.abs({x})",
    "T.exp(-T.abs({x}))",
    "T.exp2({x} * 0.5)",
    "T.sqrt(T.abs({x}) + 0.5)",
    "T.rsqrt({x} * {x} + 1.0)",
    "T.log(T.abs({x}) + 1.0)",
    "T.log2(T.abs({x}) + 2.0)",
    "T.sigmoid({x})",
    "T.tanh({x})",
    "({x} * {x})",
    "T.sin({x})",
    "T.cast(T.cast({x}, 'float16'), 'float32')",
    "T.cast(T.bfloat16({x}), 'float32')",
    "T.clamp({x}, -1.0, 1.0)",
    "(1.0 / (1.0 + T.exp(-{x})))",
    "T.exp({x})",
    "T.floor({x})",
    "T.exp2({x} * 1.44269504)",
    "T.pow(T.abs({x}) + 0.5, 1.5)",
    "T.max({x}, 0)",
    "T.max({x}, 0.0)",
]
BINARY = [
    "({x} + {y})",
    "({x} - {y})",
    "({x} * {y})",
    "T.max({x}, {y})",
    "T.min({x}, {y})",
    "({x} / (T.abs({y}) + 1.0))",
    "T.exp({x} - {y})",
    "T.exp2({x} * 1.44269504 - {y} * 1.44269504)",
    "({x} - {y}) * ({x} - {y})",
    "({x} * {y} + {x})",
]
COMPARISONS = [">", "<", ">=", "<=", "==", "!="]


def usable(w, axes, kind):
    return [v for v in w.values if v.kind == kind and set(v.axes) <= set(axes)]


def joined(*axes):
    return "".join(a for a in "rc" if any(a in each for each in axes))


def leaf(w, axes, constants=True):
    """Something that is there already; a constant now and then."""
    known = usable(w, axes, "f")
    if constants and w.chance(0.15) or not known:
        return Value(w.pick("0.5", "1.5", "0.25", "2.0", "0.125"))
    return w.rng.choice(known[-4:] if w.chance(0.6) else known)


def condition(w, axes, depth=1):
    """A condition on values or on places; places are there as values of kind "i"."""
    places = usable(w, axes, "i")
    if axes == "rc" and {p.axes for p in places} >= {"r", "c"} and w.chance(0.4):
        row, column = (next(p for p in reversed(places) if p.axes == a) for a in "rc")
        result = Value(f"{row.text} {w.pick('>=', '>', '<', '<=')} {column.text}", "rc")
    elif places and w.chance(0.2):
        place = w.rng.choice(places)
        result = Value(f"{place.text} % {w.pick(2, 3, 4)} {w.pick('==', '!=', '<')} {w.pick(0, 1)}", place.axes)
    else:
        left, right = expression(w, axes, depth - 1), leaf(w, axes)
        result = Value(f"{left.text} {w.pick(*COMPARISONS)} {right.text}", joined(left.axes, right.axes))
    if depth > 0 and w.chance(0.25):
        other = condition(w, axes, depth - 1)
        forms = ("T.And({a}, {b})", "T.logical_and({a}, {b})", "T.Or({a}, {b})", "(({a}) and ({b}))", "(({a}) or ({b}))")
        result = Value(w.pick(*forms).format(a=result.text, b=other.text), joined(result.axes, other.axes))
    elif w.chance(0.1):
        result = Value(w.pick("not ({a})", "T.logical_not({a})").format(a=result.text), result.axes)
    return result


def choice(w, which, x, y):
    """A conditional value: if_then_else, or Python's own."""
    if w.chance(0.8):
        return f"{w.pick('T.if_then_else', 'T.if_then_else', 'T.Select')}({which}, {x}, {y})"
    return f"({x} if {which} else {y})"


def expression(w, axes, depth):
    """A float of these axes, or of some of them."""
    chosen = w.rng.random()
    if depth <= 0 or chosen > 0.96:
        return leaf(w, axes, constants=False)
    x = expression(w, axes, depth - 1)
    if chosen < 0.35:
        return Value(w.pick(*UNARY).format(x=x.text), x.axes)
    if chosen < 0.8:
        y = expression(w, axes, depth - 1) if w.chance(0.6) else leaf(w, axes)
        return Value(w.pick(*BINARY).format(x=x.text, y=y.text), joined(x.axes, y.axes))
    if chosen < 0.91:
        which, y = condition(w, axes, depth - 1), leaf(w, axes)
        return Value(choice(w, which.text, x.text, y.text), joined(which.axes, x.axes, y.axes))
    return Value(f"{w.pick(*MACROS)}({x.text})", x.axes)


def whole(w, axes, depth):
    """The text of an expression that has all of these axes."""
    value = expression(w, axes, depth)
    full = [v for v in w.values if v.kind == "f" and v.axes == axes]
    if value.axes == axes or not full:
        return value.text
    return f"({w.rng.choice(full[-3:]).text} {w.pick('+', '-', '*')} {value.text})"


def macros(w, text):
    """The functions that a program calls: macros, or plain functions that run while the kernel is traced."""
    used = [(name, body) for name, body in MACROS.items() if f"{name}(" in text]
    return "".join(f"{w.pick('@T.macro', '@T.macro', '')}\ndef {name}(x):\n{body}\n\n".lstrip() for name, body in used)
