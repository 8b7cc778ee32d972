"""Lines of a program that is being written, and the values it may use."""

from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Value:
    """A name or a piece of text with an axis for each dimension ("r": rows, "c": columns) and a kind: f, i or b."""

    text: str
    axes: str = ""
    kind: str = "f"


class Writer:
    def __init__(self, rng):
        self.rng = rng
        self.lines = []
        self.depth = 1
        self.numbers = 0
        self.values = []  # what may be used where the next line stands

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    def name(self, stem):
        self.numbers += 1
        return f"{stem}{self.numbers}"

    def let(self, stem, text, axes="", kind="f"):
        """A new variable."""
        value = Value(self.name(stem), axes, kind)
        self.line(f"{value.text} = {text}")
        self.values.append(value)
        return value

    @contextmanager
    def under(self, head):
        """A compound statement; what is defined in it is not used behind it."""
        before = len(self.values)
        self.line(head)
        self.depth += 1
        yield
        self.depth -= 1
        del self.values[before:]

    def chance(self, part):
        return self.rng.random() < part

    def pick(self, *choices):
        return self.rng.choice(choices)

    def text(self):
        return "\n".join(self.lines) + "\n"
