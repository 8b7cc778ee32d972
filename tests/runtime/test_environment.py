"""Environment variables as programs meet them: garbage is refused in words where it matters, a misspelt name is named once."""

import os
import re
import subprocess
import sys

import pytest

from tilery import _native

PROGRAM = """
import numpy as np
from tilery import tileon
import tilery.tileon.language as tl

def kernel(x, y, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(y + at, tl.load(x + at) * 2)

x, y = np.arange(16, dtype="f"), np.zeros(16, "f")
try:
    tileon.jit(kernel)[(1,)](x, y, 16)
    print("right" if (y == x * 2).all() else "wrong")
except ValueError as refused:
    print(type(refused).__name__, refused)
    assert (y == 0).all()
"""


@pytest.fixture
def run(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)

    def run(**variables):
        environment = {**os.environ, "TILERY_CACHE_DIR": str(tmp_path / "cache"), **variables}
        command = [sys.executable, str(program)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="surrogateescape", timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    return run


GARBAGE = ["garbage", "-1", "nan", "1e9999", "9" * 5000, "\udcff\udcfe", "1 2", "/etc/passwd"]
ANYTHING = {"TILERY_BUILD_DIR", "TILERY_CACHE_DIR", "TILERY_PYTHON", "TILERY_EMULATE"}  # paths; another module's
READ_LATER = {"TILERY_SCHEDULE"}  # only by products for a GPU
VARIABLES = sorted({name for name, *_ in _native.environment_variables()} - ANYTHING - READ_LATER)


@pytest.mark.parametrize("name", VARIABLES)
def test_garbage_is_refused_in_words(run, name):
    """Whether or not the program needs the variable, compiled afresh and from the disk cache."""
    expected = {known: takes for known, takes, _ in _native.environment_variables()}[name]
    for text in GARBAGE[:2] if name != "TILERY_NUM_THREADS" else GARBAGE:
        if name == "TILERY_RECORD":
            text, expected = "/dev/null/" + text, "where nothing can be written: "
        out, err = run(**{name: text})
        assert out.startswith("ValueError ") and f"{name} is '" in out and expected in out and "hint: " in out, (out, err)
    out, err = run()
    assert (out, err) == ("right\n", "")
    if name != "TILERY_RECORD":  # nothing is recorded of what is not compiled
        out, err = run(**{name: "garbage"})
        assert out.startswith("ValueError ") and f"{name} is 'garbage'" in out


def refused(out):
    """The text of an error, without the place of the launch, which knows some of them."""
    return re.fullmatch(r"ValueError (?:\S*program\.py:\d+:5: )?(.*)", out.splitlines()[0]).group(1)


def test_nothing_is_as_if_unset(run):
    assert run(**dict.fromkeys(VARIABLES, "")) == ("right\n", "")


@pytest.mark.parametrize("text", GARBAGE[4:6], ids=["long", "no text"])
def test_whatever_it_holds_fits_a_message(run, text):
    out, _ = run(TILERY_ORACLE=text)
    said = refused(out)
    assert said.startswith("the environment variable TILERY_ORACLE is '") and len(said) < 300 and out.isascii()


@pytest.mark.parametrize(
    "name, near",
    [
        ("TILERY_CACHEDIR", "; did you mean TILERY_CACHE_DIR?"),
        ("TILERY_NUM_THREAD", "; did you mean TILERY_NUM_THREADS?"),
        ("TILERY_ORACEL", "; did you mean TILERY_ORACLE?"),
        ("TILERY_SOMETHING_ELSE_ALTOGETHER", ""),
    ],
)
def test_a_misspelt_name_is_named_once(run, name, near):
    out, err = run(**{name: "1"})
    assert out == "right\n"
    assert err == f"tilery: the environment variable '{name}' is not known and does nothing{near}\n"


def test_names_of_others_are_not_ours(run):
    assert run(TILERYX="1", tilery_cache_dir="1", MY_TILERY_THING="1") == ("right\n", "")


@pytest.mark.parametrize("name", ["TRITON_DEBUG", "TRITON_DEFAULT_FP_FUSION", "TRITON_ALWAYS_COMPILE"])
def test_garbage_in_upstreams_switches(run, name):
    out, err = run(**{name: "maybe"})
    assert refused(out).startswith(f"the environment variable {name} is 'maybe'; expected 1 (true, on, yes, y) or 0 "), err


def test_garbage_in_upstreams_precision(run):
    out, err = run(TRITON_F32_DEFAULT="f32")
    assert refused(out).startswith("the environment variable TRITON_F32_DEFAULT is 'f32'; expected one of tf32, "), err


def test_code_for_another_processor(run):
    """It is the code of that target, in the memory's and the disk cache's names, too; one that does not run here is refused."""
    here = _native.cpu_features_of("host")
    for target in ("", "avx2", "avx512", "sapphirerapids", ""):
        out, err = run(TILERY_CPU_TARGET=target, TILERY_DUMP="llvm")
        if target and _native.cpu_features_of(target) & ~here:
            assert refused(out).startswith("this processor does not run code for TILERY_CPU_TARGET"), (out, err)
            continue
        assert out == "right\n", (out, err)
    _, err = run(TILERY_CPU_TARGET="avx2", TILERY_DUMP="asm", TILERY_CACHE_DIR="")
    assert "ymm" in err and "zmm" not in err
