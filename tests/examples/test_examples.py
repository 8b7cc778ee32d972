"""The programs of examples/ run as they are, and the README's code runs as printed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = sorted(path for folder in ("tileon", "ninetoothed", "tilelang") for path in (ROOT / "examples" / folder).glob("*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_program_runs_unchanged(program):
    done = subprocess.run([sys.executable, "-m", "tilery", "run", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "agree" in done.stdout or "匹配" in done.stdout


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "examples" / "cpp").glob("*.cpp")))
def test_cpp_program_finds_its_results_right(name):
    program = Path(os.environ["TILERY_BUILD_DIR"]) / "examples" / "cpp" / f"example-{name}"
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"C++ {name}" in done.stdout and "largest error" in done.stdout


def test_readme_code(tmp_path):
    code = (ROOT / "README.md").read_text().split("```python\n")[1].split("```")[0]
    program = tmp_path / "readme.py"
    program.write_text(code + "\nnp.testing.assert_array_equal(out, x + y)\n")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
