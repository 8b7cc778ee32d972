"""Random programs as code for AArch64, under qemu: of tile IR (tests/fuzz) and of the three languages (tests/programs)."""

import os
import subprocess
from pathlib import Path

import pytest
from aarch64 import machine
from programs.test_programs import LANGUAGES, batches, campaign

pytestmark = pytest.mark.skipif(not machine.IS_HERE, reason=machine.MISSING)
FUZZ = Path(os.environ["TILERY_BUILD_DIR"]) / "tests" / "fuzz" / "tilery-fuzz"


@pytest.mark.parametrize("batch", batches(1, 40))
def test_programs_of_tile_ir(batch):
    if not FUZZ.exists():
        pytest.skip("needs tilery-fuzz (./run test builds it)")
    command = [FUZZ, "--count", "50", "--first", str(1 + 50 * batch), "--jobs", "1", "--target", "aarch64-neon"]
    done = subprocess.run([*command, "--runner", " ".join(machine.command())], capture_output=True, text=True, timeout=1200)
    assert not done.returncode, done.stdout[-6000:] + done.stderr[-2000:]
    assert int(done.stdout.splitlines()[-1].split()[0]) >= 40, done.stdout


@pytest.mark.parametrize("batch", batches(1, 10))
@pytest.mark.parametrize("language", LANGUAGES)
def test_programs_of_languages(language, batch):
    last = campaign(language, "--first", str(9000 + 10 * batch), "--count", "10", "--target", "aarch64-neon")
    assert int(last.split()[1]) >= 8, last
