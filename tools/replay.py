"""Compiles recorded tile IR with this tree and with COMMIT, and compares the code. See ./run replay --help."""

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from base_build import build_base

ROOT = Path(__file__).resolve().parent.parent
TARGETS = "avx2,avx512,sapphirerapids,sm_80,sm_90a"  # x86's, GPUs without and with Hopper's instructions
CHUNK = 8  # modules that one process compiles
RETRIES = 2  # of what differs
LLVM = "// ---- LLVM\n"  # tilery-replay writes it behind the plan, which is no code
REFUSED = ()  # the result of a module that neither side makes code of
PTX = "// ---- PTX\n"  # tilery-replay writes it between a GPU's LLVM IR and its PTX

HELP = """Compiles tile IR recorded from the tests for every target, with the build of this tree and with that of COMMIT,
and compares LLVM IR and PTX. Local names, numbers, metadata, source positions, suffixes of symbols, the order
of declarations and those that nobody calls do not count.

COMMIT: any commit that has tools/tilery-replay.cpp. It is built once, in build/replay.
The corpus is recorded once, too, by running the tests (minutes), into build/replay/corpus; --record adds what is new.
Different code lies in build/replay/different, normalised, for the tools of your choice.
The exit status is 1 if something differs."""

# ---- normal form


class Names:
    """Names in the order in which they first appear: equal code has equal ones, whatever it called them."""

    def __init__(self):
        self.known = {}

    def __getitem__(self, name):
        return self.known.setdefault(name, f"v{len(self.known)}")


_DROPPED = re.compile(r"\s*(;|![\w.]|source_filename|target |attributes #|#dbg_|\.loc\b|\.file\b|//)")
_METADATA = re.compile(r",? !dbg !\d+|\s+;.*$")
_LLVM_NAME = re.compile(r'%("[^"]*"|[-\w.$]+)|@("[^"]*"|[-\w.$]+)|!\d+|#(\d+)\b')
_LABEL = re.compile(r'^("[^"]*"|[-\w.$]+):')
_PTX_NAME = re.compile(r"%([a-z]+)(\d+)|(\$[\w$]+|__unnamed_\d+)")
_PTX_REGISTERS = re.compile(r"(\.reg\s.*)<\d+>")


def _normal_llvm(text):
    attributes = dict(re.findall(r"^attributes #(\d+) = (.*)$", text, re.M))
    private = set(re.findall(r'^@("[^"]*"|[-\w.$]+) = (?:private|internal)', text, re.M))
    symbols, values = Names(), Names()

    def name(match):
        local, symbol, group = match.groups()
        if local:
            return "%" + values[local]
        if symbol:
            return "@" + (symbols[symbol] if symbol in private else re.sub(r"\.\d+$", "", symbol))
        return attributes.get(group, "#") if group else "!"

    declared = []
    for line in text.splitlines():
        if not line or _DROPPED.match(line):
            continue
        if line.startswith("define "):
            values = Names()
        line = _METADATA.sub("", line)
        line = _LABEL.sub(lambda label: values[label[1]] + ":", line)
        if line.startswith("declare "):  # in any order, and those that nobody calls decide nothing
            symbol = re.search(r'@("[^"]*"|[-\w.$]+)', line)[0]
            if len(re.findall(re.escape(symbol) + r"(?![-\w.$])", text)) > 1:
                declared.append(_LLVM_NAME.sub(name, line))
        else:
            yield _LLVM_NAME.sub(name, line)
    yield from sorted(declared)


def _normal_ptx(text):
    registers, labels = Names(), Names()

    def name(match):
        return f"%{match[1]}.{registers[match[0]]}" if match[1] else "$" + labels[match[3]]

    for line in text.splitlines():
        line = line.split("//")[0].rstrip()
        if not line or _DROPPED.match(line):
            continue
        if ".entry" in line or ".func" in line:
            registers, labels = Names(), Names()
        yield _PTX_NAME.sub(name, _PTX_REGISTERS.sub(r"\1<>", line))


def normal(text):
    """The lines of LLVM IR (and PTX, if any) that decide what runs, with names by their order."""
    llvm, _, ptx = text.rpartition(LLVM)[2].partition(PTX)
    return [*_normal_llvm(llvm), *([PTX.strip()] if ptx else []), *_normal_ptx(ptx)]


# ---- builds and corpus


def replay_tool(commit, folder):
    """tilery-replay of a commit."""
    kept = subprocess.run(["git", "cat-file", "-e", f"{commit}:tools/tilery-replay.cpp"], cwd=ROOT, capture_output=True)
    if kept.returncode:
        sys.exit(f"run replay: there is no commit {commit}, or it is older than tools/tilery-replay.cpp, which both sides need")
    return build_base(commit, folder, "tilery-replay", ["-DTILERY_PYTHON=OFF"]) / "build" / "tilery-replay"


def record(build, corpus):
    """Adds what the tests compile, and a few hundred random programs."""
    corpus.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "TILERY_RECORD": str(corpus), "TILERY_CACHE_DIR": ""}
    for args in (["unit"], ["python"], ["fuzz", "--count", "400"]):
        print(f"recording {' '.join(args)} into {corpus}", file=sys.stderr)
        subprocess.run([sys.executable, ROOT / "tools" / "run_tests.py", *args], env=environment, stdout=sys.stderr)


# ---- comparison


def compile_all(tool, out, targets, files):
    """{(stem, target): text}. A process that dies gives its place to one process for each module and target that is left."""
    out.mkdir()
    keys = [(file.stem, target) for file in files for target in targets]

    def run(targets, files):
        return subprocess.run(
            [tool, out, ",".join(targets), *files], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    first = run(targets, files)
    finished = set(first.stdout.split())
    crashed = {}
    for file in files if first.returncode else ():
        for target in targets:
            if f"{file.stem}.{target}" not in finished and (status := run([target], [file]).returncode):
                crashed[file.stem, target] = f"// ---- the compiler ends with status {status}\n"
    texts = {}
    for key in keys:
        texts[key] = crashed[key] if key in crashed else (out / f"{key[0]}.{key[1]}.txt").read_text()
    shutil.rmtree(out)
    return texts


def compare(base, here, targets, files):
    """{(stem, target): None for equal code, REFUSED where both have none, else both normal forms}.

    What differs is compiled again by processes of its own: an order that hangs on addresses is no difference of the sources."""
    result = {}
    with tempfile.TemporaryDirectory() as scratch:

        def both(targets, files):
            return [compile_all(tool, Path(scratch) / "out", targets, files) for tool in (base, here)]

        old, new = both(targets, files)
        by_stem = {file.stem: file for file in files}
        for (stem, target), text in old.items():
            forms = [{tuple(normal(text))}, {tuple(normal(new[stem, target]))}] if text != new[stem, target] else None
            for _ in range(RETRIES):
                if not forms or forms[0] & forms[1]:
                    break
                for known, again in zip(forms, both([target], [by_stem[stem]])):
                    known.add(tuple(normal(again[stem, target])))
            if LLVM not in text and LLVM not in new[stem, target]:
                result[stem, target] = REFUSED
            else:
                result[stem, target] = None if not forms or forms[0] & forms[1] else tuple(min(known) for known in forms)
    return result


def replay(base, here, targets, files, jobs):
    chunks = [files[i : i + CHUNK] for i in range(0, len(files), CHUNK)]
    results = {}
    with ThreadPoolExecutor(jobs) as pool:
        for done, part in enumerate(pool.map(lambda chunk: compare(base, here, targets, chunk), chunks), 1):
            results.update(part)
            if sys.stderr.isatty():
                print(f"\r{min(done * CHUNK, len(files))} of {len(files)} modules", end="", file=sys.stderr)
    return results


def report(results, targets, corpus, folder, show):
    """Prints the table and the first differences; all of them go to `folder`. True if all code is equal."""
    shutil.rmtree(folder, ignore_errors=True)
    modules, different, refused = Counter(), Counter(), Counter()
    for (stem, target), pair in results.items():
        modules[target] += 1
        refused[target] += pair == REFUSED
        if not pair:
            continue
        different[target] += 1
        for side, lines in zip(("base", "here"), pair):
            path = folder / side / f"{stem}.{target}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(lines) + "\n")
        if sum(different.values()) <= show:
            print(f"---- {corpus / stem}.mlir for {target}")
            lines = list(difflib.unified_diff(*pair, "base", "here", lineterm="", n=2))
            print("\n".join(lines[:60] + ([f"... {len(lines) - 60} more lines"] if len(lines) > 60 else [])))
    print(f"{'target':16}{'modules':>8}{'equal':>8}{'different':>11}{'refused by both':>17}")
    for target in targets:
        equal = modules[target] - different[target] - refused[target]
        print(f"{target:16}{modules[target]:8}{equal:8}{different[target]:11}{refused[target]:17}")
    if different:
        print(f"different code: diff -r {folder / 'base'} {folder / 'here'}")
    return not different


def main(argv):
    build = Path(os.environ["TILERY_BUILD_DIR"])
    parser = argparse.ArgumentParser(
        prog="./run replay", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commit", nargs="?", metavar="COMMIT", help="what to compare with")
    parser.add_argument("--base-build", type=Path, metavar="FOLDER", help="a finished build to compare with, instead of COMMIT")
    parser.add_argument("--corpus", type=Path, metavar="FOLDER", default=build / "replay" / "corpus", help="recorded modules")
    parser.add_argument("--record", action="store_true", help="run the tests and add what is new to the corpus")
    parser.add_argument("--sample", type=int, metavar="N", help="this many modules, always the same ones of a corpus")
    parser.add_argument("--targets", default=TARGETS, metavar="T,T...", help=TARGETS)
    parser.add_argument("--show", type=int, default=3, metavar="N", help="print the first N differences (3)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="processes at a time (the processors)")
    args = parser.parse_args(argv)
    if not args.commit and not args.base_build and not args.record:
        parser.error("name a COMMIT, a --base-build, or --record")
    if args.record or not any(args.corpus.glob("*.mlir")):
        record(build, args.corpus)
    if not args.commit and not args.base_build:
        return
    base = args.base_build / "tilery-replay" if args.base_build else replay_tool(args.commit, build / "replay")
    # Names are digests of the text: their order is a shuffle that does not change.
    files = sorted(args.corpus.glob("*.mlir"))[: args.sample]
    targets = args.targets.split(",")
    results = replay(base, build / "tilery-replay", targets, files, args.jobs)
    sys.exit(not report(results, targets, args.corpus, build / "replay" / "different", args.show))


if __name__ == "__main__":
    main(sys.argv[1:])
