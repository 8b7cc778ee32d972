"""Pages of docs/ as programs. In the order of a page: a block with a title (```c title="main.c") is a file; `sh` is run, in the
folder of those files; `python` without a title is a program, all of a page together, which runs behind the rest. What stands in a
block of `text` must have been printed, line by line, where `...` stands for anything. Blocks of `console` and of other languages
are not run: what takes a network, a GPU or another system."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# docs/reference describes interfaces in fragments; what tutorials are made of is run by ./run docs, on their pages.
PAGES = [path for path in sorted((ROOT / "docs").rglob("*.md")) if "reference" not in path.parts]


@dataclass
class Block:
    language: str
    title: str
    text: str


def blocks_of(page):
    found = re.findall(r'^```(\w+)(?: title="([^"]+)")?[^\n]*\n(.*?)^```$', page.read_text(), re.M | re.S)
    return [Block(*parts) for parts in found]


def run_page(blocks, folder, environment):
    """What all programs of a page printed."""
    printed, program = [], ""
    for block in blocks:
        if block.title:
            (folder / block.title).write_text(block.text)
        elif block.language == "sh":
            printed.append(run(["bash", "-euo", "pipefail", "-c", block.text], folder, environment))
        elif block.language == "python":
            program += block.text
    if program:
        (folder / "program.py").write_text(program)
        printed.append(run([sys.executable, "program.py"], folder, environment))
    return "".join(printed)


def run(command, folder, environment):
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{command[-1]}\n{done.stdout}"
    return done.stdout


def not_printed(blocks, printed):
    """Lines of the page's text blocks that no program printed."""
    lines = [line for block in blocks if block.language == "text" and not block.title for line in block.text.splitlines()]
    pattern = lambda line: ".*".join(map(re.escape, line.strip().split("...")))
    return [line for line in lines if not re.search(pattern(line), printed)]


def environment_in(folder, prefix):
    """As after `pip install tilery`, with what C and C++ programs are built with under `prefix`."""
    binaries = folder / "bin"
    binaries.mkdir()
    prefixed = f'if [ "$1" = --prefix ]; then echo {prefix}; exit; fi\n'
    commands = {"tilery": f'{prefixed}exec {sys.executable} -m tilery "$@"', "python": f'exec {sys.executable} "$@"'}
    for name, line in commands.items():
        (binaries / name).write_text(f"#!/bin/sh\n{line}\n")
        (binaries / name).chmod(0o755)
    path = os.pathsep.join([str(binaries), "/usr/bin", os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PREFIX": str(prefix), "TILERY_DEVICE": "cpu"}
