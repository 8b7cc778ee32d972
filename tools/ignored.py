"""Writes docs/reference/ignored.md from the tables of options that have no effect (python/tilery/*/ignored.py). --check only
compares.
(./run python tools/ignored.py)"""

import importlib
import sys
from pathlib import Path

from tilery.core import ignored

PAGE = Path(__file__).resolve().parent.parent / "docs/reference/ignored.md"
HEAD = """# Options without effect

Made by tools/ignored.py from the tables in `python/tilery/{tileon,tilelang,ninetoothed}/ignored.py`. What these languages let a
program say and what is not here is heeded, or refused. An option stands here if it changes neither what is computed nor, on any
machine that Tilery knows, how fast: each has its reason. `explanation` of a compiled kernel (what a launch or `compile` returns)
names those that its program sets, with their lines:

    launch = kernel[grid]
    print(launch(x, y, n, BLOCK=64).explanation)
    prog.py:12: tl.range(flatten=True) is ignored: what waits for what is found from the loop's loads and products
"""
TITLES = {"tileon.ignored": "Tileon and Triton", "tilelang.ignored": "TileLang", "ninetoothed.ignored": "NineToothed"}


def page():
    parts = [HEAD]
    for module in dict.fromkeys(ignored.TABLES.values()):
        rows = importlib.import_module(f"tilery.{module}").ROWS
        parts.append(f"\n## {TITLES[module]}\n| of | options | why |\n|---|---|---|\n")
        for function, options in rows.items():
            reasons = {}
            for name, option in options.items():
                reasons.setdefault(option.reason, []).append(f"`{name}`" if name else "the call")
            parts += [f"| `{function}` | {', '.join(names)} | {reason} |\n" for reason, names in reasons.items()]
    return "".join(parts)


if __name__ == "__main__":
    if "--check" not in sys.argv:
        PAGE.write_text(page())
    elif PAGE.read_text() != page():
        sys.exit(f"{PAGE.name} is not what the tables say: ./run python tools/ignored.py")
