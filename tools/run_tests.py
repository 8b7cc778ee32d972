"""Runs every test runner, with as many processes as there are CPUs. Each runner's result and seconds of CPU time are printed when
it has ended; skips are named, those for want of a GPU counted apart on the line before the last. The last line is over all
runners: `N passed, N failed, N skipped`.

usage: ./run test [lint|unit|ir|fuzz|launches|census|python|docs|emulated] [arguments of that runner]
       ./run test long [K/N | today]   campaigns of random programs, models, sweeps over every type: all, or one of N slices
       ./run test sanitize [...]       sanitizers and fuzzers: tools/sanitize.py says what it takes
       ./run test ci                   every runner, then today's slices of `long` and `sanitize`
"""

import itertools
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

import lint as linter
import sanitize as sanitizers
from jobs import FIRST, LAST, ROOT, USUAL, Count, Job, from_junit, run_all

BUILD = Path(os.environ["TILERY_BUILD_DIR"])
LIT = "/usr/lib/llvm-22/bin/lit"
NO_GPU = "needs an NVIDIA GPU"  # how the reason of such a skip begins
LANES = len(os.sched_getaffinity(0))  # processes at a time
NUMBERS = itertools.count()  # of files in the scratch folder
SLICES = 28  # of `long`, and of what is assembled for GPUs besides; one a day covers them in four weeks
VARIANTS = ("smaller_tiles", "larger_tiles", "ragged", "types", "apart")  # of recorded launches: one a day
# For processes of pytest: what it makes of a file's asserts is kept for the next one, and threads of torch wait without a CPU.
OF_TESTS = {"PYTHONDONTWRITEBYTECODE": "", "OMP_WAIT_POLICY": "PASSIVE"}
LONG_UNIT = "*Long.*"  # test suites whose name ends so are campaigns
# What runs on the emulated GPU each time, and how: (arguments of pytest, TILERY_EMULATE). All of tests/gpu takes most of an hour.
EMULATED_LATE = ["rows", "reports", "threads", "float_extremes", "oracle", "runtime", "hopper_products"]
EMULATED = [
    (["tests/gpu/test_matmul.py", "tests/gpu/test_around_products.py", "-k", "not 4096 and not 3000"], "sm_90a"),
    (["tests/gpu/test_distributed.py", "-k", "all_reduce or expert"], "sm_90a"),
    (["tests/gpu/test_stored_places.py", "-k", "stored-torch.float32-cuda"], "sm_90a"),
    (["tests/gpu/test_flat_places.py", "-k", "cuda"], "sm_90a"),
    (["tests/gpu/test_opened_products.py", "-k", "not torch.bfloat16 and not 520"], "sm_90a"),
    ([*(f"tests/gpu/test_{name}.py" for name in EMULATED_LATE), "-k", "not uncommon and not share"], "sm_90a,late,processors=3"),
]


def python_tests(arguments, scratch, turn, environment=()):
    """A process of pytest."""
    report = scratch / f"python-{next(NUMBERS)}.xml"
    command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *arguments]
    return Job(command, lambda status: from_junit(report).after(status), {**OF_TESTS, **dict(environment)}, turn)


def shared(arguments, scratch):
    """As many processes of pytest as there are lanes, each of which takes a file of tests whenever it is done with one: the first
    from the beginning, the others when nothing else is left to do."""
    files = scratch / f"taken-{next(NUMBERS)}"
    files.mkdir()
    arguments = [*arguments, f"--share={files}"]
    return [python_tests(arguments, scratch, FIRST), *(python_tests(arguments, scratch, LAST) for _ in range(LANES - 1))]


def lint(args, scratch):
    checks = len(linter.CHECKS)
    return [Job([sys.executable, linter.__file__, *args], lambda bad: Count(checks - abs(bad), abs(bad)))]


def unit(args, scratch):
    """All C++ tests, and those of the runtime in a program without the compiler."""
    if args:
        return google_tests(args, scratch, {})
    return [job for part in range(LANES) for job in google_tests([f"--gtest_filter=-{LONG_UNIT}"], scratch, shard(part, LANES))]


def shard(part, parts):
    return {"GTEST_TOTAL_SHARDS": str(parts), "GTEST_SHARD_INDEX": str(part)}


def google_tests(arguments, scratch, environment):
    binaries = [BUILD / "tests" / "unit" / name for name in ("tilery-tests", "tilery-rt-tests")]
    return [google_test(binary, arguments, scratch, environment) for binary in binaries if binary.exists()]


def google_test(binary, arguments, scratch, environment):
    report = scratch / f"{binary.name}-{next(NUMBERS)}.xml"
    command = [binary, "--gtest_brief=1", f"--gtest_output=xml:{report}", *arguments]
    return Job(command, lambda status: from_junit(report).after(status), environment)


def ir(args, scratch):
    report = scratch / "ir.xml"
    command = ["/usr/bin/python3", LIT, "-q", f"--xunit-xml-output={report}", *(args or [ROOT / "tests" / "ir"])]
    return [Job(command, lambda status: from_junit(report).after(status))]


def programs(count, first, *against):
    return ["--count", str(count), "--first", str(first), *against]


def fuzz(args, scratch):
    """Random programs, by the oracle and as machine code, as a GPU's code with fibers for threads, and products as Hopper's code
    for ptxas, where it is on the path: a test each. On a failure the reduced programs are printed."""
    usual = [programs(1000, 1), programs(600, 10001, "--against", "blocks"), programs(600, 20001, "--against", "block-passes")]
    if shutil.which("ptxas"):
        usual.append(programs(200, 110_007, "--step", "17", "--against", "assembler"))
    return fuzzed([args] if args else usual)


def fuzzed(runs):
    binary = BUILD / "tests" / "fuzz" / "tilery-fuzz"
    return [Job([binary, *run], lambda bad: Count(not bad, bad != 0)) for run in runs if binary.exists()]


def launches(args, scratch):
    """What kernels of libraries, larger programs and a layer launch, by the reference interpreter, too, as it is and in one other
    way (tests/programs/variants.py): a test. Programs in processes of their own are not seen. Its last line says how many kernels
    ran, and how many launches agree."""
    programs = "language/tileon/test_libraries", "language/tileon/test_larger_programs", "examples/test_layer_kernels"
    tests = args or [f"tests/{name}.py" for name in programs]
    options = ["-p", "programs.launches", "-m", "not long and not gpu", assembled_today()]
    command = [sys.executable, "-m", "pytest", "-q", *options, *tests]
    paths = os.pathsep.join([str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
    variant = os.environ.get("LAUNCHES_VARIANTS", VARIANTS[sanitizers.today().toordinal() % len(VARIANTS)])
    print(f"launches: variant {variant}; to repeat it: LAUNCHES_VARIANTS={variant} ./run test launches", flush=True)
    settings = {**OF_TESTS, "PYTHONPATH": paths, "LAUNCHES_STEPS": "200000", "LAUNCHES_VARIANTS": variant}
    settings["TILERY_NUM_THREADS"] = "1"  # programs that wait for a lock add in the order in which they come: here the oracle's
    return [Job(command, lambda bad: Count(not bad, bad != 0), settings)]


def census(args, scratch):
    """That kernels leave the block level for reasons which docs/design.md has alone: a test, of what some tests compile."""
    command = [sys.executable, ROOT / "tools" / "census.py", "--tests", "--jobs", "1", *args]
    return [Job(command, lambda bad: Count(not bad, bad != 0), OF_TESTS)]


def python(args, scratch):
    return [python_tests(args, scratch, FIRST)] if args else shared(["tests", assembled_today()], scratch)


def docs(args, scratch):
    """The site, strictly, with the programs of its tutorials: a test."""
    command = [sys.executable, ROOT / "tools" / "docs.py", *(args or ["--out", scratch / "site"])]
    return [Job(command, lambda bad: Count(not bad, bad != 0))]


def emulated(args, scratch):
    """Python programs on the emulated GPU: tests that are marked `gpu`, those of EMULATED or others."""
    folder = BUILD / "tests" / "emulator" / "gpu"
    if not (folder / "tilery").is_dir():
        return []
    paths = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    runs = [(args, os.environ.get("TILERY_EMULATE", "sm_90a"))] if args else EMULATED
    return [
        python_tests([*tests, "-m", "gpu"], scratch, USUAL, {"TILERY_EMULATE": settings, "PYTHONPATH": paths})
        for tests, settings in runs
    ]


def of_today():
    """(K, N) of the slice of today."""
    return sanitizers.today().toordinal() % SLICES + 1, SLICES


def assembled_today():
    """The first case of each test, and today's slice of all (tests/ptx.py)."""
    return "--assembled={}/{}".format(*of_today())


def chosen(text):
    """(K, N) of the slice that `text` names."""
    if text == "today":
        part, parts = of_today()
        print(f"slice {part}/{parts} by the date {sanitizers.today()}; to repeat it: ./run test long {part}/{parts}", flush=True)
        return part, parts
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        sys.exit(f"run test long: {text!r} is no slice; write K/N with 1 <= K <= N, or today")
    return int(match[1]), int(match[2])


def long(args, scratch):
    part, parts = chosen(args[0] if args else "1/1")
    runs = []
    for total, first, against in ((21000, 100_001, "machine"), (14000, 200_001, "blocks")):
        start, end = (first + total * step // parts for step in (part - 1, part))
        runs.append(programs(end - start, start, "--against", against))
    tests = google_tests([f"--gtest_filter={LONG_UNIT}"], scratch, shard(part - 1, parts))
    return [*tests, *fuzzed(runs), *shared(["tests", "-m", "long", f"--slice={part}/{parts}"], scratch)]


RUNNERS = {"lint": lint, "unit": unit, "ir": ir, "fuzz": fuzz, "launches": launches, "census": census}
RUNNERS |= {"python": python, "docs": docs, "emulated": emulated}


def plan(argv):
    """{name: (runner, arguments)} of this command line."""
    if not argv or argv == ["ci"]:
        everything = {name: (runner, []) for name, runner in RUNNERS.items()}
        return {**everything, "sanitize": (sanitizers.jobs, ["today"]), "long": (long, ["today"])} if argv else everything
    known = {**RUNNERS, "long": long, "sanitize": sanitizers.jobs}
    if argv[0] not in known:
        sys.exit(f"run test: no runner {argv[0]!r}; there are {', '.join(known)}, and ci")
    return {argv[0]: (known[argv[0]], argv[1:])}


def shortened(names):
    """f[a], f[b], g as f[a, b], g."""
    cases = {}
    for name in names:
        function, _, case = name.partition("[")
        cases.setdefault(function, []).append(case.removesuffix("]"))
    return ", ".join(f"{f}[{', '.join(found)}]" if any(found) else f for f, found in cases.items())


def tell_skips(skips):
    """Names every skip but those for want of a GPU, whose number it prints last."""
    by_reason = {}
    for name, reason in skips:
        if not reason.startswith(NO_GPU):
            by_reason.setdefault(reason, []).append(name)
    for reason, names in by_reason.items():
        print(f"skipped: {reason or 'no reason given'}: {shortened(names)}")
    print(f"skipped for want of a GPU: {len(skips) - sum(map(len, by_reason.values()))}")


def main(argv):
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        if argv == ["ci"]:  # what a kept cache has is not compiled again, so that nothing looks at its code
            os.environ.setdefault("TILERY_CACHE_DIR", str(Path(scratch) / "cache"))
        parts = {name: runner(args, Path(scratch)) for name, (runner, args) in plan(argv).items()}
        results = run_all(parts, LANES)
    if len(parts) > 1:
        print(f"== all: {time.monotonic() - begin:.0f} s, {sum(seconds for _, seconds in results.values()):.0f} s of CPU time")
    total = sum((count for count, _ in results.values()), Count())
    tell_skips(total.skips)
    print(total, flush=True)
    if total == Count():
        sys.exit("run test: no test ran")
    sys.exit(total.failed > 0)


if __name__ == "__main__":
    main(sys.argv[1:])
