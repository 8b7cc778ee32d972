"""Writes docs/reference/environment.md from the table of environment variables (runtime/environment.cpp). --check only compares.
(./run python tools/environment.py)"""

import sys
from pathlib import Path

from tilery import _native

PAGE = Path(__file__).resolve().parent.parent / "docs/reference/environment.md"
HEAD = """# Environment variables

Made by tools/environment.py from the table in `runtime/environment.cpp`, which holds all that Tilery reads under such a name.
- A text that a variable does not take is refused where it is read, and at the latest when code is loaded: with the name, the text
  and what is expected. Nothing is taken for something else.
- Empty means unset, but for `TILERY_CACHE_DIR`. Variables are read each time they matter, but for those of the disk cache, the
  number of threads and `TILERY_CRASH`, which a process reads once.
- A name that begins with `TILERY_` and is not here is named on stderr, once a process, with the nearest one that is.

| variable | takes | meaning |
|---|---|---|
"""


def page():
    return HEAD + "".join(f"| `{name}` | {takes} | {meaning} |\n" for name, takes, meaning in _native.environment_variables())


if __name__ == "__main__":
    if "--check" not in sys.argv:
        PAGE.write_text(page())
    elif PAGE.read_text() != page():
        sys.exit(f"{PAGE.name} is not what the table says: ./run python tools/environment.py")
