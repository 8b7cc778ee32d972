"""What an explanation says, as text and as a page."""

from __future__ import annotations

from collections.abc import Sequence

from . import html
from .entry import Entry
from .text import text


class Report:
    """Explanations of launches: print it for the text, `html()` is a page of its own."""

    def __init__(self, launches: Sequence[Entry]) -> None:
        self.launches = list(launches)

    def __str__(self) -> str:
        return "\n\n".join(map(text, self.launches))

    def __repr__(self) -> str:
        return f"<explanation of {', '.join(each.name for each in self.launches)}>"

    def html(self, title: str = "tilery explain") -> str:
        """One page that needs nothing else."""
        return html.page(title, self.launches)

    def save(self, path: str) -> None:
        """Writes the page."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html())
