"""A kernel that runs wild takes the process with it, but says who it was."""

import os
import signal
import subprocess
import sys

PROGRAM = """
import numpy as np
from tilery import tileon
import tilery.tileon.language as tl

@tileon.jit
def wild(x, far):
    tl.store(x, 1.0)
    tl.store(x + far, 2.0)  # here

wild[{grid}](np.zeros(4, np.float32), {far})
print("survived")
"""


def run(tmp_path, **values):
    program = tmp_path / "wild.py"
    program.write_text(PROGRAM.format(**values))
    return subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=60, env={**os.environ, "TILERY_CACHE_DIR": ""}
    )


def test_a_crash_names_kernel_and_line(tmp_path):
    line = PROGRAM[: PROGRAM.index("# here")].count("\n") + 1
    for grid in ("(1,)", *["(64,)"] * 5):  # on the calling thread; on several at once
        result = run(tmp_path, grid=grid, far=1 << 40)
        assert result.returncode == -signal.SIGSEGV
        assert "tilery: kernel wild touched memory that is not there (address 0x" in result.stderr
        assert f"  at {tmp_path}/wild.py:{line}\n" in result.stderr
    assert run(tmp_path, grid="(1,)", far=1).stdout == "survived\n"
