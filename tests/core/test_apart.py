"""A crash of the compiler is an error with a file that repeats it, or a warning; the process goes on."""

import os
import re
import subprocess
import sys

import pytest

PROGRAM = """
import warnings
import numpy as np
from tilery import tileon, _native
import tilery.tileon.language as tl

@tileon.jit
def product(X, Y, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(X + i[:, None] * B + i[None, :])
    y = tl.dot(x, x)
    for _ in range(3):
        y = tl.dot(x, y) / 16 + tl.sum(tl.exp(-x), axis=0)[None, :]
    tl.store(Y + i[:, None] * B + i[None, :], y)

@tileon.jit
def add(X, Y, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(Y + i, tl.load(X + i) + 1, mask=i < 1000)

def right():
    x, y = np.random.rand(32, 32).astype(np.float32), np.empty((32, 32), np.float32)
    product[(1,)](x, y, 32)
    want = x @ x
    for _ in range(3):
        want = x @ want / 16 + np.exp(-x).sum(0)
    np.testing.assert_allclose(y, want, rtol=1e-4)

"""
AFTER = """
x, y = np.zeros(1024, np.float32), np.zeros(1024, np.float32)
add[(16,)](x, y, 64)  # another kernel, by a compiler elsewhere
assert (y[:1000] == 1).all() and not y[1000:].any()
assert "vaddps" in add[(16,)](x, y, 64).asm["asm"]
try:
    add[(1,)](x, y, [64])
    raise AssertionError("not refused")
except Exception as error:
    assert "tilery" in type(error).__module__, error
print("through")
"""


def run(tmp_path, text, crash, **environment):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM + text + AFTER)
    environment = {**os.environ, "TILERY_CACHE_DIR": "", "TMPDIR": str(tmp_path), "TILERY_CRASH": crash, **environment}
    result = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=100, env=environment)
    assert result.returncode == 0 and result.stdout == "through\n", result.stdout + result.stderr
    return result.stderr


# LLVM's optimisations, what its code generation does otherwise without them, a pass of ours.
@pytest.mark.parametrize("how", ["fault", "abort", "exit", "overflow"])
@pytest.mark.parametrize("step", ["LLVM: EarlyCSEPass", "LLVM: Greedy Register Allocator", "contract-loops"])
def test_a_second_try_does_without(tmp_path, how, step):
    said = run(
        tmp_path,
        """
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    right()
[warning] = [str(w.message) for w in warned]
print(warning, file=__import__("sys").stderr)
right()
""",
        f"{how} {step}",
    )
    assert "kernel product" in said and f'in the step "{step}"' in said and "compiled without" in said
    assert ("without LLVM's optimisations" in said) == step.startswith("LLVM")
    path = re.search(r"report it with (\S+),", said)[1]
    text = open(path).read()
    assert text.startswith("// options: ") and "tile.kernel @product" in text
    tool = os.path.join(os.environ.get("TILERY_BUILD_DIR", ""), "tilery-translate")
    command = re.search(r"`tilery-translate (.*)`", said)[1].split()
    if os.path.exists(tool):
        crash = {**os.environ, "TILERY_CRASH": f"{how} {step}"}
        repeated = subprocess.run([tool, *command], capture_output=True, text=True, env=crash)
        assert repeated.returncode != 0 and "the compiler crashed" in repeated.stderr
        assert "product:" in subprocess.run([tool, *command], capture_output=True, text=True).stdout


@pytest.mark.parametrize("step", ["LLVM: X86 DAG->DAG Instruction Selection", "making LLVM IR"])
def test_where_that_crashes_too_it_is_an_error(tmp_path, step):
    left_out = "LLVM's optimisations" if step.startswith("LLVM") else "the optimisations of tile IR"
    run(
        tmp_path,
        f"""
for _ in range(2):
    try:
        right()
        raise AssertionError("compiled")
    except RuntimeError as error:
        text = str(error)
        assert 'the compiler crashed' in text and "kernel product" in text and "again without {left_out}" in text, text
        assert "tilery-crash-product" in text and "tilery-translate --target=host" in text
import os
del os.environ["TILERY_CRASH"]
right()
""",
        f"fault {step}",
    )


def test_the_cache_takes_what_was_compiled_elsewhere(tmp_path):
    cache = str(tmp_path / "cache")
    for action in ("ignore", "error"):  # of warnings: the second process has its code from the cache
        text = f"warnings.simplefilter('{action}')\nright()\nwarnings.simplefilter('ignore')\n"
        run(tmp_path, text, "fault LLVM: EarlyCSEPass", TILERY_CACHE_DIR=cache)


def test_faults_of_others_are_not_ours(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM + "right()\nimport ctypes\nctypes.string_at(24)\n")
    result = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=100)
    assert result.returncode == -11 and "compiler" not in result.stderr
    program.write_text(PROGRAM + "right()\nimport os\nos.abort()\n")
    result = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=100)
    assert result.returncode == -6 and "compiler" not in result.stderr
