"""Generated programs of each language, and those that once went wrong, on this machine's CPU: each in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from programs import frame, shrink

HERE = Path(__file__).parent
LANGUAGES = ("triton", "tilelang", "ninetoothed")
BATCH = 40


def campaign(*arguments, emulate=""):
    """Runs campaign.py, on the emulated GPU where one is named; its last line."""
    command = [sys.executable, str(HERE / "campaign.py"), "--jobs", "1", *arguments]
    environment = dict(os.environ)
    if emulate:
        folder = Path(os.environ["TILERY_BUILD_DIR"]) / "tests" / "emulator" / "gpu"
        if not (folder / "tilery").is_dir():
            pytest.skip("needs the emulated GPU (./run test builds it)")
        paths = [str(folder), os.environ.get("PYTHONPATH", "")]
        environment |= {"TILERY_EMULATE": emulate, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, env=environment)
    assert not done.returncode, done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout.splitlines()[-1]


def batches(usual, all):
    return [b if b < usual else pytest.param(b, marks=pytest.mark.long) for b in range(all)]


@pytest.mark.parametrize("batch", batches(2, 30))
@pytest.mark.parametrize("language", LANGUAGES)
def test_generated_programs_agree_with_the_interpreter(language, batch):
    last = campaign(language, "--first", str(batch * BATCH), "--count", str(BATCH))
    agree = int(last.split()[1])
    assert agree >= 0.8 * BATCH, last  # the others are refused, or hang on a rounded value


@pytest.mark.parametrize("batch", batches(1, 10))
@pytest.mark.parametrize("language", LANGUAGES)
def test_generated_programs_agree_on_the_emulated_gpu(language, batch):
    last = campaign(language, "--first", str(5000 + batch * 15), "--count", "15", emulate=("sm_90a,late", "sm_80")[batch % 2])
    assert int(last.split()[1]) >= 12, last


@pytest.mark.parametrize("emulate", ["", "sm_90a"])
def test_programs_that_once_went_wrong(emulate):
    files = sorted(map(str, (HERE / "kept").glob("*.py")))
    last = campaign("--files", *files, emulate=emulate)
    assert last.startswith(f"kept: {len(files)} agree"), last


ADDS = """import torch


def launch(debug, x, y):
    y.copy_(x + {more})
    z = x * 2
"""


def program(more):
    return frame.Program(
        "triton",
        1,
        ADDS.format(more=more),
        (frame.Argument("x", (3,), "int32", "small"), frame.Argument("y", (3,), "int32", "none")),
    )


def test_a_difference_is_found_and_named():
    assert frame.run(program("1")).kind == "agrees"
    outcome = frame.run(program("1 - int(debug)"))
    assert outcome.kind == "differs" and outcome.text.startswith("y[0]: "), outcome
    assert frame.run(program("1 // 0")).kind == "invalid"


def test_writes_beside_a_tensor_are_found():
    source = "def launch(debug, x, y):\n    y.as_strided((1,), (1,), y.storage_offset() + 3).fill_(debug)\n"
    outcome = frame.run(frame.Program("triton", 2, source, program("1").arguments))
    assert outcome.kind == "differs" and "outside of y" in outcome.text, outcome


def test_what_a_failure_does_not_need_is_taken_out():
    shorter = shrink.shrink(program("1 - int(debug)"), lambda p: frame.run(p).kind == "differs")
    assert "z" not in shorter.source and len(shorter.source) < len(ADDS)


def test_a_kept_program_is_what_was_written():
    text = program("1").text()
    assert frame.Program.read("# why it is here\n" + text) == program("1")
