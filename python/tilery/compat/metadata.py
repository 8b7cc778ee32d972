"""Metadata of the mapped packages, as importlib.metadata gives it of installed ones."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any

_VERSIONED = ("tilelang", "tileon", "triton")


class _Mapped(Distribution):
    def __init__(self, upstream: str, ours: str) -> None:
        self.upstream, self.ours = upstream, ours

    @property
    def name(self) -> str:  # whoever lists all distributions asks for names alone, and imports nothing
        return self.upstream

    def read_text(self, filename: str) -> str | None:
        if filename not in ("METADATA", "PKG-INFO"):
            return f"{self.upstream}\n" if filename == "top_level.txt" else None
        return f"Metadata-Version: 2.1\nName: {self.upstream}\nVersion: {importlib.import_module(self.ours).__version__}\n"

    def locate_file(self, path: Any) -> Any:
        found = importlib.util.find_spec(self.ours)
        assert found is not None and found.origin is not None  # a package of ours
        return Path(found.origin).parent.parent / path


def distributions(names: Mapping[str, str], wanted: str | None) -> Iterator[Distribution]:
    """Those of `names` ({upstream name: our package}) that have a version; only one of them where a name is wanted."""
    for upstream, ours in names.items():
        if upstream in _VERSIONED and (wanted is None or wanted.lower() == upstream):
            yield _Mapped(upstream, ours)
