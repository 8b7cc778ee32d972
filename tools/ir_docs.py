"""Writes the tables of ops in docs/reference (ir.md, block.md) from the dialects' TableGen files; --check only compares.

Each op needs a summary and a description."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LLVM = Path("/usr/lib/llvm-22")
PAGES = {
    "docs/reference/ir.md": ("compiler/ir/Tile.td", "compiler/ir/TileMachine.td"),
    "docs/reference/block.md": ("compiler/block/ir/Block.td",),
}


def described(source):
    command = [LLVM / "bin/mlir-tblgen", "-gen-op-doc", "-I", LLVM / "include", "-I", ROOT, ROOT / source]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def table(sources):
    text = "".join(described(source) for source in sources)
    ops = re.findall(r"^### `((?:tile|block)\.\w+)`.*?\n\n_(.*?)_\n\n(.*?)(?=^### |\Z)", text, re.M | re.S)
    for name, _, rest in ops:
        formal = re.sub(r"\ASyntax:\n\n```\n.*?```\n", "", rest, flags=re.S).strip()
        if not formal or formal.startswith(("Traits:", "Interfaces:", "Effects:", "####")):
            sys.exit(f"{name} has no description")
    rows = [f"| `{name}` | {summary[0].lower() + summary[1:]} |\n" for name, summary, _ in sorted(ops)]
    return "".join(["| op | what it does |\n", "|---|---|\n", *rows])


def main():
    for name, sources in PAGES.items():
        page = ROOT / name
        mark = f"<!-- made by tools/ir_docs.py from {Path(sources[0]).parent}/*.td -->\n"
        before = page.read_text()
        after = before[: before.index(mark) + len(mark)] + table(sources)
        if "--check" in sys.argv and after != before:
            sys.exit(f"{name} is out of date: run tools/ir_docs.py")
        page.write_text(after)


if __name__ == "__main__":
    main()
