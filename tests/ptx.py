"""PTX and NVIDIA's assembler, for tests that look at GPU code without a GPU."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from tilery import _native
from tilery.core import cache

PTXAS = shutil.which("ptxas")
MISSING = "needs ptxas on the path: it comes with NVIDIA's toolkit, which Tilery does without"
ARCHITECTURES = ("sm_80", "sm_90a")  # the oldest and the newest


def assemble(ptx, arch):
    """What ptxas says of it: registers, spills. Refused code, and code with instructions that it gave up on, fail the test."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "code.ptx"
        source.write_text(ptx)
        # Of a part of a program, ptxas takes calls of its own subroutines for calls of others, around which it serialises wgmma.
        part = [] if "wgmma" in ptx and ".extern .func" not in ptx else ["-c"]
        command = [PTXAS, *part, "-v", f"-arch={arch}", source, "-o", Path(folder) / "code.cubin"]
        done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not re.search(r"\(C75\d\d\)", done.stderr), done.stderr
    return done.stderr


_compile = _native.compile  # tests count its calls
_assembled = set()


def assemble_too(monkeypatch):
    """Everything that is compiled for the CPU from now on is compiled and assembled for GPUs, too, once a session."""
    compile_for = cache._compile

    def both(module, device, options):
        for arch in ARCHITECTURES if device < 0 and PTXAS else ():
            try:
                ptx = _compile(module, **{**options, "target": arch, "texts": True}).asm
            except Exception as error:
                assert "the GPU target" in str(error) or "the device has" in str(error), f"{arch}: {error}"
                continue
            if (arch, ptx) not in _assembled:
                _assembled.add((arch, ptx))
                assemble(ptx, arch)
        return compile_for(module, device, options)

    monkeypatch.setattr(cache, "_compile", both)
