"""Writes the table of ops in docs/reference/ir.md from the dialect's TableGen files; --check only compares.

Each op needs a summary and a description."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LLVM = Path("/usr/lib/llvm-22")
MARK = "<!-- made by tools/ir_docs.py from compiler/ir/*.td -->\n"


def table():
    text = subprocess.run(
        [LLVM / "bin/mlir-tblgen", "-gen-op-doc", "-I", LLVM / "include", "-I", ROOT, ROOT / "compiler/ir/Tile.td"],
        check=True, capture_output=True, text=True).stdout
    ops = re.findall(r"^### `(tile\.\w+)`.*?\n\n_(.*?)_\n\n(.*?)(?=^### |\Z)", text, re.M | re.S)
    for name, _, rest in ops:
        formal = re.sub(r"\ASyntax:\n\n```\n.*?```\n", "", rest, flags=re.S).strip()
        if not formal or formal.startswith(("Traits:", "Interfaces:", "Effects:", "####")):
            sys.exit(f"{name} has no description")
    rows = [f"| `{name}` | {summary[0].lower() + summary[1:]} |\n" for name, summary, _ in sorted(ops)]
    return "".join(["| op | what it does |\n", "|---|---|\n", *rows])


def main():
    page = ROOT / "docs/reference/ir.md"
    before = page.read_text()
    after = before[: before.index(MARK) + len(MARK)] + table()
    if "--check" in sys.argv:
        sys.exit("docs/reference/ir.md is out of date: run tools/ir_docs.py" if after != before else 0)
    page.write_text(after)


if __name__ == "__main__":
    main()
