"""The disk cache's keys; tests/runtime/test_cache.py has it as programs meet it."""

from pathlib import Path

import tilery
from tilery.core import cache


def test_keys_hold_every_source_of_the_package(monkeypatch):
    seen, stat = set(), cache.os.stat
    monkeypatch.setattr(cache.os, "stat", lambda path, **options: (seen.add(Path(path)), stat(path, **options))[1])
    before = cache.sources.__wrapped__()
    package = Path(tilery.__file__).parent
    assert seen >= set(package.rglob("*.py")) and package / "core" / "tile" / "types.py" in seen
    monkeypatch.setattr(cache.os, "stat", lambda path: stat(__file__ if path.endswith("types.py") else path))
    assert cache.sources.__wrapped__() != before
