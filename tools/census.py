"""Which kernels with products leave the block level of GPUs, and why. See ./run census --help."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import replay

ROOT = Path(__file__).resolve().parent.parent
TARGETS = "sm_90a,sm_80"
DECISIONS = ROOT / "docs" / "design.md"
PRODUCT = re.compile(r"\btile\.(dot|contract)\b")
SILENT = "no reason is given"
# What the census of CI looks at: products with everything that may stand around them.
NAMES = ("around_products", "attention_forms", "chunks", "fetched", "float8", "grouped", "skipping", "states", "updates")
SHOWN = 3  # kernels of each reason

HELP = """Compiles recorded tile IR that has products for GPUs, and lists the kernels that leave the block level, by reason.
A reason is a decision where the table in docs/design.md has it; if one is none, the exit status is 1.

FOLDER: what any program compiled with TILERY_RECORD=FOLDER, whose kernels may have any reason that docs/design.md explains;
left out, what ./run replay --record has recorded."""


def decisions(page):
    """Of the page's table [(target or "", pattern of reasons)]: `...` stands for what changes from kernel to kernel."""
    rows = re.findall(r"^\| `([^`]+)` \| (sm_\w+|all) \|", page, re.M)
    return [("" if on == "all" else on, _pattern(reason)) for reason, on in rows]


def explained(page):
    """Patterns of all reasons that the page has, also of those that no recorded kernel has."""
    rows = re.findall(r"^\| `([^`]+)` \|", page.partition("### Products off the block level")[2].partition("\n## ")[0], re.M)
    return [("", _pattern(reason)) for reason in rows]


def _pattern(reason):
    return re.compile(".*".join(map(re.escape, reason.split("..."))))


def is_decided(reason, target, known):
    return any(on in ("", target) and pattern.fullmatch(reason) for on, pattern in known)


def ways(text, stem):
    """Of the kernels with products in a text of tilery-replay {name: why it left the block level; None if it did not}."""
    plan, marker, _ = text.partition(replay.LLVM)
    if not marker:
        return {stem: "there is no code: " + " ".join(text.split())[:200]}
    found = {}
    for part in re.split(r"(?m)^(?=\S+: (?:no )?blocks\b|plan @)", plan):
        if blocks := re.match(r"(\S+): (?:blocks|no blocks, for (.*))", part):
            found[blocks[1]] = blocks[2]
        elif general := re.match(r"plan @(\S+)", part):
            if PRODUCT.search(part):
                found.setdefault(general[1], SILENT)
            else:  # its products were opened before
                found.pop(general[1], None)
    return found


def count(tool, folders, targets, sample, jobs):
    """[(kernel, file, target, reason or None)] of the modules that have products."""
    files = {file.stem: file for folder in folders for file in folder.glob("*.mlir")}  # digests: in another folder the same text
    chosen = [file for _, file in sorted(files.items()) if PRODUCT.search(file.read_text())][:sample]
    chunks = [chosen[i : i + replay.CHUNK] for i in range(0, len(chosen), replay.CHUNK)]
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(jobs) as pool:
        parts = pool.map(lambda each: replay.compile_all(tool, Path(scratch) / str(each[0]), targets, each[1]), enumerate(chunks))
        return [
            (kernel, files[stem], target, why)
            for part in parts
            for (stem, target), text in part.items()
            for kernel, why in ways(text, stem).items()
        ]


def report(found, targets, known):
    """Prints the kernels by target and reason; true if each reason is a decision."""
    kernels = defaultdict(list)
    for kernel, file, target, why in found:
        kernels[target, why].append(f"{kernel} ({file})")
    undecided = 0
    for target in targets:
        own = [(why, names) for (on, why), names in kernels.items() if on == target and why]
        for why, names in sorted(own, key=lambda each: -len(each[1])):
            new = not is_decided(why, target, known)
            undecided += new
            print(f"{target} {len(names):4}  {'no decision: ' if new else ''}{why}")
            print("".join(f"             {name}\n" for name in names[:SHOWN]), end="")
    for target in targets:
        of = [why for _, _, on, why in found if on == target]
        print(f"{target}: {of.count(None)} of {len(of)} kernels with products are on the block level")
    if undecided:
        print(f"{undecided} of the reasons are no decisions of {DECISIONS.relative_to(ROOT)}")
    return not undecided


def main(argv):
    build = Path(os.environ["TILERY_BUILD_DIR"])
    parser = argparse.ArgumentParser(prog="./run census", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="recorded modules")
    parser.add_argument("--tests", action="store_true", help="of what some tests compile, which are run for that: the test of CI")
    parser.add_argument("--sample", type=int, metavar="N", help="this many modules, always the same ones of a corpus")
    parser.add_argument("--targets", default=TARGETS, metavar="T,T...", help=TARGETS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="processes at a time (the processors)")
    args = parser.parse_args(argv)
    folders = args.folders or [build / "replay" / "corpus"]
    if not args.folders and not args.tests and not any(folders[0].glob("*.mlir")):
        replay.record(build, folders[0])
    with tempfile.TemporaryDirectory() as recorded:
        if args.tests:
            environment = {**os.environ, "TILERY_RECORD": recorded, "TILERY_CACHE_DIR": ""}
            tests = [f"tests/gpu/test_{name}.py" for name in NAMES]
            command = [sys.executable, "-m", "pytest", "-q", "-m", "not long and not gpu", *tests]
            subprocess.run(command, cwd=ROOT, env=environment, check=True)
            folders = [Path(recorded)]
        targets = args.targets.split(",")
        found = count(build / "tilery-replay", folders, targets, args.sample, args.jobs)
    if not found:
        sys.exit("run census: no module has products")
    known = explained if args.folders and not args.tests else decisions
    sys.exit(not report(found, targets, known(DECISIONS.read_text())))


if __name__ == "__main__":
    main(sys.argv[1:])
