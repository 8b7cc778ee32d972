"""The disk cache's keys; tests/runtime/test_cache.py has it as programs meet it."""

import os
import shutil
from pathlib import Path

import tilery
from tilery.core import cache


def test_keys_hold_every_source_of_the_package(tmp_path, monkeypatch):
    """In a copy: each file's time of change, its size, its name and whether it is there."""
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    package = shutil.copytree(Path(tilery.__file__).parent, tmp_path / "tilery", ignore=ignored)
    monkeypatch.setattr(cache, "__file__", str(package / "core" / "cache.py"))
    look = cache.sources.__wrapped__
    digests = [look(), look()]
    assert len(set(digests)) == 1
    sources = sorted(package.rglob("*.py"))
    assert package / "core" / "tile" / "types.py" in sources
    for file in sources:
        os.utime(file, ns=(1, 1))
        digests.append(look())
    some = sources[0]
    some.write_text(some.read_text() + "\n")
    os.utime(some, ns=(1, 1))
    digests.append(look())
    some.rename(some.with_name("another.py"))
    digests.append(look())
    some.with_name("another.py").unlink()
    digests.append(look())
    assert len(set(digests)) == len(digests) - 1


def test_keys_do_not_hold_what_is_no_source(tmp_path, monkeypatch):
    package = tmp_path / "tilery"
    (package / "core" / "__pycache__").mkdir(parents=True)
    monkeypatch.setattr(cache, "__file__", str(package / "core" / "cache.py"))
    (package / "core" / "cache.py").write_text("")
    before = cache.sources.__wrapped__()
    (package / "core" / "__pycache__" / "cache.py").write_text("")
    (package / "py.typed").write_text("")
    assert cache.sources.__wrapped__() == before
