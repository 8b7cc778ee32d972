"""PTX and NVIDIA's assembler, for tests that look at GPU code without a GPU."""

import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import zlib
from pathlib import Path

from tilery import _native
from tilery.core import cache

PTXAS = shutil.which("ptxas")
MISSING = "needs ptxas on the path: it comes with NVIDIA's toolkit, which Tilery does without"
ARCHITECTURES = ("sm_80", "sm_90a")  # the oldest and the newest


# What ptxas said before, in files: the same text gives the same answer, and most of what tests compile stays as it was.
ANSWERS = Path(os.environ.get("TILERY_BUILD_DIR", tempfile.gettempdir())) / "assembled"


def assemble(ptx, arch, *more):
    """What ptxas says of it: registers, spills. Refused code, and code with instructions that it gave up on, fail the test.
    more: options."""
    # Of a part of a program, ptxas takes calls of its own subroutines for calls of others, around which it serialises wgmma.
    part = [] if ("wgmma" in ptx or "mbarrier" in ptx) and ".extern .func" not in ptx else ["-c"]
    options = [*part, *more, "-v", f"-arch={arch}"]
    answer = ANSWERS / hashlib.sha256("\0".join([_version(), *options, ptx]).encode()).hexdigest()
    if answer.exists():
        return answer.read_text()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "code.ptx"
        source.write_text(ptx)
        done = subprocess.run([PTXAS, *options, source, "-o", Path(folder) / "code.cubin"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not re.search(r"\(C75\d\d\)", done.stderr), done.stderr
    _keep(answer, done.stderr)
    return done.stderr


@functools.cache
def _version():
    return subprocess.run([PTXAS, "--version"], capture_output=True, text=True, check=True).stdout


def _keep(file, text):
    """Writes a file as a whole: other processes may read it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False) as new:
        new.write(text)
    os.replace(new.name, file)


_compile = _native.compile  # tests count its calls
_assembled = set()
_first = {}  # function of tests: its first case that compiled something, of those that are not in the slice


def assembled_for(case):
    """The architectures: all in the slice `--assembled`; for the first of a function's other cases to compile something one,
    which is another one in the next slice."""
    part, parts = map(int, case.config.getoption("assembled").split("/"))
    if number(case.nodeid) % parts == part - 1:
        return ARCHITECTURES
    function = case.nodeid.partition("[")[0]
    first = _first.setdefault(function, case.nodeid) == case.nodeid
    return [ARCHITECTURES[(number(function) + part) % len(ARCHITECTURES)]] if first else []


def number(name):
    """The same in every process."""
    return zlib.crc32(name.encode())


def assemble_too(monkeypatch, case):
    """What the test `case` compiles for the CPU from now on is compiled and assembled for GPUs, too, once a session."""
    compile_for = cache._compile

    def both(module, device, options, *text):
        for arch in assembled_for(case) if device < 0 and PTXAS else ():
            try:
                ptx = _compile(module, **{**options, "target": arch, "texts": True}).asm
            except Exception as error:
                assert "the GPU target" in str(error) or "the device has" in str(error), f"{arch}: {error}"
                continue
            if (arch, ptx) not in _assembled:
                _assembled.add((arch, ptx))
                assemble(ptx, arch)
        return compile_for(module, device, options, *text)

    monkeypatch.setattr(cache, "_compile", both)
