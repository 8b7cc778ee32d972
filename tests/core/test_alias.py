import subprocess
import sys


def test_triton_is_tileon_in_every_module():
    code = """
import types
from tilery import tileon, triton
assert triton is tileon
from tilery.triton.runtime.driver import driver
import tilery.triton.language.extra.cuda.libdevice as cuda
import tilery.tileon.language.extra.cuda.libdevice as same
import tilery.triton.compiler.errors
assert cuda is same and driver is triton.runtime.driver is tileon.runtime.driver
assert tilery.triton.compiler.errors is tileon.compiler.errors
assert triton.__name__ == triton.__spec__.name == "tilery.tileon"
try:
    import tilery.triton.nothing
except ModuleNotFoundError as error:
    assert error.name == "tilery.triton.nothing"
else:
    raise SystemExit("no error")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_modules_run_as_programs_under_their_other_name(tmp_path):
    (tmp_path / "mine.hatchet").write_text(
        '[{"frame": {"name": "ROOT", "type": "function"}, "metrics": {"count": 0, "time (ns)": 0}, "children":'
        ' [{"frame": {"name": "add", "type": "function"}, "metrics": {"count": 2, "time (ns)": 3e6}, "children": []}]}, {}]'
    )
    viewer = ["-m", "triton.profiler.viewer", "-m", "time/ms,count", "mine.hatchet"]
    child = f"import subprocess, sys; sys.exit(subprocess.run([sys.executable, *{viewer!r}]).returncode)"
    for program in (viewer, ["-c", child]):
        command = [sys.executable, "-m", "tilery", "run", *program]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, "3.000 2.000 ROOT\n└─ 3.000 2.000 add\n"), done.stderr
