"""Random functions of branches, loops and jumps: Python itself against the trace."""

import random
import textwrap

import pytest
from frontend.toy import execute
from seeds import seeds

NAMES = ["a", "b", "c", "d", "p"]


class Generator:
    """Writes a function over two run-time ints; every name has a value from the start, every loop ends."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.loops = 0

    def expression(self, depth=0):
        r = self.random
        kind = r.randrange(7 if depth < 3 else 2)
        if kind < 2:
            return r.choice(["a", "b", "c", "d", "p[0]", "p[1]"]) if kind == 0 else str(r.randint(-3, 5))
        if kind == 2:
            return f"({self.expression(depth + 1)} if {self.condition(depth + 1)} else {self.expression(depth + 1)})"
        if kind == 3:
            return f"{r.choice(['min', 'max'])}({self.expression(depth + 1)}, {self.expression(depth + 1)})"
        if kind == 4:
            return f"helper({self.expression(depth + 1)}, {self.expression(depth + 1)})"
        return f"({self.expression(depth + 1)} {r.choice('+-*')} {self.expression(depth + 1)}) % 17"

    def condition(self, depth=0):
        r = self.random
        kind = r.randrange(5 if depth < 3 else 1)
        if kind < 2:
            return f"{self.expression(depth + 1)} {r.choice(['<', '<=', '==', '!=', '>'])} {self.expression(depth + 1)}"
        if kind == 2:
            return f"({self.condition(depth + 1)} {r.choice(['and', 'or'])} {self.condition(depth + 1)})"
        if kind == 3:
            return f"not {self.condition(depth + 1)}"
        return f"-2 < {self.expression(depth + 1)} <= 4"

    def block(self, depth, in_loop):
        return "\n".join(self.statement(depth, in_loop) for _ in range(self.random.randint(1, 4)))

    def nested(self, depth, in_loop):
        return textwrap.indent(self.block(depth + 1, in_loop), "    ")

    def statement(self, depth, in_loop):
        r = self.random
        kind = r.randrange(12) if depth < 4 else r.randrange(5)
        if kind < 3:
            return f"{r.choice('abcd')} {r.choice(['=', '+=', '-='])} {self.expression()}"
        if kind == 3:
            return f"p = ({self.expression()}, {self.expression()})"
        if kind == 4:
            choices = ["return p[0] + " + self.expression(), "a, d = d, a"]
            return r.choice(choices + ["break", "continue"] * in_loop)
        if kind < 9:
            text = f"if {self.condition()}:\n{self.nested(depth, in_loop)}"
            return text + (f"\nelse:\n{self.nested(depth, in_loop)}" if r.random() < 0.5 else "")
        self.loops += 1
        tail = f"\nelse:\n{self.nested(depth, in_loop)}" if r.random() < 0.2 else ""
        if kind == 9:
            name = f"n{self.loops}"
            head = f"{name} = {self.expression()}\nwhile {name} < 4 and {self.condition()}:\n    {name} += 1\n"
            return head + self.nested(depth, True) + tail
        iterable = r.choice(["(1, 2, 3)", f"range({self.expression()} % 5)", f"range(3, {self.expression()} % 4, -1)"])
        return f"for i{self.loops} in {iterable}:\n{self.nested(depth, True)}{tail}"

    def function(self):
        body = "c = 1\nd = a - b\np = (b, 2)\n" + self.block(0, False)
        body += "\nreturn a + 2 * b + 3 * c + 5 * d + 7 * p[0] + 11 * p[1]"
        helper = "def helper(x, y):\n    if x < y:\n        return x + 1\n    y = y * 2\n    return y - x\n"
        return helper + "def f(a, b):\n" + textwrap.indent(body, "    ") + "\n"


@pytest.mark.parametrize("seed", seeds(60, 1500))
def test_random_function(seed, tmp_path):
    text = Generator(seed).function()
    while len(text) > 1500:  # long ones take seconds and show little more
        text = Generator(seed := seed + 10_000).function()
    path = tmp_path / "program.py"
    path.write_text(text)
    space = {"__name__": "program"}
    exec(compile(text, str(path), "exec"), space)
    for numbers in [(0, 0), (1, -2), (5, 3), (-3, 4)]:
        assert execute(space["f"], *numbers) == space["f"](*numbers), text
