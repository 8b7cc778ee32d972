"""Sanitizers and fuzzers. What `./run test sanitize` takes:

  (nothing)   the runtime, which is quick to build: its tests with address and undefined-behaviour sanitizer, then with thread
              sanitizer, and the fuzzers of what it reads, 20 seconds each
  today       the part of that which today's date chooses: what CI runs
  full        everything, the compiler, too, which takes most of an hour to build for each: unit tests, ir and random programs
  fuzz [SECONDS [NAME ...]]
              fuzzers alone (tests/fuzz/readers), 600 seconds each unless told otherwise

Run as a program it prints what has to be built for that, a line a folder: sanitizers, targets.
"""

import os
import sys
from datetime import date

from jobs import ROOT, Count, Job, from_junit

READERS = ["image", "object", "bundle", "host_program", "cache_entry", "assembler_log", "reports", "expression", "ptx", "cuda"]
COMPILER_READERS = ["tile_ir"]  # with all of the compiler in them
SECONDS = 20  # of a fuzzer, unless a person says more

ADDRESS, THREAD = "address,undefined", "thread"
# The tests of crashes need the signals of faults for themselves. LLVM's allocators mark what they hand out where we compile their
# headers, and do not in its archives. Tests ask for more memory than there is.
OPTIONS = {
    ADDRESS: {
        "ASAN_OPTIONS": "handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0:"
        "allow_user_poisoning=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    },
    THREAD: {"TSAN_OPTIONS": "handle_segv=0:handle_sigbus=0:handle_abort=0:die_after_fork=0:allocator_may_return_null=1"},
}
# The thread sanitizer keeps signals back until it thinks them safe: tests of how processes end say nothing with it.
LEFT_OUT = {ADDRESS: "", THREAD: "*DeathTest*:*Long.*"}


def today():
    """The date that chooses slices: that of ./run's start."""
    return date.fromisoformat(os.environ.get("RUN_DATE") or str(date.today()))


def folder(kind):
    return ROOT / "build" / f"sanitize-{kind.partition(',')[0]}"


def request(args):
    """{sanitizers: (targets, names of fuzzers, seconds of each)} of these arguments."""
    runtime = ["tilery-runtime-tests"]
    if not args:
        return {ADDRESS: (runtime, READERS, SECONDS), THREAD: (runtime, [], 0)}
    if args == ["today"]:
        turn, is_odd = divmod(today().toordinal(), 2)
        at = 2 * turn % len(READERS)
        return {THREAD: (runtime, [], 0)} if is_odd else {ADDRESS: (runtime, READERS[at : at + 2], SECONDS)}
    if args == ["full"]:
        everything = [*runtime, "tilery-tests", "tilery-fuzz", "tilery-opt", "tilery-translate"]
        return {ADDRESS: (everything, READERS + COMPILER_READERS, SECONDS), THREAD: (everything, [], 0)}
    if args[0] == "fuzz" and all(word.isdigit() for word in args[1:2]):
        names = args[2:] or READERS + COMPILER_READERS
        unknown = set(names) - set(READERS + COMPILER_READERS)
        if not unknown:
            return {ADDRESS: ([], names, int(args[1]) if len(args) > 1 else 600)}
    sys.exit(f"run test sanitize: {' '.join(args)!r} is nothing it does; there are\n{__doc__}")


def targets(args):
    return {kind: [*built, *(f"read-{name}" for name in readers)] for kind, (built, readers, _) in request(args).items()}


def jobs(args, scratch):
    found = []
    for kind, (built, readers, seconds) in request(args).items():
        found += [tests(kind, name, scratch) for name in built if name.endswith("-tests")]
        if "tilery-fuzz" in built:
            found += compiler(kind)
        found += [fuzzer(name, seconds) for name in readers]
    return found


def tests(kind, name, scratch):
    report = scratch / f"{name}-{kind}.xml"
    command = [folder(kind) / "tests" / "unit" / name, "--gtest_brief=1", f"--gtest_output=xml:{report}"]
    if LEFT_OUT[kind]:
        command.append(f"--gtest_filter=-{LEFT_OUT[kind]}")
    return Job(command, lambda status: from_junit(report).after(status), OPTIONS[kind])


def compiler(kind):
    """Random programs and the tests of passes."""
    binary = folder(kind) / "tests" / "fuzz" / "tilery-fuzz"
    runs = [["--count", "150", "--first", "1"], ["--count", "60", "--first", "10001", "--against", "blocks"]]
    lit = ["/usr/bin/python3", "/usr/lib/llvm-22/bin/lit", "-q", ROOT / "tests" / "ir"]
    environment = {**OPTIONS[kind], "TILERY_BUILD_DIR": str(folder(kind))}
    found = [Job([binary, *run], lambda bad: Count(not bad, bad != 0), OPTIONS[kind]) for run in runs]
    return [*found, Job(lit, lambda bad: Count(not bad, bad != 0), environment)]


def fuzzer(name, seconds):
    """What it finds it writes beside its corpus, which grows from run to run."""
    corpus, finds = folder(ADDRESS) / "corpus" / name, folder(ADDRESS) / "finds"
    for path in (corpus, finds):
        path.mkdir(parents=True, exist_ok=True)
    options = ["-max_total_time=%d" % seconds, "-timeout=10", "-rss_limit_mb=2048", "-malloc_limit_mb=256", "-verbosity=0"]
    command = [folder(ADDRESS) / "tests" / "fuzz" / "readers" / f"read-{name}", *options, "-print_final_stats=1"]
    command += [f"-artifact_prefix={finds}/{name}-", corpus]
    return Job(command, lambda bad: Count(not bad, bad != 0), {"UBSAN_OPTIONS": "print_stacktrace=1"})


if __name__ == "__main__":
    for kind, names in targets(sys.argv[1:]).items():
        print(kind, *names)
