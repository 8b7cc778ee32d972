"""The site's page of releases, made of CHANGELOG.md: the changes of each version, by what they begin with."""

import re
from pathlib import Path

CHANGES = Path(__file__).resolve().parent.parent / "CHANGELOG.md"
# A heading, and the first words of the changes below it; the rest stands before them.
PARTS = {
    "Tileon and Triton": ("Tileon", "Triton"),
    "TileLang": ("TileLang",),
    "NineToothed": ("NineToothed",),
    "CPUs": ("CPUs", "CPU"),
    "GPUs": ("GPUs", "GPU", "Hopper"),
}
REST = "All languages and machines"


def page(text):
    """The page, of CHANGELOG.md's text. What names a language or a machine first goes below its heading."""
    head, *versions = re.split(r"^## (.*)$\n", text, flags=re.M)
    parts = [head.replace("# Changes", "# Release notes", 1).strip()]
    for version, changes in zip(versions[::2], versions[1::2]):
        parts.append(f"## {version}")
        lines = [line for line in changes.splitlines() if line.strip()]
        for part in (REST, *PARTS):
            if found := [line for line in lines if part_of(line) == part]:
                parts += [f"### {part}", "\n".join(found)]
    return re.sub(r"\]\(docs/", "](", "\n\n".join(parts)) + "\n"


def part_of(change):
    first = re.match(r"- (\w+)", change)
    return next((part for part, words in PARTS.items() if first and first[1] in words), REST)
