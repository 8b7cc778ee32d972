"""Random programs of a language, or of all three: written, run, compared, and where they fail shrunk.

usage: ./run python tests/programs/campaign.py [LANGUAGE ...] [--first SEED] [--count N] [--jobs N] [--device cpu|cuda]
           [--target avx2|avx512|sapphirerapids|aarch64-...] [--print SEED] [--shrink SECONDS] [--keep FOLDER] [--invalid]
       ./run python tests/programs/campaign.py --files FILE ...      programs that were kept

Code for AArch64 (aarch64-neon, aarch64-dotprod) runs under qemu (tests/aarch64).
What machine code is made for is the process's business: TILERY_EMULATE=sm_90a (or sm_90a,late, sm_80) the emulated GPU. The last
line: `LANGUAGE: N agree, N undetermined, N invalid, N failed`."""

import argparse
import contextlib
import importlib
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

os.environ.setdefault("TILERY_NUM_THREADS", "1")  # the thread whose memory is poisoned runs the programs
os.environ.setdefault("TILERY_CACHE_DIR", "")

from programs import frame, shrink  # noqa: E402

LANGUAGES = ("triton", "tilelang", "ninetoothed")
LIMIT = 60  # seconds of processor time of a program, ten times as many on the clock
LATE = (signal.SIGALRM, signal.SIGPROF)
CHUNK = 40  # programs of a process


def written(language, seed):
    """The program of a seed: the same for one version of the grammar."""
    grammar = importlib.import_module(f"programs.{language}_grammar")
    return grammar.write(random.Random(f"{language} {seed}"), seed)


def limit(seconds):
    """Ends the process when it has computed for so long, or waited for ten times as long. 0: no longer."""
    for timer, name, most in ((signal.ITIMER_PROF, signal.SIGPROF, seconds), (signal.ITIMER_REAL, signal.SIGALRM, 10 * seconds)):
        signal.signal(name, signal.SIG_DFL)
        signal.setitimer(timer, most)


def isolated(program, seconds):
    """The outcome in a process of its own, which may crash or hang."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        limit(seconds)
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, 2)
        with os.fdopen(write, "wb") as pipe:
            pickle.dump(frame.run(program), pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    if data:
        return pickle.loads(data)
    died = os.WTERMSIG(status) if os.WIFSIGNALED(status) else -os.WEXITSTATUS(status)
    return frame.Outcome("fails", f"hangs for {seconds} s" if died in LATE else f"the process ends ({died})")


def on_gpu(options):
    """Do programs use a driver? A process that is forked from one that has started it cannot; the emulated one starts at once."""
    return options.device != "cpu" or bool(os.environ.get("TILERY_EMULATE"))


def reduced(program, outcome, options):
    """The shortest program that fails alike."""

    def alike(candidate):
        again = frame.run(candidate, device=options.device) if on_gpu(options) else isolated(candidate, seconds=20)
        return (
            again.kind == outcome.kind
            and again.text.split(":")[0][:12] == outcome.text.split(":")[0][:12]
            or (again.kind == outcome.kind == "differs")
        )

    return shrink.shrink(program, alike, options.shrink)


def noted(language, program, outcome, options):
    """(seed, kind, text for whoever reads, part of the elements that are bounded)."""
    note = ""
    if outcome.failed:
        dead = on_gpu(options) and outcome.text.startswith("the process ends")
        shorter = reduced(program, outcome, options) if options.shrink and not dead else program
        note = f"--- {language} {program.seed}: {outcome.kind}: {outcome.text}\n{shorter.text()}\n"
        if options.keep:
            Path(options.keep).mkdir(parents=True, exist_ok=True)
            Path(options.keep, f"{language}_{program.seed}.py").write_text(
                f"# {outcome.kind}: {' '.join(outcome.text.split())}\n" + program.text()
            )
    elif outcome.kind == "invalid":
        note = f"--- {language} {program.seed}: invalid: {outcome.text}\n"
    return program.seed, outcome.kind, note, outcome.bounded


def outcome_of(program, options):
    try:
        compile(program.source, "program", "exec")
    except SyntaxError as error:
        return frame.Outcome("invalid", f"the generator wrote {error}")
    return frame.run(program, device=options.device)


def program_of(language, seed, options):
    """The program of a seed, or of a file."""
    return frame.Program.read(Path(seed).read_text()) if options.files else written(language, seed)


def elsewhere(options):
    """Within it launches run where the options say."""
    if (options.target or "").startswith("aarch64"):
        from aarch64 import launches

        return launches.there(options.target)
    return contextlib.nullcontext()


def work(language, seeds, options, path):
    """Runs the programs of some seeds (or files), and notes each in the file. A program that hangs ends the process."""
    with open(path, "ab") as report, elsewhere(options):
        for seed in seeds:
            program = program_of(language, seed, options)
            limit(0 if on_gpu(options) else LIMIT)
            outcome = outcome_of(program, options)
            limit(0)
            pickle.dump(noted(language, program, outcome, options), report)
            report.flush()
            if "CUDA" in outcome.text and outcome.failed:
                os._exit(0)  # the process can launch nothing any more


def ended(language, seeds, options, path):
    """work() in a process of its own, which may crash or hang: how it ended, 0 if well."""
    if not on_gpu(options):
        child = os.fork()
        if not child:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            work(language, seeds, options, path)
            os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    command = [sys.executable, __file__, language, "--device", options.device, "--inside", path]
    command += ["--files" if options.files else "--seeds", *map(str, seeds)]
    command += ["--shrink", str(options.shrink), *(["--keep", options.keep] if options.keep else [])]
    with subprocess.Popen(command) as process:
        try:
            return process.wait(LIMIT + (10 + options.shrink) * len(seeds))
        except subprocess.TimeoutExpired:
            process.kill()
            return -signal.SIGALRM


def work_apart(language, seeds, options, path):
    """The same by processes that run some programs each: one that fails may take its process along."""
    seeds, end = list(seeds), time.monotonic() + options.seconds
    while seeds and time.monotonic() < end:
        part, before = seeds[:CHUNK], len(read(path))
        status = ended(language, part, options, path)
        done = len(read(path)) - before
        if done < len(part) and status:
            with open(path, "ab") as report:
                outcome = frame.Outcome("fails", "hangs" if -status in LATE else f"the process ends ({status})")
                pickle.dump(noted(language, program_of(language, part[done], options), outcome, options), report)
            done += 1
        seeds = seeds[max(1, done) :]


def read(path):
    """What was noted in a file."""
    found = []
    if os.path.exists(path):
        with open(path, "rb") as report:
            while True:
                try:
                    found.append(pickle.load(report))
                except EOFError:
                    break
    return found


def campaign(language, options):
    """All programs, shared by several processes; how many failed."""
    counts, bounded = Counter(), []
    seeds = options.files or range(options.first, options.first + options.count)
    with tempfile.TemporaryDirectory() as folder:
        children = {}
        for job in range(options.jobs):
            path = os.path.join(folder, str(job))
            child = os.fork()
            if not child:
                status = 1
                try:
                    work_apart(language, seeds[job :: options.jobs], options, path)
                    status = 0
                except BaseException:
                    traceback.print_exc()
                os._exit(status)
            children[child] = path
        for child, path in children.items():
            _, status = os.waitpid(child, 0)
            if status:
                counts["lost"] += 1
                print(f"a process of the campaign ended with status {status}")
            for _, kind, note, known in read(path):
                counts[kind] += 1
                if kind == "agrees":
                    bounded.append(known)
                if note and (kind != "invalid" or options.invalid):
                    print(note, flush=True)
    failed = counts["differs"] + counts["fails"] + counts["lost"]
    share = 100 * sum(bounded) / max(1, len(bounded))
    print(
        f"{language}: {counts['agrees']} agree ({share:.0f} % of their elements bounded), {counts['undetermined']} undetermined,"
        f" {counts['invalid']} invalid, {failed} failed"
    )
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("languages", nargs="*", default=LANGUAGES)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--target", help="machine code for another CPU, of which this one has all features")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no further processes after so long")
    parser.add_argument("--inside", help=argparse.SUPPRESS)  # a process of work_apart: where it notes what it found
    parser.add_argument("--seeds", nargs="+", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--print", type=int, dest="shown")
    parser.add_argument("--shrink", type=float, default=0)
    parser.add_argument("--keep")
    parser.add_argument("--files", nargs="+", help="programs that were kept")
    parser.add_argument("--invalid", action="store_true", help="name the programs that the interpreter refuses")
    options = parser.parse_args()
    if os.environ.get("TILERY_EMULATE"):
        from tilery.compat import device

        device.install()
    from tilery import compat

    compat.install()
    if options.target and not options.target.startswith("aarch64"):
        from tilery.core import cache

        cache.target_of = lambda device: options.target
    if options.inside:
        work(options.languages[0], options.files or options.seeds, options, options.inside)
        return 0
    if options.shown is not None:
        for language in options.languages:
            print(written(language, options.shown).text())
        return 0
    languages = ["kept"] if options.files else options.languages
    return min(1, sum([campaign(language, options) for language in languages]))


if __name__ == "__main__":
    sys.exit(main())
